/**
 * The form that has a model inspected, and the progress of the job until what it found is there.
 * @module
 */
import { creator, get } from "../page/api.js";
import { offerContracts } from "../forms/contract_field.js";
import { chooseDataset, offerReady } from "../forms/dataset_select.js";
import { problemBox, replace } from "../page/dom.js";
import { followJob, unfinished } from "../jobs/followed_job.js";
import { onSubmit, payloadOf, showError } from "../forms/forms.js";
import { isActive } from "../jobs/job_labels.js";
import { offerLabelMap } from "../forms/label_map_fields.js";

/**
 * @param {any} model
 * @param {(inspection: string) => void} found called with each inspection that is made while one waits
 */
export async function inspectionForm(model, found) {
  const form = /** @type {HTMLFormElement} */ (document.getElementById("inspect"));
  const place = document.getElementById("inspecting");
  const create = creator();

  onSubmit(form, async () => void follow(await create("/v1/jobs", { kind: "inspect", model: model.id, ...payloadOf(form) })));
  try {
    await offerChoices(form, model.dataset_id);
    const { items } = await get("/v1/jobs?kind=inspect&limit=50");
    const waiting = items.find((job) => isActive(job) && job.spec.model_id === model.id);
    if (waiting) follow(waiting);
  } catch (error) {
    showError(form, error);
  }

  /** Stays with a job to its end; another one may be submitted only then. */
  async function follow(job) {
    form.hidden = true;
    let words;
    try {
      const ended = await followJob(place, job);
      words = unfinished(ended);
      if (!words) found(ended.result.inspection_id);
    } catch (problem) {
      words = problemBox(problem);
    }
    form.hidden = false;
    place.hidden = !words;
    replace(place, words);
  }
}

/** What a model looks at is best seen on data that it has not learnt from. */
async function offerChoices(form, learntFrom) {
  const selects = form.querySelectorAll('select[data-list="ready"]');
  const [{ presets }, datasets] = await Promise.all([get("/v1/metrics"), offerReady(selects, learntFrom)]);
  chooseDataset(selects, (datasets.find(({ id }) => id !== learntFrom) || datasets[0])?.id);
  const [select] = selects;
  const followLabels = () => offerLabelMap(document.getElementById("label-map"), datasets.filter(({ id }) => id === select.value));
  select.addEventListener("change", followLabels);
  followLabels();
  offerContracts(form.querySelector('[data-pointer="/contract"]'), document.getElementById("contract-words"), presets);
  form.removeAttribute("aria-busy");
}
