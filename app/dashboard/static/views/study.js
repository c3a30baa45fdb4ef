/** `/studies/{id}`: one study, kept current: its trials, its settings and its conclusion. @module */
import { signed } from "../evaluation/verdict.js";
import { datasetName } from "../datasets/dataset.js";
import { bars, tileList } from "../figures/marks.js";
import { comparisonPage, datasetApi, datasetPage, jobPage, modelPage, pageObjectId, studyApi } from "../page/paths.js";
import { conditionalReader, get, getAll } from "../page/api.js";
import { failureBox, helpLink, latestReader, showMissing, showOnly } from "../page/content.js";
import { announce, changeDetector, elementById, h, replace, setAttribute, setText } from "../page/dom.js";
import { dataTable, hint, livePart, metaLine, numberHeads, panel, problemBox } from "../page/parts.js";
import {
  briefDuration,
  count,
  counted,
  duration,
  metric,
  percent,
  pValue,
  timeElement,
  joined,
} from "../page/format.js";
import { poll } from "../page/poll.js";
import { studyActions } from "../studies/actions.js";
import { historyFigure, parallelFigure, slicesFigure, timelineFigure } from "../studies/figures.js";
import {
  bestLabel,
  finished,
  isRunning,
  metricOf,
  parameterName,
  validationLabel,
  valueLabel,
} from "../studies/labels.js";
import { trialsPanel } from "../studies/trials.js";

const id = pageObjectId();
const container = elementById("study");
const read = conditionalReader();
const readTrials = trialsReader();
const actions = studyActions(id, () => pollNow());
/** @type {((study: Study, trials: Trial[]) => void) | null} */
let view = null;
let lastStatus = "";
/** @type {Study | null} */ let shown = null;
/** @type {Trial[]} */ let trials = [];

const pollNow = poll(refresh, (problem) => showMissing(container, problem, { noun: "study", id, list: "/studies" }));

/** @param {boolean} mayDiffer */
async function refresh(mayDiffer) {
  const study = await read(studyApi(id));
  if (mayDiffer || study !== shown) trials = await readTrials();
  shown = study;
  view ??= await build(study);
  view(study, trials);
  if (lastStatus && lastStatus !== study.status) announce(`${study.name}: ${study.status}.`);
  lastStatus = study.status;
  return isRunning(study) || study.counts.queued + study.counts.running > 0;
}

/** Return a reader of all trials, page by page; pages that did not change are not sent again. */
function trialsReader() {
  /** @type {ReturnType<typeof conditionalReader>[]} */
  const readers = [];
  return async () => {
    let index = 0;
    const path = studyApi(id, "/trials?limit=1000");
    return getAll(path, (address) => (readers[index++] ??= conditionalReader())(address));
  };
}

/** Draw the page without its changing parts, and return the function that updates them. @param {Study} first */
async function build(first) {
  const status = h("span.status");
  const progress = h("div.study-progress");
  const conclusion = h("div.view");
  const history = historyFigure();
  const figures = [parallelFigure(), slicesFigure(), timelineFigure()];
  const importance = importancePanel();
  const table = trialsPanel(first);
  const dataset = await datasetOf(first.dataset_id);
  showOnly(container, [
    h("div.page-head", h("div.job-heading", h("h1", first.name), status), actions.node),
    metaLine(
      [`Study of ${first.model_name} on `, h("a.quiet-link", { href: datasetPage(first.dataset_id) }, dataset)],
      timeElement(first.created_at),
      h("code", first.id),
    ),
    actions.failure,
    progress,
    conclusion,
    history.node,
    importance.node,
    ...figures.map(({ node }) => node),
    table.node,
    settingsPanel(first),
  ]);
  const [isNew, isNewConclusion, areNew] = [changeDetector(), changeDetector(), changeDetector()];
  return (/** @type {Study} */ study, /** @type {Trial[]} */ trials) => {
    document.title = `${study.name}: ${study.status} · Rankery`;
    setText(status, study.status);
    setAttribute(status, "data-status", study.status);
    actions.update(study, trials);
    if (isNew([study, trials])) showProgress(progress, study, trials);
    if (isNewConclusion([study.status, study.problem, study.conclusion]))
      replace(conclusion, study.problem && problemBox(study.problem), conclusionPanel(study));
    if (!areNew(trials)) return;
    history.update(study, trials);
    for (const figure of figures) figure.update(study, trials);
    table.update(study, trials);
    importance.update(finished(trials).length);
  };
}

/** @param {string} dataset */
async function datasetOf(dataset) {
  return get(datasetApi(dataset)).then(
    ({ name }) => name,
    () => datasetName(dataset),
  );
}

/** @param {HTMLElement} node @param {Study} study @param {Trial[]} trials */
function showProgress(node, study, trials) {
  const { counts, budget, best, default: standard } = study;
  const ended = counts.succeeded + counts.pruned + counts.failed + counts.cancelled;
  const seconds = trials.reduce((sum, trial) => sum + (trial.seconds ?? 0), 0);
  const gain = best && standard ? best.value - standard.value : null;
  replace(node, [
    tileList([
      [
        "Trials",
        `${count(ended)} of ${count(budget.trials)}`,
        counts.running ? `${counted(counts.running, "running", "running")}` : null,
      ],
      ["Pruned", ended ? percent(counts.pruned, ended) : "–", counts.failed ? `${count(counts.failed)} failed` : null],
      [`Best ${metricOf(study)}`, best ? metric(best.value) : "–", best && `trial ${best.number}`],
      [
        "Default",
        standard ? metric(standard.value) : "–",
        gain !== null && (gain ? `best is ${signed(gain)}` : "is the best"),
      ],
      ["Time of trials", seconds ? briefDuration(seconds) : "–", `${study.parallel_trials} at a time`],
    ]),
    isRunning(study) &&
      h("progress", { max: budget.trials, value: Math.min(ended, budget.trials), "aria-label": "Trials that ended" }),
  ]);
}

/** Show the conclusion, best against default. @param {Study} study */
function conclusionPanel(study) {
  const { conclusion } = study;
  if (!conclusion) {
    if (study.status !== "concluding") return null;
    const words =
      "The best trial and the default are trained again, without held-out queries, and compared on the test data.";
    return h("section.finding-panel", { "aria-label": "Conclusion" }, h("p.sentence", words));
  }
  const { held_out: held, cross_validated: validated, verdict } = conclusion;
  const objective = `${validationLabel(study)}; optimistic for the best of ${counted(study.counts.asked, "trial")}`;
  const rows = [
    { ...held, name: "Held-out queries", note: heldLabel(held) },
    { ...validated, name: "Objective", note: objective },
  ];
  return h("section.finding-panel", { "data-verdict": verdict.replace("-", " "), "aria-label": "Conclusion" }, [
    h("h2", "Best against default ", helpLink("how-to/studies/", "Studies")),
    h("p.sentence", conclusion.sentence),
    conclusion.default_model !== conclusion.winner_model &&
      dataTable(
        "Best against default",
        ["", numberHeads(`trial ${conclusion.winner_number}`, "default", "difference")],
        rows,
        ({ name, note, winner, default: standard }) => [
          [name, h("small", note)],
          h("strong", metric(winner)),
          metric(standard),
          winner !== null && standard !== null ? signed(winner - standard) : "–",
        ],
        { class: "against" },
      ),
    h("p.actions", [
      conclusion.comparison_id && h("a.button", { href: comparisonPage(conclusion.comparison_id) }, "Comparison"),
      h("a.button.quiet", { href: modelPage(conclusion.winner_model) }, `Winner: ${conclusion.winner_model}`),
      conclusion.default_model !== conclusion.winner_model &&
        h("a.button.quiet", { href: modelPage(conclusion.default_model) }, `Default: ${conclusion.default_model}`),
      conclusion.promoted && h("span.hint", conclusion.promoted),
    ]),
  ]);
}

/** @param {Schemas["HeldOutValues"]} held */
function heldLabel({ interval, p_value: p, queries }) {
  return joined(
    [
      queries !== null && counted(queries, "query", "queries"),
      interval && `95% interval ${interval.map((end) => signed(end)).join(" to ")}`,
      p !== null && `p ${pValue(p)}`,
    ],
    ", ",
  );
}

/** Return the panel of the importance of the parameters. */
function importancePanel() {
  const body = h("div.importance");
  const node = panel("Importance of parameters", body);
  node.hidden = true;
  const read = latestReader(body, (error, retry) => {
    node.hidden = false;
    replace(body, failureBox(error, retry));
  });
  return livePart(
    node,
    (/** @type {number} */ trials) => trials,
    (trials) => trials >= 5 && read(() => get(studyApi(id, "/importance")), show),
  );

  /** @param {Schemas["StudyImportance"]} importance */
  function show({ importances, trials }) {
    const entries = Object.entries(importances).sort(([, one], [, other]) => other - one);
    node.hidden = entries.length === 0;
    replace(body, [
      bars(
        "Share of each parameter",
        entries.map(([pointer, share]) => [parameterName(pointer), share]),
        (share) => percent(share, 1),
      ),
      hint(
        `PED-ANOVA over ${counted(trials, "trial")}: how the best tenth of the trials differ from all of them. Other methods may disagree, and few trials are weak evidence.`,
      ),
    ]);
  }
}

/** Show the settings of a study. @param {Study} study */
function settingsPanel(study) {
  const { base, sampler, pruner, budget, seed, jobs, test, test_dataset_id: testDataset } = study;
  const space = Object.entries(/** @type {Record<string, any>} */ (study.search_space));
  /** @param {string} name @param {Children} value @returns {HTMLElement[]} */
  const entry = (name, value) => [h("dt", name), h("dd", value)];
  const bounds = [
    counted(budget.trials, "trial"),
    budget.seconds !== null && duration(budget.seconds),
    budget.patience !== null && `${counted(budget.patience, "trial")} without a new best`,
  ];
  return panel("Settings", [
    h("dl.study-question", [
      ...entry("Objective", `${metricOf(study)}, ${validationLabel(study)}`),
      ...entry(
        "Final test",
        testDataset ? h("a", { href: datasetPage(testDataset) }, datasetName(testDataset)) : heldOutLabel(test),
      ),
      ...entry("Base", valueLabel(base.loss)),
      ...space.flatMap(([pointer, dimension]) => entry(parameterName(pointer), rangeLabel(dimension))),
      ...entry("Sampler, pruner", `${sampler}, ${pruner}; seed ${seed}`),
      ...entry("Budget", joined(bounds, ", or ")),
      ...entry("Best so far", bestLabel(study.best)),
      ...Object.entries(jobs).flatMap(([name, job]) =>
        job ? entry(`Job: ${name}`, h("a", { href: jobPage(job), title: job }, "Open job page")) : [],
      ),
    ]),
  ]);
}

/** @param {Record<string, unknown> | null} test */
function heldOutLabel(test) {
  if (!test) return "no held-out queries";
  return "fraction" in test
    ? `${percent(Number(test.fraction), 1)} of the queries, which no trial uses`
    : `held-out queries: ${Object.entries(test)
        .map(([name, value]) => `${name} ${value}`)
        .join(", ")}`;
}

/** @param {{type: string, low: number, high: number, log?: boolean, step?: number | null, choices: Json[], when?: Record<string, Json[]>}} dimension */
function rangeLabel({ type, low, high, log, step, choices, when }) {
  const range =
    type === "choice"
      ? choices.map(valueLabel).join(", ")
      : `${valueLabel(low)} to ${valueLabel(high)}${log ? ", log scale" : ""}${step ? `, in steps of ${step}` : ""}`;
  const conditions = Object.entries(when ?? {}).map(
    ([pointer, values]) => `${parameterName(pointer)} is ${values.map(valueLabel).join(" or ")}`,
  );
  return conditions.length ? `${range}, where ${conditions.join(" and ")}` : range;
}
