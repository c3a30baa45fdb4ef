/**
 * The learning curves of a job, fetched as they grow.
 * @module
 */
import { conditionalReader } from "../page/api.js";

/**
 * @typedef {object} History
 * @property {number | null} best_iteration
 * @property {number[]} iterations
 * @property {Record<string, Record<string, (number | null)[]>>} curves by part, then by metric
 * @property {Record<string, (number | null)[]>} milliseconds by what they were spent on
 */

/**
 * @param {string} jobId
 * @returns {(job: import("./job_labels.js").Job) => Promise<History>} asks for the iterations not yet known
 */
export function historyReader(jobId) {
  const read = conditionalReader();
  let history = emptyHistory();
  let attempt = -1;
  let seen = null;
  return async (job) => {
    if (job.attempt !== attempt) {
      // A job that lost its worker starts again from its first iteration.
      history = emptyHistory();
      attempt = job.attempt;
      seen = null;
    }
    const after = history.iterations.at(-1) ?? 0;
    const more = await read(`/v1/jobs/${encodeURIComponent(jobId)}/history?after=${after}`);
    if (more === seen) return history;
    seen = more;
    history = extend(history, more);
    return history;
  };
}

/** @returns {History} */
export function emptyHistory() {
  return { best_iteration: null, iterations: [], curves: {}, milliseconds: {} };
}

/** @returns {History} a new object where something is new, the old one otherwise */
function extend(history, more) {
  const last = history.iterations.at(-1) ?? 0;
  if (more.iterations.length === 0 && more.best_iteration === history.best_iteration) return history;
  if (more.iterations.length > 0 && more.iterations[0] <= last) return history;
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
    curves: Object.fromEntries(namesOf(history.curves, more.curves).map((part) => [part, join(history.curves[part], more.curves[part])])),
    milliseconds: join(history.milliseconds, more.milliseconds),
  };
}

function namesOf(one, other) {
  return [...new Set([...Object.keys(one), ...Object.keys(other)])];
}
