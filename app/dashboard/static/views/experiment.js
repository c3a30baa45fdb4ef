/**
 * `/experiments/{id}`: one experiment, kept current: its trainings, and its report or its estimated duration. @module
 */
import { actionButtons } from "../page/actions.js";
import { dataLabel, isRunning, tableName, trainingCount } from "../experiments/labels.js";
import { reportPanels } from "../experiments/report.js";
import { tileList } from "../figures/marks.js";
import { LABELS } from "../forms/schema_fields.js";
import { deleteButton } from "../lifecycle/deletion.js";
import { datasetPage, experimentApi, jobPage, pageObjectId } from "../page/paths.js";
import { conditionalReader, request } from "../page/api.js";
import { helpLink, showMissing, showOnly } from "../page/content.js";
import { announce, changeDetector, elementById, h, replace, setAttribute, setText } from "../page/dom.js";
import { confirmed, livePart, metaLine, panel, problemBox, statusBadge } from "../page/parts.js";
import { count, duration, metric, short, timeElement, joined } from "../page/format.js";
import { poll } from "../page/poll.js";
import { valueLabel } from "../studies/labels.js";
import { sortableTable, numberColumn } from "../tables/table.js";

/** @typedef {import("../experiments/labels.js").Training} Training */

const FIRST_ROWS = 20;
const id = pageObjectId();
const container = elementById("experiment");
const read = conditionalReader();
const readTrainings = conditionalReader();
/** @type {((experiment: Experiment, trainings: Training[]) => void) | null} */
let view = null;
let lastStatus = "";
/** @type {Experiment | null} */ let shown = null;
/** @type {Training[]} */ let trainings = [];

const pollNow = poll(refresh, (problem) =>
  showMissing(container, problem, { noun: "experiment", id, list: "/experiments" }),
);

/** @param {boolean} mayDiffer */
async function refresh(mayDiffer) {
  const experiment = await read(experimentApi(id));
  if (mayDiffer || experiment !== shown) trainings = (await readTrainings(experimentApi(id, "/trainings"))).items;
  shown = experiment;
  view ??= build(experiment);
  view(experiment, trainings);
  if (lastStatus && lastStatus !== experiment.status) announce(`${experiment.paper}: ${experiment.status}.`);
  lastStatus = experiment.status;
  return isRunning(experiment);
}

/** Draw the page without its changing parts, and return the function that updates them. @param {Experiment} first */
function build(first) {
  const status = h("span.status");
  const actions = experimentActions();
  const progress = h("div.study-progress");
  const outcome = h("div.view");
  const report = reportPanels();
  const trainings = trainingsPanel(first);
  const [hasChanged, isNewOutcome] = [changeDetector(), changeDetector()];
  showOnly(container, [
    h("div.page-head", [
      h("div.job-heading", h("h1", first.paper), status, helpLink("how-to/papers/", "Papers")),
      actions.node,
    ]),
    metaLine(`${first.title} (${first.year})`, timeElement(first.created_at), h("code", first.id)),
    actions.failure,
    progress,
    outcome,
    report.node,
    trainings.node,
  ]);
  return (/** @type {Experiment} */ experiment, /** @type {Training[]} */ items) => {
    document.title = `${experiment.paper}: ${experiment.status} · Rankery`;
    setText(status, experiment.status);
    setAttribute(status, "data-status", experiment.status);
    actions.update(experiment);
    if (hasChanged(experiment)) showProgress(progress, experiment);
    const { problem, sentence, report: found, estimate } = experiment;
    if (isNewOutcome([problem, sentence, found, estimate]))
      replace(outcome, [
        problem && problemBox(problem),
        (sentence || found) && resultPanel(experiment),
        estimatePanel(estimate),
      ]);
    report.update(found);
    trainings.update(items);
  };
}

/** @param {HTMLElement} node @param {Experiment} experiment */
function showProgress(node, experiment) {
  const { counts, tables, scale, dry_run: dry } = experiment;
  const all = trainingCount(counts);
  const ended = counts.succeeded + counts.failed + counts.cancelled;
  const waiting = counts.planned + counts.queued;
  replace(node, [
    tileList([
      [
        "Trainings done",
        all ? `${count(counts.succeeded)} of ${count(all)}` : "–",
        all ? `${count(counts.shared)} existed already` : "preparing the data",
      ],
      ["Running", count(counts.running), `${count(waiting)} waiting`],
      ["Failed", count(counts.failed), counts.cancelled ? `${count(counts.cancelled)} cancelled` : null],
      ["Scale", scale, dry ? "dry run" : null],
      ["Data", experiment.data, dataDetail(experiment)],
      ["Tables", count(tables.length), tables.map(tableName).join(", ")],
    ]),
    isRunning(experiment) &&
      h("progress", { max: Math.max(all, 1), value: ended, "aria-label": "Trainings that ended" }),
  ]);
}

/** @param {Experiment} experiment */
function dataDetail(experiment) {
  const words = dataLabel(experiment).split(" · ").slice(1).join(" · ");
  const parts = experiment.datasets.map(({ name, fold, part, dataset_id: dataset }) =>
    h("a", { href: datasetPage(dataset) }, joined([fold > 0 && `fold ${fold}`, name !== "main" && name, part])),
  );
  return h("span.experiment-data", words, ...parts);
}

/** The result in a sentence, with the files of the report. @param {Experiment} experiment */
function resultPanel({ paper, sentence, report }) {
  /** @param {string} format @param {string} words @param {string} suffix */
  const link = (format, words, suffix) =>
    h("a.button.quiet", { href: experimentApi(id, `/report?format=${format}`), download: `${paper}.${suffix}` }, words);
  return h("section.finding-panel", { "aria-label": "Result" }, [
    h("p.sentence", sentence ?? "Tables so far."),
    report &&
      h("p.actions", link("markdown", "Markdown", "md"), link("csv", "CSV", "csv"), link("latex", "LaTeX", "tex")),
  ]);
}

/** @param {ExperimentEstimate | null} estimate */
function estimatePanel(estimate) {
  if (!estimate) return null;
  /** @type {Column<ExperimentEstimate["measured"][number]>[]} */
  const columns = [
    { label: "Method", value: ({ method }) => method },
    { label: "Loss", value: ({ loss }) => loss },
    { label: "Leaves", number: true, value: ({ leaves }) => leaves, cell: ({ leaves, scorer }) => leaves ?? scorer },
    { label: "Runs", number: true, value: ({ runs }) => runs },
    numberColumn("Seconds per tree or epoch", (row) => row.seconds_per_tree, seconds),
    numberColumn("Diagnostics", (row) => row.seconds_per_look, seconds, {
      title: "Seconds of the diagnostics at one tree or epoch",
    }),
    numberColumn("Other", (row) => row.other_seconds, seconds, {
      title: "Seconds of reading, binning, storing and evaluating",
    }),
    {
      label: "Job",
      value: ({ job_id: job }) => job,
      cell: ({ job_id: job, failure }) => [
        job && h("a", { href: jobPage(job), title: job }, "Open job page"),
        failure && h("small", ` ${failure}`),
      ],
    },
  ];
  const table = sortableTable(columns, { label: "Measured trainings" });
  table.show(estimate.measured);
  return panel("Estimate", [
    tileList([
      ["Trainings", count(estimate.runs)],
      ["Trees at most", count(estimate.trees)],
      .../** @type {[string, string][]} */ (estimate.epochs ? [["Epochs at most", count(estimate.epochs)]] : []),
      ["On one worker", estimate.hours ? duration(estimate.hours * 3600) : "under 2 s"],
    ]),
    table.node,
  ]);
}

/** @param {number | null} value */
function seconds(value) {
  return value === null ? "–" : short(Number(value.toPrecision(3)));
}

/** @param {Experiment} experiment */
function trainingsPanel({ folds }) {
  /** @type {Column<Training>[]} */ const columns = [
    { label: "Method", value: ({ method }) => method },
    ...(folds.length ? [{ label: "Fold", number: true, value: (/** @type {Training} */ { fold }) => fold }] : []),
    {
      label: "Loss",
      value: ({ loss }) => valueLabel(loss),
      cell: ({ loss, ...training }) =>
        h("span", { title: JSON.stringify({ ...Object(loss), ...hyperparametersOf(training) }) }, valueLabel(loss)),
    },
    {
      label: "Status",
      value: ({ status }) => status,
      cell: ({ status, shared, problem }) => [
        statusBadge(status, status, problem?.detail),
        shared && h("span.tag.plain", { title: "The job existed already" }, "shared"),
      ],
    },
    numberColumn("Main metric", ({ value }) => value, metric),
    {
      label: "Job",
      value: ({ job_id: job }) => job,
      cell: ({ job_id: job }) => job && h("a", { href: jobPage(job), title: job }, "Open job page"),
    },
  ];
  /** @type {string[]} */ let varied = [];
  /** Return the settings that differ between the trainings. @param {Training} training */
  const settings = (training) =>
    varied
      .filter((name) => name in hyperparametersOf(training))
      .map((name) => `${LABELS[name] ?? name} ${valueLabel(hyperparametersOf(training)[name])}`)
      .join(", ");
  columns.splice(-3, 0, {
    label: "Settings that differ",
    value: settings,
    cell: (row) => h("span.wrap", settings(row)),
  });
  const table = sortableTable(columns, { label: "Trainings", first: FIRST_ROWS });
  const node = panel("Trainings", table.node);
  node.hidden = true;
  const itemsOf = (/** @type {Training[]} */ items) => items;
  return livePart(node, itemsOf, (items) => {
    varied = differing(items);
    node.hidden = items.length === 0;
    table.show(items);
  });
}

/**
 * Return the hyperparameters of trees, or those of another scorer.
 * @param {Pick<Training, "hyperparameters" | "scorer">} training @returns {Record<string, Json>}
 */
function hyperparametersOf({ hyperparameters, scorer }) {
  return { ...Object(hyperparameters), ...Object(scorer) };
}

/** Return the names of hyperparameters that differ between trainings. @param {Training[]} items */
function differing(items) {
  const all = items.map(hyperparametersOf);
  const names = [...new Set(all.flatMap((one) => Object.keys(one)))];
  return names.filter((name) => new Set(all.map((one) => JSON.stringify(one[name]))).size > 1);
}

/** Return the buttons to cancel, resume and delete the experiment. */
function experimentActions() {
  const node = h("div.actions");
  const failure = h("div.study-failure");
  const remove = deleteButton("experiments", id);
  const button = actionButtons(failure, () => pollNow());

  async function cancel() {
    const sure = await confirmed("Cancel this experiment?", "Cancel the experiment", [
      "Its trainings are stopped, except those that another experiment needs. The experiment can be resumed.",
    ]);
    if (sure) await request(experimentApi(id, "/cancel"), { method: "POST" });
  }

  const stateOf = (/** @type {Experiment} */ { status, counts }) => {
    return { status, isIncomplete: counts.succeeded < trainingCount(counts) };
  };
  const part = livePart(node, stateOf, ({ status, isIncomplete }) => {
    const resumable = status === "failed" || status === "cancelled" || (status === "succeeded" && isIncomplete);
    replace(node, [
      resumable && button("Resume", () => request(experimentApi(id, "/resume"), { method: "POST" }), "primary"),
      isRunning({ status }) ? button("Cancel", cancel, "danger quiet") : remove,
    ]);
  });
  return { ...part, failure };
}
