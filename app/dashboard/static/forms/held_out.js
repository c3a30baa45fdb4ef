/** Training, validation and test data of a training form, and the ways to hold out queries. @module */
import { choose } from "./forms.js";
import { checkBox } from "./controls.js";
import { chooseDataset, offerLabelMap, offerReadyDatasets } from "./choices.js";
import { elementById, find, findAll, h, replace, setAttribute, setText } from "../page/dom.js";
import { counted } from "../page/format.js";

/** @typedef {Record<string, Json>} Request */
/** @typedef {{value: string, queries: number}[]} Values */

// Maximum number of folds that the service accepts.
const MAX_FOLDS = 100;
/** Ways to test on a part of the training data; automatic trainings do not support them. */
const WAYS = { fraction: "held-out queries", fold: "one of several folds", column: "queries by a column" };

/**
 * Offer the ready datasets, limit the ways to hold out queries to the chosen dataset, and offer labels to replace.
 * @param {HTMLFormElement} form
 * @param {string | null} requestedId the dataset to train on
 * @param {string[]} replacedLabels labels that an earlier job replaced
 * @returns {Promise<() => Dataset | undefined>} returns the chosen training data
 */
export async function offerData(form, requestedId, replacedLabels) {
  const trainSelect = find(form, '[data-pointer="/dataset_id"]', HTMLSelectElement);
  const validationSelect = find(form, '[data-pointer="/validation/dataset_id"]', HTMLSelectElement);
  const testSelect = findTestSelect(form);
  const datasets = await offerReadyDatasets([trainSelect, validationSelect, testSelect], requestedId);
  elementById("no-datasets").hidden = datasets.length > 0;
  form.hidden = datasets.length === 0;
  for (const select of datasets.length > 1 ? [trainSelect, validationSelect] : [])
    select.prepend(h("option", { value: "", selected: true }, "Choose a dataset"));
  testSelect.prepend(
    h("option", { value: "", selected: true }, "nothing"),
    h(
      "optgroup",
      { label: "Part of the training data", "data-ways": true },
      Object.entries(WAYS).map(([value, words]) => h("option", { value }, words)),
    ),
  );
  chooseDataset([trainSelect], requestedId);

  const chosen = () => datasets.find(({ id }) => id === trainSelect.value);
  const follow = () => {
    offerColumns(form, chosen());
    chooseSiblings(form, datasets, chosen());
  };
  const showLabels = () =>
    offerLabelMap(elementById("label-map", HTMLFieldSetElement), usedDatasets(form, datasets), replacedLabels);
  trainSelect.addEventListener("change", follow);
  form.addEventListener("change", () => {
    offerWays(form);
    showLabels();
  });
  follow();
  offerWays(form);
  showLabels();
  return chosen;
}

/** @param {HTMLFormElement} form */
const findTestSelect = (form) => find(form, 'select[name="test"]', HTMLSelectElement);

/** Return the goal of the form. @param {HTMLFormElement} form */
export const goalOf = (form) => String(new FormData(form).get("goal"));

/**
 * Offer parts of the training data for goals that support them. The select is sent only if a dataset is chosen.
 * @param {HTMLFormElement} form
 */
function offerWays(form) {
  const select = findTestSelect(form);
  const group = find(select, "[data-ways]", HTMLOptGroupElement);
  group.disabled = goalOf(form) !== "loss";
  if (group.disabled && select.value in WAYS) choose(form, "test", "");
  setAttribute(select, "data-pointer", !(select.value in WAYS) && "/test_dataset_id");
}

/**
 * Offer the columns of the training data to hold out queries by, with their values.
 * @param {HTMLFormElement} form
 * @param {Dataset | undefined} dataset to train on
 */
function offerColumns(form, dataset) {
  const columns = dataset?.statistics?.query_columns || {};
  const names = Object.keys(columns);
  for (const role of ["validation", "test"]) {
    const select = find(form, `[data-columns="${role}"]`, HTMLSelectElement);
    replace(select, ...names.map((name) => h("option", { value: name }, name)));
    const show = () => offerValues(form, role, columns[select.value] || []);
    select.onchange = show;
    show();
  }
  offerWay(form, "column", names.length > 0);
  const option = find(findTestSelect(form), '[value="column"]', HTMLOptionElement);
  option.hidden = option.disabled = names.length === 0;
  if (option.disabled && option.selected) choose(form, "test", "");
  const folds = names.filter((name) => columns[name].length > 1 && columns[name].length <= MAX_FOLDS);
  offerWay(form, "fold_column", folds.length > 0);
  replace(find(form, "[data-fold-columns]"), ...folds.map((name) => h("option", { value: name }, name)));
}

/**
 * Show or hide a way to hold out validation queries; if the chosen way is hidden, choose held-out queries instead.
 * @param {HTMLFormElement} form @param {string} way @param {boolean} offered
 */
function offerWay(form, way, offered) {
  const choice = find(form, `[name="validation"][value="${way}"]`, HTMLInputElement);
  if (choice.parentElement) choice.parentElement.hidden = !offered;
  if (!offered && choice.checked) choose(form, "validation", "fraction");
}

/** @param {HTMLFormElement} form @param {string} role @param {Values} values */
function offerValues(form, role, values) {
  const container = find(form, `[data-values="${role}"]`);
  for (const old of container.querySelectorAll("label")) old.remove();
  container.append(...values.map(box));
}

/** @param {Values[number]} entry */
function box({ value, queries }) {
  const words = h("span.name", { title: value }, value || "(empty)");
  return checkBox({ value }, words, h("small", counted(queries, "query", "queries")));
}

/**
 * Choose the validation and test datasets of the same upload; undo the choice that was made for the previous
 * training data.
 * @param {HTMLFormElement} form @param {Dataset[]} datasets @param {Dataset | undefined} dataset
 */
function chooseSiblings(form, datasets, dataset) {
  const sibling = (/** @type {string} */ role) =>
    datasets.find(({ id }) => id === dataset?.parts?.[role] && id !== dataset?.id);
  const [validation, test] = ["validation", "test"].map(sibling);
  const hadSiblings = form.dataset.siblings === "taken";
  if (validation) {
    choose(form, "validation", "dataset");
    find(form, '[data-pointer="/validation/dataset_id"]', HTMLSelectElement).value = validation.id;
  } else if (hadSiblings) choose(form, "validation", "fraction");
  if (test || hadSiblings) choose(form, "test", test?.id ?? "");
  const names = [validation, test].flatMap((each) => each?.name ?? []);
  form.dataset.siblings = names.length ? "taken" : "";
  const words = elementById("siblings");
  words.hidden = names.length === 0;
  setText(words, names.length ? `From the same upload: ${names.join(", ")}.` : "");
}

/** Return the datasets that the job would use. @param {HTMLFormElement} form @param {Dataset[]} datasets */
function usedDatasets(form, datasets) {
  const selects = findAll(form, 'select[data-pointer$="dataset_id"]', HTMLSelectElement);
  const ids = new Set(selects.filter((select) => !select.matches(":disabled")).map((select) => select.value));
  return datasets.filter(({ id }) => ids.has(id));
}

/** Choose the ways to hold out queries as in a request. @param {HTMLFormElement} form @param {Request} request */
export function chooseHeldOut(form, { validation, test, test_dataset_id: dataset }) {
  choose(form, "validation", wayOf(validation));
  choose(form, "test", dataset ? String(dataset) : test ? wayOf(test) : "");
}

/** Return the way in which a request chooses validation or test queries. @param {Json | undefined} heldOut */
function wayOf(heldOut) {
  if (!heldOut || typeof heldOut !== "object") return "none";
  return ["fraction", "column", "fold_column", "fold", "folds"].find((way) => way in heldOut) || "dataset";
}
