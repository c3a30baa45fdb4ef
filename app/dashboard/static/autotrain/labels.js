/** The candidates of an automatic training: their order, their labels and the baselines. @module */
import { flatten, plainName } from "../jobs/specification.js";
import { counted, metric, short, joined } from "../page/format.js";

/** @typedef {Schemas["AutoTrainCandidates"]} Leaderboard */
/** @typedef {Schemas["AutoTrainCandidate"]} Candidate */
/** @typedef {NonNullable<Leaderboard["conclusion"]>} Conclusion */

/** @type {Record<string, string>} */
const UNRANKED = { stopped: "stopped", "out-of-time": "out of time", "not-tried": "not tried" };

/**
 * Return the values on the held-out queries, on which the candidates were measured. The sentence of the conclusion may be
 * about test data instead.
 * @param {Conclusion | null} conclusion
 */
const heldOutConclusion = (conclusion) => (conclusion?.data === "test" ? (conclusion.held_out ?? null) : conclusion);

/** Candidate number of the row for a model that is a sum of candidates. */
export const SUM = -1;

/**
 * Return the candidates that were measured on all folds, best first, then the candidates in training. If the
 * model is a sum of candidates, the sum is ranked with them.
 * @param {Leaderboard} leaderboard @returns {Candidate[]}
 */
export function ranked({ items, higher_is_better: higherIsBetter, conclusion }) {
  const complete = [...items.filter(({ status }) => status === "complete"), ...sumRow(items, conclusion)];
  const bestFirst = complete.sort((one, other) => (higherIsBetter ? -1 : 1) * ((one.value ?? 0) - (other.value ?? 0)));
  return [...bestFirst, ...items.filter(({ status }) => status === "running")];
}

/**
 * Return the row of the sum, with its value on the same queries as the candidates.
 * @param {Candidate[]} items @param {Conclusion | null} conclusion
 * @returns {Candidate[]} no row if the model is a single candidate, or has no values on held-out queries
 */
function sumRow(items, conclusion) {
  const heldOut = heldOutConclusion(conclusion);
  const members = conclusion?.members ?? [];
  if (!heldOut || members.length < 2) return [];
  const { value, interval } = heldOut;
  const summed = items.filter(({ weight }) => weight > 0);
  const bytes = summed.reduce((sum, { size_bytes: size }) => sum + (size ?? 0), 0);
  const untrained = { hyperparameters: null, iterations: null, seconds: 0, folds: 0, planned_folds: 0 };
  return [
    {
      ...untrained,
      number: SUM,
      name: `sum of ${members.length} candidates`,
      loss: { name: "" },
      scorer: { kind: "sum" },
      status: "complete",
      reason: null,
      value,
      interval,
      tied_with_best: null,
      size_bytes: bytes || null,
      weight: 1,
    },
  ];
}

/** Return the candidates that are not ranked, in the order of `UNRANKED`. @param {Leaderboard} leaderboard */
export function unranked({ items }) {
  const statuses = Object.keys(UNRANKED);
  return items
    .filter(({ status }) => status in UNRANKED)
    .sort((one, other) => statuses.indexOf(one.status) - statuses.indexOf(other.status));
}

/** "3 stopped, 1 out of time, 5 not tried". @param {Candidate[]} candidates that are not ranked */
export function unrankedLabel(candidates) {
  return Object.entries(UNRANKED)
    .map(([status, words]) => [candidates.filter((each) => each.status === status).length, words])
    .filter(([number]) => number)
    .map(([number, words]) => `${number} ${words}`)
    .join(", ");
}

/** "4 of 10", or "10" once all folds are measured. @param {Pick<Candidate, "folds" | "planned_folds">} candidate */
export function foldsLabel({ folds, planned_folds: planned }) {
  if (!folds) return "–";
  return planned > folds ? `${folds} of ${planned}` : String(folds);
}

/** "not tried: the budget was used up". @param {Candidate} candidate that is not ranked */
export const reasonLabel = ({ status, reason }) => joined([UNRANKED[status], reason], ": ");

/** "4 candidates measured, 2 to go". @param {Leaderboard} leaderboard */
export function countLabel({ items }) {
  /** @param {string[]} statuses */
  const number = (...statuses) => items.filter(({ status }) => statuses.includes(status)).length;
  const remaining = number("queued", "running");
  return `${counted(number("complete"), "candidate")} measured${remaining ? `, ${remaining} to go` : ""}`;
}

/**
 * Return the label of a candidate relative to the best one: "best value", "tied with the best" or nothing. The sum and
 * candidates in training have their own labels.
 * @param {Candidate} candidate @param {Candidate | undefined} best
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
 * Return the baselines to draw as reference lines, with their values on the same queries as the candidates. Random order
 * is left out: its low value would compress the scale of the other values.
 * @param {Conclusion | null} conclusion @returns {{name: string, value: number}[]}
 */
export const baselineLines = (conclusion) =>
  (heldOutConclusion(conclusion)?.baselines ?? []).filter(({ name }) => name !== "random order");

/** "LightGBM's default trees 0.4310". @param {{name: string, value: number}} line */
export const lineLabel = ({ name, value }) => `${name} ${metric(value)}`;

/** "Time: trials 4 min, selection 1.2 s, final trainings 3.0 s." @param {Conclusion} conclusion @param {(seconds: number) => string} format */
export function timesLabel({ seconds }, format) {
  const parts = Object.entries(seconds).map(([part, value]) => `${part} ${format(value)}`);
  return parts.length ? `Time: ${parts.join(", ")}.` : "";
}
