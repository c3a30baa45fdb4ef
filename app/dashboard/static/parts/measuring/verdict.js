/**
 * What a comparison of two systems allows to say, and how numbers of it are written.
 * @module
 */
import { h } from "../page/dom.js";

/** @typedef {"better" | "worse" | "no evidence"} Verdict */

const OPPOSITE = { better: "worse", worse: "better", "no evidence": "no evidence" };

/** What is said of A against B where that is said of B against A. @param {Verdict} verdict @returns {Verdict} */
export function opposite(verdict) {
  return OPPOSITE[verdict];
}

/** @param {Verdict | undefined} verdict */
export function verdictChip(verdict) {
  return h("span", { class: "verdict", "data-verdict": verdict || "none" }, verdict || "not defined");
}

/** "+0.0123": a difference carries its sign. */
export function signed(value, digits = 4) {
  if (typeof value !== "number") return "–";
  const words = Math.abs(value).toFixed(digits);
  return `${Number(words) === 0 ? "±" : value < 0 ? "−" : "+"}${words}`;
}

/** "0.0302", "< 0.0001". */
export function pValue(value) {
  if (typeof value !== "number") return "–";
  return value < 1e-4 ? "< 0.0001" : value.toFixed(4);
}
