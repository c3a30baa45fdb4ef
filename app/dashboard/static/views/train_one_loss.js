/**
 * `/train/one-loss`: the form that submits trainings with one loss. Its fields come from the schemas of jobs and the
 * catalogue of losses.
 * @module
 */
import { chooseDataset, offerContracts, offerLabelMap, offerUnchosen } from "../forms/choices.js";
import { fillControls, keepDataset, readEarlier } from "../forms/earlier.js";
import { followChoices, onSubmit, showError } from "../forms/forms.js";
import { gridOf, MOST, offerLosses } from "../forms/parameter_fields.js";
import { fillFields } from "../forms/schema_fields.js";
import { chooseScorer, offerScorers, TREES } from "../forms/scorer_fields.js";
import { requestOf } from "../jobs/specification.js";
import { compareJobs, jobPage, openPage } from "../page/addresses.js";
import { creator, get, Problem } from "../page/api.js";
import { elementById, find, findAll, h, replace, setText } from "../page/dom.js";
import { count, counted } from "../page/format.js";

/** @typedef {Schemas["Dataset"]} Dataset */
/** @typedef {Record<string, Json>} Request */
/** @typedef {{value: string, queries: number}[]} Values */

// The service's own bound.
const MOST_FOLDS = 100;

/**
 * Holding out queries by a column of the training dataset: which columns it has, and which values to tick.
 *
 * @param {HTMLFormElement} form
 * @param {Dataset | undefined} dataset the one trained on
 */
function offerColumns(form, dataset) {
  const columns = dataset?.statistics?.query_columns || {};
  for (const part of ["validation", "test"]) offer(form, part, columns);
  const folds = Object.keys(columns).filter((name) => columns[name].length > 1 && columns[name].length <= MOST_FOLDS);
  offerWay(form, "validation", "fold_column", folds.length > 0);
  replace(find(form, "[data-fold-columns]"), ...folds.map((name) => h("option", { value: name }, name)));
}

/**
 * Show or hide one of a part's ways; where it is chosen and hidden, the first one is chosen instead.
 *
 * @param {HTMLFormElement} form
 * @param {string} part
 * @param {string} way
 * @param {boolean} offered
 */
function offerWay(form, part, way, offered) {
  const choice = find(form, `[name="${part}"][value="${way}"]`, HTMLInputElement);
  if (choice.parentElement) choice.parentElement.hidden = !offered;
  if (!offered && choice.checked) choose(form, part, part === "test" ? "none" : "fraction");
}

/** @param {HTMLFormElement} form @param {string} part @param {Record<string, Values>} columns */
function offer(form, part, columns) {
  const names = Object.keys(columns);
  offerWay(form, part, "column", names.length > 0);
  const select = find(form, `[data-columns="${part}"]`, HTMLSelectElement);
  replace(select, ...names.map((name) => h("option", { value: name }, name)));
  const show = () => offerValues(form, part, columns[select.value] || []);
  select.onchange = show;
  show();
}

/** @param {HTMLFormElement} form @param {string} part @param {Values} values */
function offerValues(form, part, values) {
  const place = find(form, `[data-values="${part}"]`);
  for (const old of place.querySelectorAll("label")) old.remove();
  place.append(...values.map(box));
}

/** @param {Values[number]} entry */
function box({ value, queries }) {
  const words = h("span", { class: "name", title: value }, value || "(empty)");
  return h(
    "label",
    { class: "check" },
    h("input", { type: "checkbox", value }),
    words,
    h("small", {}, counted(queries, "query", "queries")),
  );
}

/**
 * Tick one of a part's ways, as a user would.
 *
 * @param {HTMLFormElement} form
 * @param {string} part
 * @param {string} way
 */
function choose(form, part, way) {
  const choice = find(form, `[name="${part}"][value="${way}"]`, HTMLInputElement);
  if (choice.checked) return;
  choice.checked = true;
  choice.dispatchEvent(new Event("change", { bubbles: true }));
}

/** Fill the form from a request. @param {HTMLFormElement} form @param {Request} request */
function fillForm(form, request) {
  chooseWays(form, request);
  fillControls(form, request, ["/dataset_id", "/loss/name"]);
}

/**
 * Choose what is trained, the ways to hold out, whether to stop early and on ranks, and no sizes: an earlier job has
 * its own.
 *
 * @param {HTMLFormElement} form
 * @param {Request} request
 */
function chooseWays(form, { scorer, validation, test, test_dataset_id: dataset, ...request }) {
  chooseScorer(form, scorer && typeof scorer === "object" && "kind" in scorer ? String(scorer.kind) : TREES);
  tick(form, "sizes", "defaults");
  tick(form, "validation", wayOf(validation));
  tick(form, "test", dataset ? "dataset" : wayOf(test));
  turn(form, "early", Boolean(request.early_stopping));
  turn(form, "distributed", Boolean(request.distribution));
}

/** Set a check box. @param {HTMLFormElement} form @param {string} name @param {boolean} on */
function turn(form, name, on) {
  const box = find(form, `[name="${name}"]`, HTMLInputElement);
  box.checked = on;
  box.dispatchEvent(new Event("change", { bubbles: true }));
}

/** @param {Json | undefined} part */
function wayOf(part) {
  if (!part || typeof part !== "object") return "none";
  return ["fraction", "column", "fold_column", "fold", "folds"].find((way) => way in part) || "dataset";
}

/** @param {HTMLFormElement} form @param {string} name @param {string} value */
function tick(form, name, value) {
  const choice = find(form, `[name="${name}"][value="${value}"]`, HTMLInputElement);
  choice.checked = true;
  choice.dispatchEvent(new Event("change", { bubbles: true }));
}

const PLACE = /^\/jobs\/\d+/;

/** @returns {(requests: Request[], repeats: number) => Promise<Schemas["Job"][]>} */
function manyCreator() {
  const create = creator();
  return async (requests, repeats) => {
    if (requests.length === 1 && repeats === 1) return [await create("/v1/jobs", requests[0])];
    try {
      const again = repeats === 1 ? {} : { repeats: { count: repeats } };
      return (await create("/v1/jobs/batch", { jobs: requests, ...again })).jobs;
    } catch (error) {
      throw error instanceof Problem ? ofTheForm(error) : error;
    }
  };
}

/** The problem with each mistake once, at its place in the form that all the jobs come from. @param {Problem} problem */
function ofTheForm({ status, title, message, errors }) {
  const distinct = new Map(
    errors
      .map(({ pointer, detail }) => ({ pointer: pointer.replace(PLACE, ""), detail }))
      .map((error) => [error.pointer + error.detail, error]),
  );
  return new Problem(status, { title, detail: message, errors: [...distinct.values()] });
}

/** Show the defaults of size fields as placeholders. @param {HTMLFormElement} form */
function showSizes(form) {
  const chosen = new FormData(form).get("sizes") === "auto";
  for (const control of findAll(elementById("sizes"), "input", HTMLInputElement)) {
    control.dataset.usual ??= control.placeholder;
    control.placeholder = chosen ? "chosen" : control.dataset.usual;
  }
}

/** @type {Record<string, string>} */
const PLACES = { validation: '[data-pointer="/validation/dataset_id"]', test: '[data-pointer="/test_dataset_id"]' };

/** @param {HTMLFormElement} form @param {string | null} asked the dataset to train on */
async function offerDatasets(form, asked) {
  const datasets = await offerUnchosen(findAll(form, 'select[data-list="ready"]', HTMLSelectElement), asked);
  elementById("no-datasets").hidden = datasets.length > 0;
  form.hidden = datasets.length === 0;
  const trained = find(form, '[data-pointer="/dataset_id"]', HTMLSelectElement);
  chooseDataset([trained], asked);
  keepDataset(trained);

  const follow = () => {
    const dataset = datasets.find(({ id }) => id === trained.value);
    offerColumns(form, dataset);
    takeSiblings(form, datasets, dataset);
  };
  trained.addEventListener("change", follow);
  form.addEventListener("change", () =>
    offerLabelMap(elementById("label-map", HTMLFieldSetElement), chosen(form, datasets, trained)),
  );
  follow();
  offerLabelMap(elementById("label-map", HTMLFieldSetElement), chosen(form, datasets, trained));
}

/**
 * Choose what came in the same upload, and undo what was chosen so for another dataset.
 *
 * @param {HTMLFormElement} form
 * @param {Dataset[]} datasets
 * @param {Dataset | undefined} dataset
 */
function takeSiblings(form, datasets, dataset) {
  const taken = [];
  for (const [part, place] of Object.entries(PLACES)) {
    const sibling = datasets.find(({ id }) => id === dataset?.parts?.[part]);
    if (sibling && sibling !== dataset) {
      choose(form, part, "dataset");
      find(form, place, HTMLSelectElement).value = sibling.id;
      taken.push(sibling.name);
    } else if (form.dataset.siblings) choose(form, part, part === "test" ? "none" : "fraction");
  }
  form.dataset.siblings = taken.length ? "taken" : "";
  const words = elementById("siblings");
  words.hidden = taken.length === 0;
  setText(words, taken.length ? `Came in the same upload: ${taken.join(", ")}.` : "");
}

/**
 * Return the datasets that the job would use.
 *
 * @param {HTMLFormElement} form
 * @param {Dataset[]} datasets
 * @param {HTMLSelectElement} trained
 */
function chosen(form, datasets, trained) {
  const selects = [trained, ...Object.values(PLACES).map((place) => find(form, place, HTMLSelectElement))];
  const ids = new Set(selects.filter((select) => !select.matches(":disabled")).map((select) => select.value));
  return datasets.filter(({ id }) => ids.has(id));
}

const form = elementById("train", HTMLFormElement);
const button = find(form, 'button[type="submit"]');
const words = elementById("grid");
const createAll = manyCreator();
const asked = new URLSearchParams(location.search);

onSubmit(form, send);
await prepare().catch((error) => showError(form, error));
for (const event of ["input", "change"]) form.addEventListener(event, showGrid);
form.removeAttribute("aria-busy");
showGrid();

async function prepare() {
  const [{ schemas }, { items }, { items: scorers }, earlier] = await Promise.all([
    get("/v1/job-schemas"),
    get("/v1/losses"),
    get("/v1/scorers"),
    readEarlier("train"),
  ]);
  fillFields(form, schemas);
  followChoices(form);
  form.addEventListener("change", () => showSizes(form));
  showSizes(form);
  await Promise.all([offerDatasets(form, earlier?.spec.dataset_id || asked.get("dataset")), offerMetrics()]);
  offerLosses(items);
  offerScorers(form, scorers);
  if (earlier) fillForm(form, await requestOf(earlier));
}

async function send() {
  const { size, requests } = gridOf(form);
  const repeats = repeatsOf();
  if (size > MOST)
    throw new Problem(422, {
      title: "Too many trainings",
      detail: `The grid has ${count(size)} points; at most ${MOST} trainings are submitted together.`,
    });
  const jobs = await createAll(
    requests().map((request) => ({ kind: "train", ...request })),
    repeats,
  );
  openPage(jobs.length === 1 ? jobPage(jobs[0].id) : compareJobs(jobs.map(({ id }) => id)));
}

/** Return how often each training is repeated; what is no number of repeats is refused by the service. */
function repeatsOf() {
  return Number(elementById("repeats", HTMLInputElement).value.trim() || 1);
}

/** Shows the number of trainings. */
function showGrid() {
  const { size, axes } = gridOf(form);
  words.hidden = size < 2;
  const product = axes.map(([name, number]) => `${number} of ${name}`).join(" × ");
  setText(
    words,
    size < 2
      ? ""
      : `${count(size)} trainings will be submitted: ${product}. They become versions of one model, each with its values as tags.${size > MOST ? ` The limit is ${MOST}.` : ""}`,
  );
  setText(button, size < 2 ? "Start training" : `Start ${count(size)} trainings`);
}

async function offerMetrics() {
  const { items, presets } = await get("/v1/metrics");
  const names = items.map((each) => (typeof each === "string" ? each : each.name));
  setText(elementById("known-metrics"), `Known: ${names.join(", ")}; a cutoff follows an @.`);
  offerContracts(find(form, '[data-pointer="/contract"]', HTMLSelectElement), elementById("contract-words"), presets);
}
