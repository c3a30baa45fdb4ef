/**
 * `/train`: the form that submits trainings: automatic ones, and those with one loss. Its fields come from the schemas
 * of jobs and the catalogues of losses and scorers. @module
 */
import { offerContracts, readNewestSystems } from "../forms/choices.js";
import { budgetLabel, costLabel, iterationsOf, nearest, readMeasured, readMemory, runsOf } from "../forms/cost.js";
import { fillControls, readEarlier, setControl } from "../forms/earlier.js";
import { bindOptionGroups } from "../forms/option_groups.js";
import { bindChoices, choose, onSubmit, payloadOf, showUnread } from "../forms/forms.js";
import { chooseHeldOut, goalOf, offerData } from "../forms/held_out.js";
import { showKnownVersions } from "../forms/model_name.js";
import { gridOf, MAX_GRID_POINTS, offerLosses } from "../forms/parameter_fields.js";
import { fillFields } from "../forms/schema_fields.js";
import { chooseScorer, offerScorers, TREES } from "../forms/scorer_fields.js";
import { requestOf } from "../jobs/specification.js";
import { compareJobsPage, jobPage, openPage } from "../page/paths.js";
import { creator, get, getOnce, Problem } from "../page/api.js";
import { elementById, find, findAll, h, setText } from "../page/dom.js";
import { count } from "../page/format.js";

/** @typedef {Record<string, Json>} Request */

const form = elementById("train", HTMLFormElement);
const button = find(form, 'button[type="submit"]');
const createAll = manyCreator();
let trainingDataset = /** @type {() => Schemas["Dataset"] | undefined} */ (() => undefined);
/** @type {import("../forms/cost.js").MeasuredTraining[] | null} null before they were read */
let measured = null;

onSubmit(form, send);
bindChoices(form);
await prepare().catch((error) => showUnread(form, error));
const showChanges = bindOptionGroups(form);
for (const event of ["input", "change"]) form.addEventListener(event, show);
form.removeAttribute("aria-busy");
showKnownVersions(form);
show();
readMeasured().then(
  (found) => {
    measured = found;
    showCost();
  },
  () => {}, // without earlier trainings, the cost is unknown
);

function show() {
  showGrid();
  showChanges();
  showCost();
}

async function prepare() {
  const [{ schemas }, { items }, { items: scorers }, earlier] = await Promise.all([
    getOnce("/v1/job-schemas"),
    getOnce("/v1/losses"),
    getOnce("/v1/scorers"),
    readEarlier(),
  ]);
  if (earlier) choose(form, "goal", earlier.kind === "auto-train" ? "best" : "loss");
  fillFields(form, schemas);
  offerScorers(scorers);
  offerLosses(items);
  form.dispatchEvent(new Event("change"));
  form.addEventListener("change", showSizes);
  showSizes();
  const requested = earlier?.spec.dataset_id ?? new URLSearchParams(location.search).get("dataset");
  const replacedLabels = Object.keys(earlier?.spec.label_map ?? {});
  [trainingDataset] = await Promise.all([offerData(form, requested, replacedLabels), offerMetrics()]);
  find(form, '[list="known-models"]').addEventListener("focus", offerModels, { once: true });
  find(form, '[name="clicked"]').addEventListener("change", offerClicks, { once: true });
  if (earlier) await fillFrom(earlier);
}

/** Fill the form from an earlier training. @param {Schemas["Job"]} earlier */
async function fillFrom(earlier) {
  const { dataset_id: dataset, ...request } = await requestOf(earlier);
  request.project = earlier.project ?? "";
  // The tags of a grid are the values of its fields, which may change here.
  if (Object(request.tags).grid) delete request.tags;
  // First, because the form then chooses validation and test data from the same upload.
  setControl(form, "/dataset_id", dataset);
  if (earlier.kind === "auto-train") {
    const { budget_seconds: seconds = null, metric = null } = earlier.spec;
    choose(form, "test", String(request.test_dataset_id ?? ""));
    fillControls(form, { ...request, budget_seconds: seconds, metric });
    return;
  }
  const { scorer } = request;
  chooseScorer(scorer && typeof scorer === "object" && "kind" in scorer ? String(scorer.kind) : TREES);
  // The earlier training determines the sizes.
  choose(form, "sizes", "defaults");
  chooseHeldOut(form, request);
  setCheckBox("early", Boolean(request.early_stopping));
  setCheckBox("distributed", Boolean(request.distribution));
  if (request.clicks) await offerClicks();
  setCheckBox("clicked", Boolean(request.clicks));
  fillControls(form, request, ["/loss/name", "/clicks/correction"]);
}

/** Set a check box. @param {string} name @param {boolean} on */
function setCheckBox(name, on) {
  const box = find(form, `[name="${name}"]`, HTMLInputElement);
  box.checked = on;
  box.dispatchEvent(new Event("change", { bubbles: true }));
}

/** Beginning of a pointer into a batch: the number of the job. */
const JOB_POINTER = /^\/jobs\/\d+/;

/** Return a function that submits one training, or several as a batch. @returns {(requests: Request[], repeats: number) => Promise<Schemas["Job"][]>} */
function manyCreator() {
  const create = creator();
  return async (requests, repeats) => {
    if (requests.length === 1 && repeats === 1) return [await create("/v1/jobs", requests[0])];
    try {
      const repeated = repeats === 1 ? {} : { repeats: { count: repeats } };
      return (await create("/v1/jobs/batch", { jobs: requests, ...repeated })).jobs;
    } catch (error) {
      throw error instanceof Problem ? formProblem(error) : error;
    }
  };
}

/** Return the problem of a batch with each error once, at its field of the form. @param {Problem} problem */
function formProblem({ status, title, message, errors }) {
  const distinct = new Map(
    errors
      .map(({ pointer, detail }) => ({ pointer: pointer.replace(JOB_POINTER, ""), detail }))
      .map((error) => [error.pointer + error.detail, error]),
  );
  return new Problem(status, { title, detail: message, errors: [...distinct.values()] });
}

/** Show the defaults of size fields as placeholders. */
function showSizes() {
  const chosen = new FormData(form).get("sizes") === "auto";
  for (const control of findAll(elementById("sizes"), "input", HTMLInputElement)) {
    control.dataset.usual ??= control.placeholder;
    control.placeholder = chosen ? "automatic" : control.dataset.usual;
  }
}

async function send() {
  if (goalOf(form) === "best") {
    const [{ id }] = await createAll([{ kind: "auto-train", ...payloadOf(form) }], 1);
    return openPage(jobPage(id));
  }
  const { size, requests } = gridOf(form);
  if (size > MAX_GRID_POINTS)
    throw new Problem(422, {
      title: "Too many trainings",
      detail: `The grid has ${count(size)} points; at most ${MAX_GRID_POINTS} trainings can be submitted together. Use fewer values.`,
    });
  const jobs = await createAll(
    requests().map((request) => ({ kind: "train", ...request })),
    repeatsOf(),
  );
  return openPage(jobs.length === 1 ? jobPage(jobs[0].id) : compareJobsPage(jobs.map(({ id }) => id)));
}

/** Return the number of repeats of each training; the service refuses invalid numbers. */
function repeatsOf() {
  const field = elementById("repeats", HTMLInputElement);
  return field.matches(":disabled") ? 1 : Number(field.value.trim() || 1);
}

/** Show the number of trainings. */
function showGrid() {
  const words = elementById("grid");
  const isGrid = goalOf(form) === "loss";
  const { size, axes } = isGrid ? gridOf(form) : { size: 1, axes: [] };
  const repeats = repeatsOf() || 1;
  const trainings = size * repeats;
  words.hidden = trainings < 2;
  const factors = axes.map(([name, number]) => `${number} of ${name}`);
  const product = [...factors, ...(repeats > 1 ? [`${count(repeats)} repeats`] : [])].join(" × ");
  setText(
    words,
    trainings < 2
      ? ""
      : `${count(trainings)} trainings will be submitted: ${product}. They become versions of one model, each with its values as tags.${size > MAX_GRID_POINTS ? ` The limit is ${MAX_GRID_POINTS}.` : ""}`,
  );
  setText(button, trainings < 2 ? "Start training" : `Start ${count(trainings)} trainings`);
}

/** Show the estimated cost of the training, if it is known. */
function showCost() {
  const container = elementById("cost");
  const request = /** @type {any} */ (payloadOf(form));
  const statistics = trainingDataset()?.statistics;
  if (goalOf(form) === "best") return setText(container, budgetLabel(String(request.budget_seconds / 60 || "")));
  if (!statistics || !measured) return setText(container, "");
  const scorer = request.scorer?.kind ?? TREES;
  if (scorer === "sum")
    return setText(container, "A sum scores its models once and fits their weights, which takes seconds.");
  const { documents, features, query_columns: columns } = statistics;
  const runs = runsOf(request.validation, columns);
  if (!runs) return setText(container, "");
  const plan = { scorer, documents, features, iterations: iterationsOf(request), runs };
  const near = nearest(plan, measured);
  setText(container, costLabel(plan, near, gridOf(form).size * (repeatsOf() || 1)));
  if (near && near.bytes === undefined) {
    near.bytes = null;
    readMemory(near.id).then(
      (bytes) => {
        near.bytes = bytes;
        showCost();
      },
      () => {}, // only the time is shown
    );
  }
}

async function offerMetrics() {
  const [{ items }] = await Promise.all([getOnce("/v1/metrics"), offerContracts(form)]);
  const names = items.map((each) => (typeof each === "string" ? each : each.name));
  setText(elementById("known-metrics"), `Known metrics: ${names.join(", ")}; write a cutoff after an @.`);
}

/** Offer the newest models. */
async function offerModels() {
  const models = (await readNewestSystems().catch(() => [])).filter(({ reference, name }) => reference === name);
  elementById("known-models").append(
    ...models.map(({ reference, detail }) => h("option", { value: reference }, detail)),
  );
}

/** Offer the click logs and the jobs that estimated propensities. */
async function offerClicks() {
  const logs = find(form, "[data-click-logs]", HTMLSelectElement);
  if (logs.options.length > 1) return;
  const [known, jobs] = await Promise.all([
    get("/v1/click-logs?limit=200").catch(() => ({ items: [] })),
    get("/v1/jobs?kind=propensity&status=succeeded&limit=50&fields=title").catch(() => ({ items: [] })),
  ]);
  logs.append(...known.items.map(({ id, name }) => h("option", { value: id }, name)));
  find(form, "[data-propensity-jobs]").append(
    ...jobs.items.map(({ id, title }) => h("option", { value: id }, `${title}, ${id}`)),
  );
}
