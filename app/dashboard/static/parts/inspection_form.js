/**
 * The form that has a model inspected, and the progress of the job until what it found is there.
 * @module
 */
import { creator, get } from "./api.js";
import { offerContracts } from "./contract_field.js";
import { chooseDataset, offerReady } from "./dataset_select.js";
import { announce, h, problemBox, replace } from "./dom.js";
import { onSubmit, payloadOf, showError } from "./forms.js";
import { jobActions } from "./job_actions.js";
import { isActive } from "./job_words.js";
import { offerLabelMap } from "./label_map_fields.js";
import { poll } from "./poll.js";
import { progressBar } from "./progress_bar.js";

/**
 * @param {any} model
 * @param {(inspection: string) => void} found called with each inspection that is made while one waits
 */
export async function inspectionForm(model, found) {
  const form = /** @type {HTMLFormElement} */ (document.getElementById("inspect"));
  const place = document.getElementById("inspecting");
  const create = creator();

  onSubmit(form, async () => follow(await create("/v1/jobs", { kind: "inspect", model: model.id, ...payloadOf(form) })));
  try {
    await offerChoices(form, model.dataset_id);
    const { items } = await get("/v1/jobs?kind=inspect&limit=50");
    const waiting = items.find((job) => isActive(job) && job.spec.model_id === model.id);
    if (waiting) follow(waiting);
  } catch (error) {
    showError(form, error);
  }

  /** Stays with a job to its end; another one may be submitted only then. */
  function follow(job) {
    const bar = progressBar();
    const path = `/v1/jobs/${encodeURIComponent(job.id)}`;
    let ended = false;
    const again = poll(refresh, (problem) => end(problemBox(problem)));
    const actions = jobActions(() => again(), { page: true });
    form.hidden = true;
    place.hidden = false;
    replace(place, bar.node, actions.node);

    async function refresh() {
      if (ended) return false;
      job = await get(path);
      bar.update(job);
      actions.update(job);
      if (isActive(job)) return true;
      announce(`Inspection: ${job.status}.`);
      if (job.status === "succeeded") found(job.result.inspection_id);
      end(job.status !== "succeeded" && (job.problem ? problemBox(job.problem) : h("p", { class: "hint" }, "The inspection was cancelled.")));
      return false;
    }

    /** Offers the form again, and what is to be said of this job. */
    function end(words) {
      ended = true;
      form.hidden = false;
      place.hidden = !words;
      replace(place, words);
    }
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
