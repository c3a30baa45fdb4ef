/** Details of a job: problem, learning curve, candidates, metrics, times and diagnostics. @module */
import { evaluationApi } from "../page/paths.js";
import { intervalLabel } from "../figures/whiskers.js";
import { historyReader, learningCurve, metricsOf, TIME_PARTS } from "./curves.js";
import { foldsTable } from "./folds.js";
import { hasClickResult, outcomeDetail, isActive, iterationWord, LOSS, problemHint, trains } from "./labels.js";
import { get, isFinal } from "../page/api.js";
import { changeDetector, h, replace } from "../page/dom.js";
import { dataTable, hint, livePart, notLoaded, numberHeads, problemBox } from "../page/parts.js";
import { count, counted, lossValue, metric, milliseconds, joined } from "../page/format.js";

/**
 * @param {string} word noun of an iteration, such as epoch
 * @returns {{node: HTMLElement, update: (history: LearningCurves) => void}} hidden while no times were recorded
 */
function iterationTimes(word) {
  const bar = h("div.stacked-bar", { role: "img" });
  const legend = h("ul.legend");
  const note = hint();
  const node = h("section.iteration-times", { "aria-label": `Time of an ${word}`, hidden: true }, [
    h("div.iteration-times-head", h("h3", `Time of an ${word}`), note),
    bar,
    legend,
  ]);
  /** @type {LearningCurves | null} */ let shown = null;

  /** @param {LearningCurves} history */
  function update(history) {
    if (history === shown) return;
    shown = history;
    const means = meanTimes(history);
    node.hidden = !means;
    if (!means) return;
    const { first, last, parts } = means;
    bar.setAttribute(
      "aria-label",
      `Mean time of an ${word}: ${parts.map(({ name, time }) => `${name} ${milliseconds(time)}`).join(", ")}.`,
    );
    replace(bar, ...parts.map(segment));
    replace(
      legend,
      parts.map((part) =>
        h("li", { "data-part": part.name, title: TIME_PARTS[part.name] }, [
          `${part.name} `,
          h("strong", milliseconds(part.time)),
        ]),
      ),
    );
    const total = parts.reduce((sum, { time }) => sum + time, 0);
    const which = first === last ? `${word} ${count(last)}` : `${word}s ${count(first)} to ${count(last)}`;
    replace(note, `${milliseconds(total)} in total; means of ${which}.`);
  }
  return { node, update };
}

/** @typedef {{name: string, time: number}} TimePart milliseconds */
/** @typedef {{first: number, last: number, parts: TimePart[]}} MeanTimes of the iterations from first to last */

/**
 * Return the mean time of an iteration by part, without parts that were never recorded. A measurement is weighted by the
 * number of iterations since the previous measurement.
 * @param {Pick<LearningCurves, "iterations" | "milliseconds">} history
 * @returns {MeanTimes | null} null while nothing was recorded
 */
export function meanTimes({ iterations, milliseconds: times }) {
  const recorded = Object.keys(TIME_PARTS).filter((name) => times[name]?.some((time) => time !== null));
  const rows = iterations
    .map((iteration, index) => ({ index, iteration, before: iterations[index - 1] ?? 0 }))
    .filter(({ index }) => recorded.some((name) => times[name][index] !== null));
  // The first iteration also prepares the data.
  const averaged = rows.length > 1 ? rows.slice(1) : rows;
  if (averaged.length === 0) return null;
  const total = averaged.reduce((sum, { iteration, before }) => sum + iteration - before, 0);
  const parts = recorded.map((name) => ({
    name,
    time: averaged.reduce((sum, row) => sum + (times[name][row.index] ?? 0) * (row.iteration - row.before), 0) / total,
  }));
  return { first: averaged[0].before + 1, last: averaged[averaged.length - 1].iteration, parts };
}

/** Return a segment whose width is in proportion to its time. @param {TimePart} part */
function segment({ name, time }) {
  const node = h("span", { "data-part": name });
  node.style.setProperty("flex-grow", String(1000 * time));
  return node;
}

/** @typedef {[part: string, label: string]} Part */

/** @type {Part[]} */ const PARTS = [
  ["train", "Train"],
  ["validation", "Validation"],
  ["test", "Test"],
];

/** Return the table of metrics, with the intervals of the evaluation once it is read. */
function metricsTable() {
  const body = h("div", hint("Reading the metrics…"));
  const node = h("section.metrics", { "aria-label": "Metrics" }, h("h3", "Metrics"), body);
  /** @param {Job} job @param {Evaluation | null} evaluation */
  const stateOf = ({ metrics, status }, evaluation) => [metrics, evaluation?.id, status];
  return livePart(node, stateOf, (_, job, evaluation) => replace(body, ...content(job, evaluation)));
}

/** @param {Job} job @param {Evaluation | null} evaluation */
function content(job, evaluation) {
  const metrics = job.metrics || {};
  const intervals = evaluation?.metrics || {};
  const parts = PARTS.filter(([part]) => metrics[part] && !(part === "test" && evaluation));
  const known = new Set([...parts.flatMap(([part]) => Object.keys(metrics[part])), ...Object.keys(intervals)]);
  known.delete(LOSS);
  if (known.size === 0) {
    return [hint(isActive(job) ? "No metrics yet." : "No metrics were recorded.")];
  }
  const requested = (job.spec?.metrics || []).filter((name) => known.has(name));
  const names = [...new Set([...requested, ...known])];
  const heads = [
    ...parts.map(([, label]) => label),
    ...(evaluation ? [`${job.kind === "train" ? "Test" : "Mean"}, 95% interval`] : []),
  ];
  return [
    dataTable("Metrics by data", ["Metric", numberHeads(...heads)], names, (name) => [
      name,
      ...parts.map(([part]) => metric(metrics[part][name])),
      ...(evaluation ? [testedCell(intervals[name])] : []),
    ]),
    footnote(job, intervals, names),
    trainingLoss(job),
  ];
}

/** @param {Schemas["MetricSummary"] | null} summary */
function testedCell(summary) {
  const interval = intervalLabel(summary);
  return h("td.number.tested", h("strong", metric(summary?.mean)), interval && h("small", interval));
}

/** @param {Job} job */
function partsLabel(job) {
  if (job.spec?.scorer?.kind === "sum") return "";
  if (job.result?.cross_validation)
    return "Train: the model trained on all folds. Validation: all queries, each with a model that was not trained on it.";
  return `Train${job.metrics?.validation ? " and validation" : ""} at the best ${iterationWord(job)}.`;
}

/** @param {Job} job @param {Evaluation["metrics"]} intervals @param {string[]} names */
function footnote(job, intervals, names) {
  const summary = intervals[names.find((name) => intervals[name]) ?? ""];
  const skipped = summary?.skipped ? `; ${count(summary.skipped)} on which it is undefined were left out` : "";
  const sentences = [
    job.kind === "train" && job.status === "succeeded" && partsLabel(job),
    summary &&
      `${job.kind === "train" ? "Test mean" : "Mean"} over ${counted(summary.queries, "query", "queries")} with its 95% interval${skipped}.`,
  ];
  const words = joined(sentences);
  return words && hint(words);
}

/** Show the training loss, which has no counterpart in the other parts. @param {Job} job */
function trainingLoss(job) {
  const value = job.metrics?.train?.[LOSS];
  if (typeof value !== "number") return null;
  const when = job.status === "succeeded" ? `at the best ${iterationWord(job)}` : "at the last measurement";
  return hint(`Training loss ${when}: `, h("span.training-loss", lossValue(value)));
}

/**
 * Return the view of a result that only this kind of job has. Few jobs have one, so its script is loaded on demand.
 * @param {Job} job @returns {Promise<{node: HTMLElement, update: (job: Job) => Promise<void> | void} | null>}
 */
async function kindResult(job) {
  if (job.kind === "auto-train") return (await import("../autotrain/leaderboard.js")).leaderboard(job);
  return hasClickResult(job) ? (await import("../clicks/results.js")).clickResult() : null;
}

/** @param {Job} job */
async function diagnosticsOf({ kind, spec }) {
  if (kind !== "train" || !spec?.diagnostics) return null;
  return (await import("../evaluation/diagnostics.js")).diagnosticsCurve();
}

/**
 * Details of a job, for an opened row and the job page: problem, learning curve, metrics, times, diagnostics.
 * @param {Job} first
 * @returns {{node: HTMLElement, update: (job: Job) => Promise<void>}}
 *   update: fetches the data for the job's state; the data of a job that has ended is fetched once
 */
export function jobDetail(first) {
  const problem = h("div.job-problem");
  const curve = trains(first) ? learningCurve() : null;
  const times = trains(first) ? iterationTimes(iterationWord(first)) : null;
  const folds = trains(first) ? foldsTable() : null;
  const table = trains(first) || first.kind === "evaluate" ? metricsTable() : null;
  const later = Promise.all([kindResult(first).catch(notLoaded), diagnosticsOf(first).catch(notLoaded)]);
  const resultContainer = h("div", { hidden: true });
  const diagnosticsContainer = h("div", { hidden: true });
  const node = h("div.job-detail", [
    problem,
    (curve || table) && h("div.curve-and-metrics", curve?.node, table?.node),
    resultContainer,
    folds?.node,
    times?.node,
    diagnosticsContainer,
  ]);
  const readHistory = historyReader(first.id);
  /** @type {Evaluation | null} */ let evaluation = null;
  let lastReadStatus = "";
  const hasChanged = changeDetector();

  /** @param {Job} job */
  async function update(job) {
    const advice = problemHint(job);
    const outcome = outcomeDetail(job);
    if (hasChanged([job.problem, advice, outcome]))
      replace(problem, job.problem && problemBox(job.problem), advice && hint(advice), outcome && h("p", outcome));
    if (lastReadStatus === job.status && !isActive(job)) return;
    try {
      await read(job);
    } catch (error) {
      // A refused request for one job must not end the polling of all jobs.
      if (!isFinal(error)) throw error;
      if (hasChanged(error.message)) replace(problem, problemBox(error));
    }
    lastReadStatus = job.status;
  }

  /** @param {Job} job */
  async function read(job) {
    const [result, diagnostics] = await later;
    if (result) resultContainer.replaceWith(result.node);
    if (diagnostics) diagnosticsContainer.replaceWith(diagnostics.node);
    if (curve) {
      const history = await readHistory(job);
      curve.update(job, history);
      curve.node.hidden = metricsOf(history).length === 0 && !isActive(job);
      times?.update(history);
      await diagnostics?.update(history);
    }
    await result?.update(job);
    folds?.update(job);
    const id = job.result?.evaluation_id;
    if (table && id && !evaluation) evaluation = await get(evaluationApi(id));
    table?.update(job, evaluation);
  }
  return { node, update };
}
