/** Learning curves of a job, fetched as they grow. @module */
import { jobApi } from "../page/paths.js";
import { metricTabs } from "../evaluation/metrics.js";
import { figureView } from "../figures/figure.js";
import { isActive, iterationWord, LOSS } from "./labels.js";
import { conditionalReader } from "../page/api.js";
import { h, setAttribute, setText } from "../page/dom.js";
import { count, lossValue, metric } from "../page/format.js";

/** @typedef {Record<string, (number | null)[]>} Values */

/**
 * Return a reader of a job's learning curves, which fetches them as they grow.
 * @param {string} jobId
 * @returns {(job: Job) => Promise<LearningCurves>} requests only the new iterations, but all of a
 *   cross-validation and of a job that has ended
 */
export function historyReader(jobId) {
  const read = conditionalReader();
  let history = emptyHistory();
  let attempt = -1;
  /** @type {Schemas["JobHistory"] | null} */ let latestResponse = null;
  return async (job) => {
    if (job.attempt !== attempt) {
      // A new attempt may start from the first iteration, so that the earlier curves no longer apply.
      history = emptyHistory();
      attempt = job.attempt;
      latestResponse = null;
    }
    const after = (!changesEarlierIterations(job) && history.iterations.at(-1)) || 0;
    const more = await read(jobApi(jobId, `/history?after=${after}`));
    if (more === latestResponse) return history;
    latestResponse = more;
    history = changesEarlierIterations(job) ? extend(emptyHistory(), more) : extend(history, more);
    return history;
  };
}

/**
 * Return a reader of the learning curves of several jobs, with one request for the new iterations of all jobs whose end
 * was not read yet.
 * @returns {(jobs: Job[]) => Promise<Map<string, LearningCurves>>} by the job's id
 */
export function historiesReader() {
  const read = conditionalReader();
  /** @type {Map<string, {attempt: number, ended: boolean, history: LearningCurves}>} */
  const known = new Map();
  return async (jobs) => {
    const open = jobs.filter(({ id }) => !known.get(id)?.ended);
    for (const job of open) if (changesEarlierIterations(job)) known.delete(job.id);
    const parameters = open.map(({ id }) => {
      const last = known.get(id)?.history.iterations.at(-1);
      return ["job", last ? `${id}:${last}` : id];
    });
    const { items } = parameters.length
      ? await read(`/v1/jobs/histories?${new URLSearchParams([...parameters, ["times", "true"]])}`)
      : { items: [] };
    for (const item of items) {
      const before = known.get(item.job_id);
      // A job that lost its worker may have restarted: the next request reads the whole history.
      if (before && before.attempt !== item.attempt) known.delete(item.job_id);
      else
        known.set(item.job_id, {
          attempt: item.attempt,
          ended: !before && !isActive(item),
          history: extend(before?.history ?? emptyHistory(), item),
        });
    }
    return new Map(jobs.map(({ id }) => [id, known.get(id)?.history ?? emptyHistory()]));
  };
}

/**
 * Check whether earlier iterations may have new values: those of each fold of a cross-validation, and metrics that a job
 * measures at its end.
 * @param {Job} job
 */
function changesEarlierIterations(job) {
  if (!isActive(job)) return true;
  const validation = job.spec?.validation;
  if (!validation || typeof validation !== "object") return false;
  return "fold_column" in validation || ("folds" in validation && !("fold" in validation));
}

/** @returns {LearningCurves} */
const emptyHistory = () => ({ best_iteration: null, iterations: [], curves: {}, milliseconds: {} });

/**
 * Append new iterations to a history; return the same object if there are none.
 * @param {LearningCurves} history @param {LearningCurves} more @returns {LearningCurves}
 */
function extend(history, more) {
  const last = history.iterations.at(-1) ?? 0;
  if (more.iterations.length === 0 && more.best_iteration === history.best_iteration) return history;
  if (more.iterations.length > 0 && more.iterations[0] <= last) return history;
  /** @param {Values} [before] @param {Values} [added] @returns {Values} */
  const join = (before = {}, added = {}) =>
    Object.fromEntries(
      namesOf(before, added).map((name) => [
        name,
        [...(before[name] || history.iterations.map(() => null)), ...(added[name] || more.iterations.map(() => null))],
      ]),
    );
  return {
    best_iteration: more.best_iteration,
    iterations: [...history.iterations, ...more.iterations],
    curves: Object.fromEntries(
      namesOf(history.curves, more.curves).map((part) => [part, join(history.curves[part], more.curves[part])]),
    ),
    milliseconds: join(history.milliseconds, more.milliseconds),
  };
}

/** @param {object} one @param {object} other */
const namesOf = (one, other) => [...new Set([...Object.keys(one), ...Object.keys(other)])];

/** Return the iterations at which a metric was measured on any data. @param {LearningCurves} history @param {string} name */
const measuredAt = ({ iterations, curves }, name) =>
  iterations.filter((_, index) => Object.values(curves).some((values) => typeof values[name]?.[index] === "number"));

/** Return the words below curves with fewer than two points, else "". @param {Job} job @param {number[]} iterations measured */
export function curveNote(job, iterations) {
  const word = iterationWord(job);
  const isOpen = isActive(job);
  if (!iterations.length) return isOpen ? `Waiting for the first ${word}.` : `No ${word} was recorded.`;
  if (iterations.length > 1) return "";
  return `Measured at ${word} ${count(iterations[0])} only${isOpen ? " so far" : ""}.`;
}

/** @returns {{node: HTMLElement, update: (job: Job, history: LearningCurves) => void}} */
export function learningCurve() {
  const tabs = metricTabs([], choose, "Metric or loss of the curve");
  const figure = figureView();
  const note = h("p.plot-note", "Reading the learning curve…");
  figure.node.hidden = true;
  const node = h("section.curve", { "aria-label": "Learning curve" }, [
    h("h3", "Learning curve"),
    tabs.node,
    figure.node,
    note,
  ]);
  let chosen = "";
  /** @type {Job | null} */ let job = null;
  /** @type {LearningCurves | null} */ let history = null;

  /** @param {Job} newJob @param {LearningCurves} newHistory */
  function update(newJob, newHistory) {
    const same = newHistory === history && newJob.status === job?.status;
    job = newJob;
    history = newHistory;
    if (!same) draw(newJob, newHistory);
  }

  /** @param {Job} job @param {LearningCurves} history */
  function draw(job, history) {
    const names = metricsOf(history);
    const word = iterationWord(job);
    const name = [chosen, job.main_metric?.name ?? ""].find((candidate) => names.includes(candidate)) ?? names[0];
    const words = curveNote(job, measuredAt(history, name));
    figure.node.hidden = names.length === 0;
    note.hidden = !words;
    note.className = names.length === 0 ? "plot-note" : "hint";
    setText(note, words);
    if (names.length === 0) return;
    tabs.show(name, names);
    figure.draw(curveFigure(history, name, word));
    setAttribute(figure.plot, "data-points", history.iterations.length);
  }

  /** @param {string} name */
  function choose(name) {
    chosen = name;
    if (job && history) draw(job, history);
  }
  return { node, update };
}

/** Curves of single folds are drawn up to this number of folds. */
const MAX_DRAWN_FOLDS = 20;

/** Return the names of the folds of a cross-validation. @param {object} measured values by part of the data */
export const foldsOf = (measured) => Object.keys(measured).filter((part) => part.toLowerCase().startsWith("fold"));

/** Return the names of the curves, the loss last. @param {LearningCurves} history */
export function metricsOf(history) {
  const names = new Set(["train", "validation"].flatMap((part) => Object.keys(history.curves[part] || {})));
  return [...names].sort((one, other) => Number(one === LOSS) - Number(other === LOSS));
}

/** Parts of an iteration's time by the API's names, in drawing order. @type {Record<string, string>} */
export const TIME_PARTS = {
  tree: "LightGBM's work on the tree, without the loss",
  network: "The network's scores, gradients and steps",
  objective: "The loss and its gradient",
  metrics: "Measuring on training and validation data",
  diagnostics: "The requested diagnostics",
};

/** Return the iterations at which a quantity was measured, with its values. @param {number[]} iterations @param {(number | null)[]} values */
export function measuredPoints(iterations, values) {
  const at = values.flatMap((value, index) => (typeof value === "number" ? [index] : []));
  return { x: at.map((index) => iterations[index]), y: at.map((index) => values[index]) };
}

/** Return the horizontal axis of curves by iteration. @param {string} [word] noun of an iteration, such as epoch */
export const iterationAxis = (word = "iteration") => ({ title: word, zero: true, whole: true, format: count });

/**
 * Return the curves of one metric, or of the loss.
 * @param {LearningCurves} history @param {string} name
 * @param {string} word noun of an iteration, such as epoch
 * @returns {Figure}
 */
function curveFigure(history, name, word) {
  /** @param {string} part @param {Partial<Series>} style @returns {Series[]} */
  const line = (part, style) =>
    history.curves[part]?.[name]
      ? [{ name: part, colour: "accent", x: history.iterations, y: history.curves[part][name], ...style }]
      : [];
  const folds = foldsOf(history.curves).filter((part) => history.curves[part][name]);
  const best = bestPoint(history, name);
  return {
    summary: summary(history, name, word),
    key: name,
    x: iterationAxis(word),
    y: { title: name, read: name === LOSS ? lossValue : metric },
    series: [
      ...line("train", { colour: "train", width: 1.5 }),
      ...(folds.length > MAX_DRAWN_FOLDS
        ? []
        : folds.flatMap((part) => line(part, { group: "folds", width: 1, opacity: 0.35 }))),
      ...line("validation", { width: 2.25 }),
      ...(best ? [bestMark(best, word)] : []),
    ],
  };
}

/** @param {{iteration: number, value: number}} best @param {string} word @returns {Series} */
function bestMark({ iteration, value }, word) {
  const name = `best, ${word} ${iteration}`;
  return { name, kind: "points", colour: "best", x: [iteration], y: [value], size: 5, upright: true, quiet: true };
}

/** @param {LearningCurves} history @param {string} name */
function bestPoint(history, name) {
  const iteration = history.best_iteration;
  const at = iteration ? history.iterations.indexOf(iteration) : -1;
  const value = (history.curves.validation?.[name] || history.curves.train?.[name])?.[at];
  return iteration && typeof value === "number" ? { iteration, value } : null;
}

/** @param {LearningCurves} history @param {string} name @param {string} word of an iteration */
function summary(history, name, word) {
  const words = name === LOSS ? lossValue : metric;
  const ends = ["train", "validation"]
    .filter((part) => history.curves[part]?.[name])
    .map((part) => `${part} ${words(history.curves[part][name].at(-1))}`);
  const best = bestPoint(history, name);
  const end = `Learning curve of ${name} over ${history.iterations.length} measurements: ${ends.join(", ")}`;
  return best ? `${end}; best at ${word} ${best.iteration} with ${words(best.value)}.` : `${end}.`;
}
