/**
 * `/train`: the form that submits a training job. Losses and their hyperparameters come from the API.
 * @module
 */
import { creator, get } from "../parts/api.js";
import { h, replace, setText } from "../parts/dom.js";
import { count } from "../parts/format.js";
import { followChoices, onSubmit, payloadOf, showError } from "../parts/forms.js";
import { offerLosses } from "../parts/loss_fields.js";

const form = /** @type {HTMLFormElement} */ (document.getElementById("train"));
const create = creator();

followChoices(form);
onSubmit(form, async () => {
  const job = await create("/v1/jobs", { kind: "train", ...payloadOf(form) });
  location.assign(`/jobs/${encodeURIComponent(job.id)}`);
});
await Promise.all([offerDatasets(), get("/v1/losses").then(({ items }) => offerLosses(items)), nameMetrics()]).catch((error) => showError(form, error));
form.removeAttribute("aria-busy");

async function offerDatasets() {
  const { items } = await get("/v1/datasets?status=ready&limit=100");
  document.getElementById("no-datasets").hidden = items.length > 0;
  form.hidden = items.length === 0;
  const words = ({ name, statistics }) => (statistics ? `${name} (${count(statistics.queries)} queries)` : name);
  for (const select of form.querySelectorAll('select[data-list="ready"]')) {
    const none = select.dataset.none;
    replace(select, none && h("option", { value: "" }, none), ...items.map((dataset) => h("option", { value: dataset.id }, words(dataset))));
  }
  const asked = new URLSearchParams(location.search).get("dataset");
  if (items.some((dataset) => dataset.id === asked)) form.querySelector('[data-pointer="/dataset_id"]').value = asked;
}

async function nameMetrics() {
  const { items } = await get("/v1/metrics");
  const names = items.map((each) => (typeof each === "string" ? each : each.name));
  setText(document.getElementById("known-metrics"), `Known: ${names.join(", ")}; a cutoff follows an @.`);
}
