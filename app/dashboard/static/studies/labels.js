/** Labels of studies and trials, and the values of their parameters. @module */
import { LABELS } from "../forms/schema_fields.js";
import { counted, metric, short } from "../page/format.js";

/** @typedef {{type: string, low?: number, high?: number, log?: boolean, choices?: Json[]}} Dimension */

/** Check whether a study is running or concluding. @param {{status: string}} study */
export const isRunning = ({ status }) => status === "running" || status === "concluding";

/** Check whether a study has not ended, so that it can be cancelled. @param {{status: string}} study */
export const isOpen = ({ status }) => status === "running" || status === "paused" || status === "concluding";

/** Return "Leaves per tree", "Loss: mu", "Loss". @param {string} pointer */
export function parameterName(pointer) {
  const [, part, name] = pointer.split("/");
  if (name === undefined) return part === "loss" ? "Loss" : part;
  return part === "loss" ? `Loss: ${name.replaceAll("_", " ")}` : (LABELS[name] ?? name.replaceAll("_", " "));
}

/** Return the value of a parameter as text; for a loss, its name and parameters. @param {unknown} value */
export function valueLabel(value) {
  if (value !== null && typeof value === "object" && "name" in value) return lossLabel(value);
  return typeof value === "number" ? short(Number(value.toPrecision(4))) : short(value);
}

/** @param {{name?: unknown}} loss */
function lossLabel(loss) {
  const others = Object.entries(loss).filter(([name]) => name !== "name");
  // The default trial is recorded with all parameters of its loss, which are too many to show.
  return others.length === 0 || others.length > 4
    ? String(loss.name)
    : `${loss.name} (${others.map(([name, value]) => `${name} ${short(value)}`).join(", ")})`;
}

/** Return the dimensions of a study by pointer. @param {Study} study @returns {[string, Dimension][]} */
export function dimensionsOf({ search_space: space }) {
  return Object.entries(/** @type {Record<string, Dimension>} */ (space));
}

/** Check whether a dimension is drawn on a numeric axis. @param {Dimension} dimension */
export const isNumeric = ({ type, choices }) =>
  type !== "choice" || (choices ?? []).every((choice) => typeof choice === "number");

/** @param {Trial} trial @param {string} pointer @returns {Json | undefined} */
export const valueAt = ({ parameters }, pointer) => parameters?.[pointer];

/** Return the metric of the objective, such as "ndcg@10". @param {Study} study */
export const metricOf = ({ objective }) => String(objective.metric);

/** Return how trials are validated: "5-fold cross-validation", "held-out queries". @param {Study} study */
export function validationLabel({ objective }) {
  const validation = /** @type {Record<string, Json>} */ (objective.validation ?? {});
  if (validation.fold_column) return `cross-validation by ${validation.fold_column}`;
  if (validation.folds && !validation.fold) return `${validation.folds}-fold cross-validation`;
  return validation.dataset_id ? "another dataset" : "held-out queries";
}

/**
 * Return the size of a study: "50 trials over 2 parameters: at most 250 trainings, …".
 * @param {number} trials @param {number} parameters
 * @param {number | null} folds of each trial, null if unknown
 */
export function sizeLabel(trials, parameters, folds) {
  const trained =
    folds === null ? "a training for each trial and fold" : `at most ${counted(trials * folds, "training")}`;
  return `${counted(trials, "trial")} over ${counted(parameters, "parameter")}: ${trained}, fewer where trials are pruned, and 1 or 2 for the conclusion.`;
}

/** @param {Study} study @returns {(one: number, other: number) => boolean} whether the first is better */
export const isBetterFor =
  ({ higher_is_better: higher }) =>
  (one, other) =>
    higher ? one > other : one < other;

/** Return the trials that succeeded with a value of the objective. @param {Trial[]} trials */
export const finished = (trials) => trials.filter(({ status, value }) => status === "succeeded" && value !== null);

/**
 * Return the best value and its trial: "0.4711 (trial 9)".
 * @param {{number: number, value: number} | null | undefined} best
 */
export const bestLabel = (best) => (best ? `${metric(best.value)} (trial ${best.number})` : "–");
