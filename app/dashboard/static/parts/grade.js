/**
 * A label with a colour that deepens with the grade.
 * @module
 */
import { h } from "./dom.js";
import { short } from "./format.js";

const GRADES = 4;

/**
 * @param {number | null} label null where the document was not judged
 * @param {number | null | undefined} largest the largest label of the dataset
 */
export function grade(label, largest) {
  if (typeof label !== "number") return h("span", { class: "grade", "data-grade": "none", title: "not judged" }, "none");
  return h("span", { class: "grade", "data-grade": step(label, largest) }, short(label));
}

function step(label, largest) {
  if (label < 0) return "none";
  if (label === 0) return 0;
  return Math.max(1, Math.round((GRADES * label) / Math.max(label, largest || 0)));
}
