/** Labels of experiments. @module */
import { count, fixed, joined } from "../page/format.js";

/** @typedef {Schemas["ExperimentTraining"]} Training */

/** Check whether an experiment is preparing, running or reporting. @param {{status: string}} experiment */
export const isRunning = ({ status }) => status === "preparing" || status === "running" || status === "reporting";

/** Return the number of trainings of an experiment, of any status. @param {Schemas["ExperimentCounts"]} counts */
export const trainingCount = ({ planned, queued, running, succeeded, failed, cancelled }) =>
  planned + queued + running + succeeded + failed + cancelled;

/** Return "Table 4", "Figure 2". @param {string} name */
export const tableName = (name) => name.charAt(0).toUpperCase() + name.slice(1).replaceAll("-", " ");

/** Return the number of succeeded trainings: "3 of 16, 1 failed". @param {Schemas["ExperimentCounts"]} counts */
export function progressLabel(counts) {
  const all = trainingCount(counts);
  if (!all) return "–";
  const running = counts.running ? `, ${count(counts.running)} running` : "";
  const failed = counts.failed ? `, ${count(counts.failed)} failed` : "";
  return `${counts.succeeded} of ${all}${running}${failed}`;
}

/** Return the source of the data: "synthetic · folds 1, 2". @param {Schemas["ExperimentEntry"]} experiment */
export const dataLabel = ({ data, corpus, folds }) =>
  joined([data, corpus && corpus !== data && corpus, folds.length > 0 && `folds ${folds.join(", ")}`], " · ");

/** @type {Record<string, number>} */ const DIGITS = { fraction: 4, percent: 2, milliseconds: 1 };

/** Return a number with the decimals of its unit. @param {number | null} value @param {string} unit */
export const numberLabel = (value, unit) => (value === null ? "–" : fixed(value, DIGITS[unit] ?? 3));

/** Return a difference with its sign; a difference that rounds to zero has no plus sign. @param {number | null} value @param {string} unit */
export function signedLabel(value, unit) {
  const words = numberLabel(value, unit);
  return Number(words) > 0 ? `+${words}` : words;
}

/** Return "percent", "milliseconds" or nothing. @param {string} unit */
export const unitLabel = (unit) => (unit === "percent" || unit === "milliseconds" ? unit : "");
