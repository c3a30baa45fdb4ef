/** Labels of experiments, and the types of their reports and estimates. @module */
import { count, fixed, joined } from "../page/format.js";

/** @typedef {Schemas["ExperimentTraining"]} Training */

/**
 * @typedef {object} Cell
 * @property {string} row
 * @property {string} column
 * @property {number | null} ours
 * @property {number | null} lower
 * @property {number | null} upper
 * @property {number | null} queries
 * @property {string} mark
 * @property {number | null} p
 * @property {{value: number, mark: string, half_width: number | null} | null} printed
 * @property {number | null} difference
 * @property {string | null} missing
 * @property {number[]} deviations numbers of the table's deviations, from 1
 * @property {number[]} trees
 * @property {number[]} curve
 */

/** @typedef {{name: string, statement: string, source: string, verdict: string, sentence: string}} Claim */

/**
 * @typedef {object} Table
 * @property {string} name
 * @property {string} caption
 * @property {string} unit
 * @property {string[]} rows
 * @property {string[]} columns
 * @property {string} protocol
 * @property {string | null} test
 * @property {Cell[]} cells
 * @property {Claim[]} claims
 * @property {string[]} deviations
 */

/** @typedef {{complete: boolean, notes: string[], tables: Table[]}} Report */

/**
 * @typedef {object} MeasuredTraining
 * @property {string} method
 * @property {string} loss
 * @property {string | null} job_id
 * @property {number | null} leaves
 * @property {string} scorer
 * @property {number} runs
 * @property {number | null} seconds_per_tree
 * @property {number | null} seconds_per_look
 * @property {number | null} other_seconds
 * @property {string | null} failure
 */

/** @typedef {{runs: number, trees: number, epochs: number, hours: number, sentence: string, measured: MeasuredTraining[]}} Estimate */

/** Check whether an experiment is preparing, running or reporting. @param {{status: string}} experiment */
export const isRunning = ({ status }) => status === "preparing" || status === "running" || status === "reporting";

/** Return the number of trainings of an experiment, of any status. @param {Schemas["ExperimentCounts"]} counts */
export function trainingCount({ planned, queued, running, succeeded, failed, cancelled }) {
  return planned + queued + running + succeeded + failed + cancelled;
}

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
export function dataLabel({ data, corpus, folds }) {
  return joined([data, corpus && corpus !== data && corpus, folds.length > 0 && `folds ${folds.join(", ")}`], " · ");
}

/** @type {Record<string, number>} */
const DIGITS = { fraction: 4, percent: 2, milliseconds: 1 };

/** Return a number with the decimals of its unit. @param {number | null} value @param {string} unit */
export const numberLabel = (value, unit) => (value === null ? "–" : fixed(value, DIGITS[unit] ?? 3));

/** Return a difference with its sign; a difference that rounds to zero has no plus sign. @param {number | null} value @param {string} unit */
export function signedLabel(value, unit) {
  const words = numberLabel(value, unit);
  return Number(words) > 0 ? `+${words}` : words;
}

/** Return "percent", "milliseconds" or nothing. @param {string} unit */
export const unitLabel = (unit) => (unit === "percent" || unit === "milliseconds" ? unit : "");
