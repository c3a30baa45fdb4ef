/** Findings of the data doctor: severity, share of the data, examples and advice. @module */
import { bar, severityCounts } from "../figures/marks.js";
import { featureTablePage, queryPage } from "../page/paths.js";
import { helpLink, withCode } from "../page/content.js";
import { h } from "../page/dom.js";
import { hint } from "../page/parts.js";
import { count, percent } from "../page/format.js";
import { SEVERITIES, severityWord } from "./dataset.js";

/** @typedef {Schemas["Finding"]} Finding */

/** @type {Record<string, (datasetId: string, name: string) => string>} */
const EXAMPLE_PAGES = { query: queryPage, feature: featureTablePage };
const MIN_TOTAL_FOR_PERCENT = 10;
/** @type {Record<string, string>} */
const EXAMPLE_WORDS = { query: "Queries:", feature: "Features:", document: "Documents:" };

/**
 * Return a panel of findings, most severe first.
 * @param {Finding[]} findings
 * @param {(finding: Finding) => string | false | null | undefined} datasetOf returns the
 *   ID of the dataset that has the examples
 */
export function findingsPanel(findings, datasetOf) {
  const ordered = SEVERITIES.flatMap((severity) => findings.filter((finding) => finding.severity === severity));
  return h("section.panel.findings", { "aria-label": "Findings" }, [
    h("div.findings-head", h("h2", "Findings"), helpLink("concepts/doctor/", "Findings"), severityCounts(findings)),
    findings.length > 0 && h("ul", ...ordered.map((finding) => entry(finding, datasetOf(finding)))),
  ]);
}

/** Return a panel of the findings of a result, such as an evaluation; false without findings. @param {Finding[] | null | undefined} findings */
export const resultFindings = (findings) => !!findings?.length && findingsPanel(findings, () => false);

/** @param {Finding} finding @param {string | false | null | undefined} datasetId */
function entry({ code, severity, title, advice, examples, example_kind: kind, ...amount }, datasetId) {
  return h("li.finding", { "data-severity": severity, "data-code": code }, [
    h("span.severity", { "data-severity": severity }, severityWord(severity)),
    h("div.finding-words", [
      h("p.finding-title", title),
      hint(...withCode(advice)),
      examples.length > 0 && exampleList(examples, kind, datasetId),
    ]),
    amount.total > 0 && share(amount),
  ]);
}

/** @param {{count: number, total: number, unit: string}} amount */
function share({ count: part, total, unit }) {
  // For few objects, such as baselines, counts are easier to read than percentages.
  const [figure, whole] =
    total < MIN_TOTAL_FOR_PERCENT ? [count(part), `${total} ${unit}`] : [percent(part, total), unit];
  const words = h("span", h("strong", figure), ` of ${whole}`);
  return h("div.finding-share", { title: `${count(part)} of ${count(total)} ${unit}` }, words, bar(part / total));
}

/** @param {string[]} examples @param {string} kind @param {string | false | null | undefined} datasetId */
function exampleList(examples, kind, datasetId) {
  const address = !datasetId ? undefined : EXAMPLE_PAGES[kind];
  return h("p.examples", [
    h("span", EXAMPLE_WORDS[kind] || "Examples:"),
    ...examples.map((name) =>
      h(address ? "a" : "span", { class: "example", title: name, href: datasetId && address?.(datasetId, name) }, name),
    ),
  ]);
}
