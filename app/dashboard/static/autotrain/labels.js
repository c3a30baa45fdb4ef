/**
 * The candidates of an automatic training: their order, labels and what they are compared with.
 * @module
 */
import { flatten, plainName } from "../jobs/specification.js";
import { counted, metric, short } from "../page/format.js";

/** @typedef {Schemas["AutoTrainCandidates"]} Leaderboard */
/** @typedef {Schemas["AutoTrainCandidate"]} Candidate */
/** @typedef {NonNullable<Leaderboard["conclusion"]>} Conclusion */

/** @type {Record<string, string>} */
const UNRANKED = { stopped: "stopped", "out-of-time": "out of time", "not-tried": "not tried" };

/**
 * Return the conclusion on the queries that the candidates were measured on, even if the sentence is about test data.
 *
 * @param {Conclusion | null} conclusion
 * @returns {Pick<Conclusion, "value" | "interval" | "baselines"> | null}
 */
function heldOutConclusion(conclusion) {
  return conclusion?.data === "test" ? (conclusion.held_out ?? null) : conclusion;
}

/** Candidate number of the row for a model that is a sum of candidates. */
export const SUM = -1;

/**
 * Return the candidates that were measured on all folds and the sum in the model, best first; then the candidates in
 * training.
 *
 * @param {Leaderboard} leaderboard
 * @returns {Candidate[]}
 */
export function ranked({ items, higher_is_better: higher, conclusion }) {
  const complete = [...items.filter(({ status }) => status === "complete"), ...sumRow(items, conclusion)];
  const better = complete.sort((one, other) => (higher ? -1 : 1) * ((one.value ?? 0) - (other.value ?? 0)));
  return [...better, ...items.filter(({ status }) => status === "running")];
}

/**
 * Return the row of a sum that was measured on the same queries as the candidates.
 *
 * @param {Candidate[]} items
 * @param {Conclusion | null} conclusion
 * @returns {Candidate[]} one or none
 */
function sumRow(items, conclusion) {
  const heldOut = heldOutConclusion(conclusion);
  const members = conclusion?.members ?? [];
  if (!heldOut || members.length < 2) return [];
  const { value, interval } = heldOut;
  const inside = items.filter(({ weight }) => weight > 0);
  const bytes = inside.reduce((sum, { size_bytes: size }) => sum + (size ?? 0), 0);
  return [
    {
      ...{ number: SUM, name: `sum of ${members.length} candidates`, loss: { name: "" }, scorer: { kind: "sum" } },
      ...{ hyperparameters: null, status: "complete", reason: null, value, interval, tied_with_best: null },
      ...{ folds: 0, planned_folds: 0, iterations: null, seconds: 0, size_bytes: bytes || null, weight: 1 },
    },
  ];
}

/** Return the candidates without a place in the order, those with a value first. @param {Leaderboard} leaderboard */
export function unranked({ items }) {
  const statuses = Object.keys(UNRANKED);
  return items
    .filter(({ status }) => status in UNRANKED)
    .sort((one, other) => statuses.indexOf(one.status) - statuses.indexOf(other.status));
}

/** "3 stopped, 1 out of time, 5 not tried". @param {Candidate[]} candidates without a place in the order */
export function unrankedLabel(candidates) {
  return Object.entries(UNRANKED)
    .map(([status, words]) => [candidates.filter((each) => each.status === status).length, words])
    .filter(([number]) => number)
    .map(([number, words]) => `${number} ${words}`)
    .join(", ");
}

/** "4 of 10" while folds remain to be measured. @param {Pick<Candidate, "folds" | "planned_folds">} candidate */
export function foldsLabel({ folds, planned_folds: planned }) {
  if (!folds) return "–";
  return planned > folds ? `${folds} of ${planned}` : String(folds);
}

/** "not tried: the budget was used up". @param {Candidate} candidate without a place in the order */
export function reasonLabel({ status, reason }) {
  return [UNRANKED[status], reason].filter(Boolean).join(": ");
}

/** "4 candidates measured, 2 to go". @param {Leaderboard} leaderboard */
export function countLabel({ items }) {
  /** @param {string[]} statuses */
  const number = (...statuses) => items.filter(({ status }) => statuses.includes(status)).length;
  const left = number("queued", "running");
  return `${counted(number("complete"), "candidate")} measured${left ? `, ${left} to go` : ""}`;
}

/**
 * Return the label of a candidate relative to the best one: "best value", "tied with the best" or nothing.
 *
 * @param {Candidate} candidate
 * @param {Candidate | undefined} best
 */
export function positionLabel({ number, status, tied_with_best: tied }, best) {
  if (status === "running") return "in training";
  if (number === SUM) return "the model";
  if (number === best?.number) return "best value";
  return tied ? "tied with the best" : "";
}

/** Return the loss, scorer and hyperparameters of a candidate: "num leaves 31, learning rate 0.05". @param {Candidate} candidate */
export function settingsLabel({ loss, scorer, hyperparameters }) {
  const settings = { loss, scorer, ...(typeof hyperparameters === "string" ? { hyperparameters } : hyperparameters) };
  return flatten(settings)
    .map(([name, value]) => `${plainName(name)} ${short(value)}`)
    .join(", ");
}

/**
 * Return the baselines that are drawn as reference lines, measured on the same queries as the candidates. Random order
 * is left out: its low value would compress the scale of the other values.
 *
 * @param {Conclusion | null} conclusion
 * @returns {{name: string, value: number}[]}
 */
export function baselineLines(conclusion) {
  return (heldOutConclusion(conclusion)?.baselines ?? []).filter(({ name }) => name !== "random order");
}

/** "LightGBM's defaults 0.4310". @param {{name: string, value: number}} line */
export function lineLabel({ name, value }) {
  return `${name} ${metric(value)}`;
}

/** "Trials 4 min, selection 1.2 s". @param {Conclusion} conclusion @param {(seconds: number) => string} words */
export function timesLabel({ seconds }, words) {
  const parts = Object.entries(seconds).map(([part, value]) => `${part} ${words(value)}`);
  return parts.length ? `Time: ${parts.join(", ")}.` : "";
}
