/**
 * A label with a colour that deepens with the grade.
 * @module
 */
import { h } from "../page/dom.js";
import { short } from "../page/format.js";

const GRADES = 4;
const MOST_IN_LEGEND = 8;

/**
 * @param {number | null} label null where the document was not judged
 * @param {number | null | undefined} largest the largest label of the dataset
 */
export function grade(label, largest) {
  if (typeof label !== "number") return h("span", { class: "grade", "data-grade": "none", title: "not judged" }, "none");
  return h("span", { class: "grade", "data-grade": step(label, largest) }, short(label));
}

/** What the colours mean; the label itself stands in each. @param {any} [statistics] of the dataset @returns {HTMLElement | null} */
export function gradeLegend(statistics) {
  const labels = (statistics?.labels || []).map(({ label }) => label).filter((label) => label >= 0);
  if (!labels.length || labels.length > MOST_IN_LEGEND) return null;
  const largest = Math.max(...labels);
  return h("p", { class: "grade-legend" }, "not relevant ", ...labels.sort((one, other) => one - other).map((label) => grade(label, largest)), " most relevant");
}

function step(label, largest) {
  if (label < 0) return "none";
  if (label === 0) return 0;
  return Math.max(1, Math.round((GRADES * label) / Math.max(label, largest || 0)));
}
