/**
 * How grave what was found is, as small coloured counts.
 * @module
 */
import { severities, severityWords } from "./dataset_words.js";
import { h } from "./dom.js";

/** @param {{severity: string}[]} findings */
export function severityCounts(findings) {
  const found = severities(findings);
  if (!found.length) return h("span", { class: "severities" }, h("span", { class: "severity", "data-severity": "none" }, "nothing found"));
  return h("span", { class: "severities" }, ...found.map(([severity, number]) => h("span", { class: "severity", "data-severity": severity }, severityWords(severity, number))));
}
