/**
 * What the doctor found: how grave, how much of the data, where to look, and what to do.
 * @module
 */
import { featureView, queryPage } from "../page/addresses.js";
import { bar } from "../figures/bars.js";
import { h } from "../page/dom.js";
import { count, percent } from "../page/format.js";
import { severityCounts } from "../figures/severity_counts.js";

/**
 * @typedef {object} Finding
 * @property {string} code
 * @property {"error" | "warning" | "info"} severity
 * @property {string} title
 * @property {string} advice
 * @property {number} count
 * @property {number} total
 * @property {string} unit
 * @property {string[]} examples
 * @property {"query" | "feature" | "document"} example_kind
 * @property {"validation" | "test" | null} [role] of a job's datasets, the one it is about beside the one trained on
 */

/**
 * @param {Finding[]} findings
 * @param {(finding: Finding) => string | false | undefined} datasetOf the id of the dataset that has the examples
 * @param {{heading: string, nothing: string}} words nothing: said when all is well
 */
export function findingsPanel(findings, datasetOf, { heading, nothing }) {
  return h(
    "section",
    { class: "panel findings", "aria-label": heading },
    h("div", { class: "findings-head" }, h("h2", {}, heading), severityCounts(findings)),
    findings.length ? h("ul", {}, ...findings.map((finding) => entry(finding, datasetOf(finding)))) : h("p", { class: "hint" }, nothing),
  );
}

/** What to know of a model on the dataset of a result; nothing is shown where there is nothing. @param {Finding[] | null} findings */
export function resultFindings(findings) {
  return findings?.length > 0 && findingsPanel(findings, () => false, { heading: "Findings", nothing: "" });
}

function entry({ code, severity, title, advice, examples, example_kind: kind, ...amount }, datasetId) {
  return h(
    "li",
    { class: "finding", "data-severity": severity, "data-code": code },
    h("span", { class: "severity", "data-severity": severity }, severity),
    h(
      "div",
      { class: "finding-words" },
      h("p", { class: "finding-title" }, title),
      h("p", { class: "hint" }, advice),
      examples.length > 0 && exampleList(examples, kind, datasetId),
    ),
    amount.total > 0 && share(amount),
  );
}

function share({ count: part, total, unit }) {
  const words = h("span", {}, h("strong", {}, percent(part, total)), ` of ${unit}`);
  return h("div", { class: "finding-share", title: `${count(part)} of ${count(total)} ${unit}` }, words, bar(part / total));
}

function exampleList(examples, kind, datasetId) {
  const address = datasetId && { query: queryPage, feature: featureView }[kind];
  const words = { query: "Queries:", feature: "Features:", document: "Documents:" };
  return h(
    "p",
    { class: "examples" },
    h("span", {}, words[kind] || "Such as"),
    ...examples.map((name) => h(address ? "a" : "span", { class: "example", title: name, href: address && address(datasetId, name) }, name)),
  );
}
