/**
 * How far a job is, in words.
 * @module
 */
import { modelPage, rankingPage } from "../page/addresses.js";
import { count, duration, percent, size } from "../page/format.js";

/**
 * @typedef {object} Job
 * @property {string} id
 * @property {string} kind
 * @property {string} kind_label the kind for people
 * @property {string} title what it makes, measures or moves
 * @property {"queued" | "running" | "succeeded" | "failed" | "cancelled"} status
 * @property {Record<string, any>} spec
 * @property {{phase: string, iteration: number, total: number, eta_seconds: number | null} | null} progress
 * @property {Record<string, Record<string, number | null>> | null} metrics
 * @property {{name: string, data: string, value: number} | null} main_metric
 * @property {Record<string, string>} dataset_names by id, without those that were deleted
 * @property {Record<string, any> | null} result
 * @property {{title: string, detail: string} | null} problem
 * @property {number} attempt
 * @property {import("./attempts.js").Attempt[]} [attempts]
 * @property {"low" | "normal" | "high"} [priority]
 * @property {number | null} [resumable_from]
 * @property {{seconds: number | null, memory_bytes: number | null} | null} [limits]
 * @property {boolean} cancel_requested
 * @property {string} created_at
 * @property {string | null} started_at
 * @property {string | null} finished_at
 */

/** @param {Job} job */
export function isActive(job) {
  return job.status === "queued" || job.status === "running";
}

/** Whether it grows trees. @param {Job} job */
export function trains(job) {
  return job.kind === "train" || job.kind === "reproduce";
}

/** Where what the job found is shown, null where it found nothing yet. @param {Job} job @returns {{href: string, label: string} | null} */
export function resultLink(job) {
  const { comparison_id: comparison, evaluation_id: evaluation, inspection_id: inspection, ranking_id: ranking } = job.result || {};
  if (comparison) return { href: `/comparisons/${encodeURIComponent(comparison)}`, label: "Comparison" };
  if (inspection) return { href: `${modelPage(job.spec.model_id)}#by=permutation&inspection=${encodeURIComponent(inspection)}`, label: "Inspection" };
  if (evaluation) return { href: `/evaluations/${encodeURIComponent(evaluation)}`, label: "Evaluation" };
  return ranking ? { href: rankingPage(ranking), label: "Ranking" } : null;
}

/** What a job found that makes nothing to look at. @param {Job} job @returns {string | null} */
export function foundWords({ kind, result }) {
  if (!result) return null;
  if (kind === "promote") return `${result.sentence}.`;
  if (kind !== "reproduce") return null;
  const changed = (result.differences || []).map(({ what, then, now }) => `${what} ${then} then, ${now} now`);
  const stored = result.stored_sha256 !== result.expected_sha256 && "the stored text is not what was stored";
  const words = [result.equal ? "The same bytes came out" : "Other bytes came out", ...changed, stored].filter(Boolean);
  return `${words.join("; ")}.`;
}

/** @param {Job} job */
export function statusWord(job) {
  return isActive(job) && job.cancel_requested ? "cancelling" : job.status;
}

/** What is unusual about how it waits and runs: "high priority", "resumed". @param {Job} job */
export function marks(job) {
  const tried = job.attempts?.length || job.attempt;
  const resumed = job.attempts?.at(-1)?.resumed_from;
  return [
    job.priority && job.priority !== "normal" && `${job.priority} priority`,
    resumed ? "resumed" : tried > 1 && (isActive(job) ? `attempt ${tried}` : `${tried} attempts`),
  ].filter(Boolean);
}

/** @param {Job} job @returns {{seconds?: number | null, memory_bytes?: number | null}} */
export function limitsOf(job) {
  return job.limits || job.spec?.limits || {};
}

/** "at most 1 h and 2.0 GB" or nothing. @param {Job} job */
export function limitWords(job) {
  const { seconds, memory_bytes: bytes } = limitsOf(job);
  const words = [seconds && duration(seconds), bytes && size(bytes)].filter(Boolean);
  return words.length > 0 ? `at most ${words.join(" and ")}` : "";
}

/** The dataset that the job is about. @param {Job} job */
export function datasetOf(job) {
  return job.spec?.dataset_id || job.result?.dataset_id || null;
}

// Phases whose steps are good for their share alone.
const SHARED = new Set(["reading", "binning"]);

/**
 * Whether the present phase counts its steps. A training carries its last count along while it stores
 * and evaluates the model.
 * @param {Job} job
 */
export function isCounting(job) {
  return job.progress?.total > 0 && (!trains(job) || job.progress.phase === "training" || SHARED.has(job.progress.phase));
}

/** "37%" or "120 of 500". @param {Job} job */
function stepsWords({ kind, progress: { phase, iteration, total } }) {
  return kind === "ingest" || SHARED.has(phase) ? percent(iteration, total) : `${count(iteration)} of ${count(total)}`;
}

/** "training · 120 of 500 · 14 s left". @param {Job} job */
export function progressWords(job) {
  if (job.status === "queued") return waitingWords(job);
  if (job.status !== "running") return "";
  const progress = job.progress;
  if (!progress) return "starting";
  const words = [progress.phase];
  if (isCounting(job)) words.push(stepsWords(job));
  if (typeof progress.eta_seconds === "number") words.push(`${duration(progress.eta_seconds)} left`);
  return words.join(" · ");
}

/** @param {Job} job */
function waitingWords({ attempt, attempts, resumable_from: from }) {
  if (from) return `waiting to go on from iteration ${count(from)}`;
  return attempt > 0 || attempts?.length > 0 ? "waiting to start again" : "waiting for a worker";
}

/** "stopped early at 112 of 500 · took 41 s", for a job that has ended. @param {Job} job */
export function outcomeWords(job) {
  const words = [];
  const { iteration = 0, total = 0 } = job.progress || {};
  if (trains(job) && total > 1) {
    const early = job.status === "succeeded" && iteration < total;
    words.push(`${early ? "stopped early at " : ""}${count(iteration)} of ${count(total)} iterations`);
  }
  if (job.started_at && job.finished_at) {
    const started = job.attempts?.[0]?.started_at || job.started_at;
    const seconds = (Date.parse(job.finished_at) - Date.parse(started)) / 1000;
    const attempts = job.attempts?.length > 1 ? ` over ${count(job.attempts.length)} attempts` : "";
    words.push(`took ${seconds < 1 ? "under 1 s" : duration(seconds)}${attempts}`);
  }
  return words.join(" · ") || "did not start";
}

/** The training loss stands among the metrics of the training data under this name; it is not a metric. */
export const LOSS = "loss";
