/**
 * `/train`: the form that submits an automatic training.
 * @module
 */
import { chooseDataset, labelMapOf, offerContracts, offerLabelMap, offerReady } from "../forms/choices.js";
import { fillControls, keepDataset, readEarlier } from "../forms/earlier.js";
import { onSubmit, payloadOf, showError } from "../forms/forms.js";
import { fillFields } from "../forms/schema_fields.js";
import { requestOf } from "../jobs/specification.js";
import { jobPage, openPage } from "../page/addresses.js";
import { creator, get } from "../page/api.js";
import { elementById, find, h } from "../page/dom.js";

const form = elementById("best-model", HTMLFormElement);
const trained = find(form, '[data-pointer="/dataset_id"]', HTMLSelectElement);
const test = find(form, '[data-pointer="/test_dataset_id"]', HTMLSelectElement);
const simple = find(form, '[name="simple"]', HTMLInputElement);
const create = creator();

onSubmit(form, async () => {
  const prefer = simple.checked ? "simple" : "best";
  const { id } = await create("/v1/jobs", { kind: "auto-train", ...payloadOf(form), prefer });
  openPage(jobPage(id));
});
await prepare().catch((error) => showError(form, error));
form.removeAttribute("aria-busy");

async function prepare() {
  const [{ schemas }, { presets }, earlier] = await Promise.all([
    get("/v1/job-schemas"),
    get("/v1/metrics"),
    readEarlier("auto-train"),
  ]);
  fillFields(form, schemas);
  offerContracts(find(form, '[data-pointer="/contract"]', HTMLSelectElement), elementById("contract-words"), presets);
  await offerDatasets(earlier?.spec.dataset_id ?? new URLSearchParams(location.search).get("dataset"));
  if (!earlier) return;
  const { budget_seconds: seconds = null, metric = null, prefer } = earlier.spec;
  fillControls(form, { ...(await requestOf(earlier)), budget_seconds: seconds, metric });
  simple.checked = prefer !== "best";
}

/** @param {string | null} asked the dataset to train on */
async function offerDatasets(asked) {
  const datasets = await offerReady([trained, test], asked);
  elementById("no-datasets").hidden = datasets.length > 0;
  form.hidden = datasets.length === 0;
  if (datasets.length > 1) trained.prepend(h("option", { value: "", selected: true }, "Choose a dataset"));
  test.prepend(h("option", { value: "", selected: true }, "none"));
  chooseDataset([trained], asked);
  keepDataset(trained);
  trained.addEventListener("change", takeTestData);
  form.addEventListener("change", showLabels);
  takeTestData();
  showLabels();

  /** Choose the test data that came in the same upload. */
  function takeTestData() {
    test.value = "";
    const parts = datasets.find(({ id }) => id === trained.value)?.parts;
    chooseDataset([test], parts?.test ?? null);
  }

  /** Ask for other labels where the datasets have some that no loss can use. */
  function showLabels() {
    const used = datasets.filter(({ id }) => id === trained.value || id === test.value);
    offerLabelMap(labelMapOf(form), used);
  }
}
