/**
 * How grave what was found is, as small coloured counts.
 * @module
 */
import { severities, severityWords } from "../datasets/dataset_labels.js";
import { h } from "../page/dom.js";

/** @param {{severity: string}[]} findings */
export function severityCounts(findings) {
  const found = severities(findings);
  const chips = found.length ? found.map(([severity, number]) => [severity, severityWords(severity, number)]) : [["none", "No problems found"]];
  return h("span", { class: "severities" }, ...chips.map(([severity, words]) => h("span", { class: "severity", "data-severity": severity }, words)));
}
