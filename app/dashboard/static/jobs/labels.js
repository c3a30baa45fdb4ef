/** Labels of jobs: status, progress, outcome, limits and hints. @module */
import { comparisonPage, driftPage, evaluationPage, modelPage, rankingPage } from "../page/paths.js";
import { count, duration, elapsed, percent, size, joined } from "../page/format.js";

/** @param {Pick<Job, "status">} job */
export const isActive = (job) => job.status === "queued" || job.status === "running";

/** Check whether a job is a training or a reproduction of one; trials of studies are not. @param {Job} job */
export const trains = (job) => job.kind === "train" || job.kind === "reproduce";

/** Check whether an interrupted job resumes from a checkpoint if it has one. @param {Job} job */
export const hasCheckpoints = (job) => trains(job) || job.kind === "trial";

/** Return "iteration" or "epoch". @param {{spec?: Job["spec"]}} job */
export const iterationWord = ({ spec }) => (trainsByEpochs(spec?.scorer?.kind) ? "epoch" : "iteration");

/** Return the heading of a column of iterations: "Trees" or "Epochs". @param {{spec?: Job["spec"]}} job */
export const iterationsHeading = (job) => (iterationWord(job) === "epoch" ? "Epochs" : "Trees");

/** Check whether a kind of scorer is trained by epochs. @param {string | null | undefined} kind */
export const trainsByEpochs = (kind) => kind === "linear" || kind === "mlp";

/** Results that have pages, the most specific first: the field of a job's result, the label and the page. */
const RESULTS = /** @type {const} */ ([
  ["drift_report_id", "Drift report", driftPage],
  ["comparison_id", "Comparison", comparisonPage],
  ["inspection_id", "Inspection", inspectionPage],
  ["evaluation_id", "Evaluation", evaluationPage],
  ["ranking_id", "Ranking", rankingPage],
]);

/** @param {string} id @param {Job} job */
function inspectionPage(id, { spec }) {
  return `${modelPage(spec.model_id ?? "")}#by=permutation&inspection=${encodeURIComponent(id)}`;
}

/** Return the link to the result of a job, null while there is none. @param {Job} job */
export function resultLink(job) {
  const links = RESULTS.map(([field, label, page]) => {
    const id = job.result?.[field];
    return id ? { href: page(id, job), label } : null;
  });
  return links.find((link) => link) ?? null;
}

/** Describe the result of a promotion or reproduction, which has no page. @param {Job} job @returns {string | null} */
export function outcomeDetail({ kind, result }) {
  if (!result) return null;
  if (kind === "promote") return `${result.sentence}.`;
  if (kind !== "reproduce") return null;
  const changed = (result.differences || []).map(({ what, then, now }) => `${what} ${then} then, ${now} now`);
  const isDamaged = result.stored_sha256 !== result.expected_sha256;
  const outcome = result.equal ? "The model file is identical" : "The model file differs";
  const words =
    isDamaged && result.sha256 === result.expected_sha256
      ? ["The missing or damaged model file was replaced", ...changed]
      : [outcome, ...changed, isDamaged && "the stored model has changed since"];
  return `${joined(words, "; ")}.`;
}

/** Return the errors and warnings among the findings of a job that succeeded. @param {Job} job */
export const errorsAndWarnings = ({ status, findings }) =>
  status === "succeeded" ? (findings ?? []).filter(({ severity }) => severity !== "info") : [];

/** Check whether a job succeeded with errors or warnings among its findings. @param {Job} job */
export const isDoubtful = (job) => errorsAndWarnings(job).length > 0;

/** @param {Job} job */
export const statusWord = (job) => (isActive(job) && job.cancel_requested ? "cancelling" : job.status);

/** Return marks of an unusual state: "high priority", "resumed". @param {Job} job */
export function marks(job) {
  const tried = job.attempts?.length || job.attempt;
  const resumed = job.attempts?.at(-1)?.resumed_from;
  return [
    job.priority && job.priority !== "normal" && `${job.priority} priority`,
    resumed ? "resumed" : tried > 1 && (isActive(job) ? `attempt ${tried}` : `${tried} attempts`),
  ].filter((words) => typeof words === "string");
}

/** "budget 5 min · at most 1 h and 2.0 GB" or nothing. @param {Job} job */
export function limitLabel(job) {
  const { seconds, memory_bytes: bytes } = job.spec.limits ?? { seconds: null, memory_bytes: null };
  const { budget_seconds: budget } = job.spec;
  const words = [seconds && duration(seconds), bytes && size(bytes)].filter(Boolean);
  return joined(
    [budget && `budget ${duration(Number(budget))}`, words.length > 0 && `at most ${words.join(" and ")}`],
    " · ",
  );
}

/** Phases whose steps are shown as a percentage. */
const SHOWN_AS_SHARE = new Set(["reading", "binning"]);

/** Check whether the current phase counts its steps; later phases keep the last count. @param {Job} job */
export function isCounting(job) {
  return (
    (job.progress?.total ?? 0) > 0 &&
    (!trains(job) || job.progress?.phase === "training" || SHOWN_AS_SHARE.has(job.progress?.phase ?? ""))
  );
}

/** "37%", "120 of 500" or "3 of 50 epochs, 12 of 80 batches of the next". @param {Job} job @param {Schemas["Progress"]} progress */
function stepsLabel(job, { phase, iteration, total, batch, batches }) {
  if (job.kind === "ingest" || SHOWN_AS_SHARE.has(phase)) return percent(iteration ?? 0, total ?? 0);
  const steps = `${count(iteration)} of ${count(total)}`;
  if (iterationWord(job) !== "epoch") return steps;
  return batches ? `${steps} epochs, ${count(batch)} of ${count(batches)} batches of the next` : `${steps} epochs`;
}

/** "training · 120 of 500 · 14 s left". @param {Job} job */
export function progressLabel(job) {
  if (job.status === "queued") return waitingLabel(job);
  if (job.status !== "running") return "";
  const progress = job.progress;
  if (!progress) return "starting";
  const words = [progress.phase];
  if (isCounting(job)) words.push(stepsLabel(job, progress));
  if (typeof progress.eta_seconds === "number") words.push(`${duration(progress.eta_seconds)} left`);
  return words.join(" · ");
}

/** @param {Job} job */
function waitingLabel(job) {
  const { attempt, attempts, resumable_from: from } = job;
  if (from) return `waiting to resume from ${iterationWord(job)} ${count(from)}`;
  return attempt > 0 || attempts?.length ? "waiting to restart" : "waiting for a worker";
}

/** "stopped early at 112 of 500 · took 41 s", for a job that has ended. @param {Job} job */
export function outcomeLabel(job) {
  const words = [];
  const [iteration, total] = [job.progress?.iteration ?? 0, job.progress?.total ?? 0];
  if (trains(job) && total > 1) {
    const early = job.status === "succeeded" && iteration < total;
    words.push(`${early ? "stopped early at " : ""}${count(iteration)} of ${count(total)} ${iterationWord(job)}s`);
  }
  if (job.started_at && job.finished_at) {
    const started = job.attempts?.[0]?.started_at || job.started_at;
    const attempts = job.attempts && job.attempts.length > 1 ? ` over ${count(job.attempts.length)} attempts` : "";
    words.push(`took ${elapsed(started, job.finished_at)}${attempts}`);
  }
  return words.join(" · ") || "did not start";
}

const CLICK_KINDS = new Set(["click-model", "judge", "propensity", "simulate-clicks", "counterfactual"]);

/** Check whether the page of a job shows a result about clicks. @param {Job} job */
export const hasClickResult = ({ kind, spec }) =>
  CLICK_KINDS.has(kind) || (kind === "train" && typeof spec.clicks === "object" && spec.clicks !== null);

/** Key of the mean training loss in the metrics of the training data; leave it out of lists of metrics. */
export const LOSS = "loss";

/** Maximum number of trainings in one comparison. */
export const MAX_COMPARED = 20;
/** Maximum number of systems whose intervals are drawn as bands in one figure, so that the bands stay readable. */
export const MAX_BANDS = 10;

/** @type {Record<string, string>} */ const HINTS = {
  "Worker lost":
    "A worker stops responding when its process or machine is stopped, or when the system runs out of memory and kills it. " +
    "Its log has the reason. With a memory limit, a job that needs too much memory fails without harming the worker.",
  "Time limit":
    "The limit applies to all attempts together. Reduce iterations, leaves, units or queries, or submit the job again with a higher limit.",
  "Memory limit": "Use fewer bins, leaves, units, features or queries, or submit the job again with a higher limit.",
};

/** @param {Job} job @returns {string | null} */
export const problemHint = (job) => HINTS[job.problem?.title ?? ""] || null;
