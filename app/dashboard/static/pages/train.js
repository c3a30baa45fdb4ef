/**
 * `/train`: the form that submits a training job. Losses and their hyperparameters come from the API.
 * @module
 */
import { creator, get } from "../parts/api.js";
import { h, replace, setText } from "../parts/dom.js";
import { count } from "../parts/format.js";
import { followChoices, onSubmit, payloadOf, showError } from "../parts/forms.js";
import { parameterField } from "../parts/parameter_field.js";

const form = /** @type {HTMLFormElement} */ (document.getElementById("train"));
const lossSelect = /** @type {HTMLSelectElement} */ (document.getElementById("loss"));
const STANDARD_LOSS = "lambdarank";
const create = creator();

followChoices(form);
onSubmit(form, async () => {
  const job = await create("/v1/jobs", { kind: "train", ...payloadOf(form) });
  location.assign(`/jobs/${encodeURIComponent(job.id)}`);
});
await Promise.all([offerDatasets(), offerLosses(), nameMetrics()]).catch((error) => showError(form, error));
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

async function offerLosses() {
  const { items } = await get("/v1/losses");
  replace(lossSelect, ...items.map((loss) => h("option", { value: loss.name }, loss.name)));
  const show = () => {
    const loss = items.find((each) => each.name === lossSelect.value);
    setText(document.getElementById("loss-summary"), [loss.summary, loss.source].filter(Boolean).join(" · "));
    setText(document.getElementById("loss-formula"), loss.formula || "");
    replace(document.getElementById("loss-parameters"), ...loss.parameters.map((each) => parameterField(`/loss/${each.name}`, each)));
  };
  lossSelect.addEventListener("change", show);
  if (items.some((loss) => loss.name === STANDARD_LOSS)) lossSelect.value = STANDARD_LOSS;
  show();
}

async function nameMetrics() {
  const { items } = await get("/v1/metrics");
  const names = items.map((each) => (typeof each === "string" ? each : each.name));
  setText(document.getElementById("known-metrics"), `Known: ${names.join(", ")}; a cutoff follows an @.`);
}
