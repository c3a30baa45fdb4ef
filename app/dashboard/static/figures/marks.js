/** Small figures drawn as HTML: bars, histograms, grades, feature values, tiles, severities, progress. @module */
import { countsBySeverity, rangeLabel, severityLabel } from "../datasets/dataset.js";
import { errorsAndWarnings, isCounting, outcomeLabel, progressLabel, statusWord } from "../jobs/labels.js";
import { h, setAttribute, setText, svg } from "../page/dom.js";
import { rowHead } from "../page/parts.js";
import { count, counted, percent, short } from "../page/format.js";

/**
 * Return counts as a small table of bars; screen readers read the table.
 * @param {string} caption
 * @param {[Child, number][]} entries what is counted, and how often
 * @param {(number: number) => string} [words] formats a number
 */
export function bars(caption, entries, words = count) {
  const largest = Math.max(0, ...entries.map(([, number]) => number)) || 1;
  return h("table.bars", [
    h("caption", caption),
    h("tbody", ...entries.map(([name, number]) => row(name, words(number), number / largest))),
  ]);
}

/** @param {Child} name @param {string} words @param {number} share */
const row = (name, words, share) => h("tr", rowHead(name), h("td.bar-cell", bar(share)), h("td.number", words));

/** @param {number} share of the full width, 0 to 1 */
export function bar(share) {
  return svg("svg.bar-line", { viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" }, [
    svg("rect", { x: 0, y: 0, width: share > 0 ? Math.max(0.5, 100 * Math.min(share, 1)) : 0, height: 6 }),
  ]);
}

/** Show by how many ranks a document has risen. @param {number} rise below 0 if it has fallen */
export function rankShift(rise) {
  if (rise === 0) return h("span.shift", "=");
  const direction = rise > 0 ? "up" : "down";
  const words = `${counted(Math.abs(rise), "position")} ${direction}`;
  return h("span.shift", { "data-shift": direction, role: "img", title: words, "aria-label": words }, [
    `${rise > 0 ? "↑" : "↓"}${count(Math.abs(rise))}`,
  ]);
}

const HEIGHT = 100;
const GAP = 0.12;
const MAX_TICKS = 6;

/**
 * A histogram with counts on hover and a summary for screen readers.
 * @param {{label: string, count: number, title: string, pick?: () => void}[]} columns in the order of the
 *   axis; label: text below the column; pick: called when the column is pressed
 * @param {{caption: string, axis: string, summary: string}} words
 */
export function histogram(columns, { caption, axis, summary }) {
  const largest = Math.max(1, ...columns.map((each) => each.count));
  const chart = svg(
    "svg.histogram-columns",
    { viewBox: `0 0 ${columns.length} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": summary },
    columns.map((each, index) => column(each, index, largest)),
  );
  return h("figure.histogram", [
    h("figcaption", caption),
    h("div.histogram-scale", { "aria-hidden": "true" }, h("span", `up to ${count(largest)}`)),
    chart,
    ticks(columns),
    h("p.histogram-axis", { "aria-hidden": "true" }, axis),
  ]);
}

/**
 * Draw one column. Its full height takes pointer events, so that small columns can be hovered, too.
 * @param {{count: number, title: string, pick?: () => void}} column @param {number} index @param {number} largest
 */
function column({ count: number, title, pick }, index, largest) {
  const height = number ? Math.max(1, (HEIGHT * number) / largest) : 0;
  return svg(
    "g",
    pick ? { class: "pick", click: pick } : {},
    svg("title", title),
    svg("rect.back", { x: index, y: 0, width: 1, height: HEIGHT }),
    svg("rect.column", { x: index + GAP / 2, y: HEIGHT - height, width: 1 - GAP, height }),
  );
}

/** Return labels below their columns, as many as fit. @param {{label: string}[]} columns */
function ticks(columns) {
  const step = Math.ceil(columns.length / MAX_TICKS);
  return h(
    "div.histogram-ticks",
    { "aria-hidden": "true" },
    columns.map(({ label }, index) => h("span", index % step === 0 && label)),
  );
}

const GRADES = 4;
const MAX_IN_LEGEND = 8;

/**
 * A label with a colour that deepens with the grade.
 * @param {number | null} label null where the document was not judged
 * @param {number | null | undefined} largest the largest label of the dataset
 */
export function grade(label, largest) {
  if (typeof label !== "number") return h("span.grade", { "data-grade": "none", title: "not judged" }, "none");
  return h("span.grade", { "data-grade": colourStep(label, largest) }, short(label));
}

/**
 * Return a legend of the colours of grades; null without labels from 0, or with more than `MAX_IN_LEGEND`.
 * @param {Statistics | null} [statistics] of the dataset
 */
export function gradeLegend(statistics) {
  const labels = (statistics?.labels || []).map(({ label }) => label).filter((label) => label >= 0);
  if (!labels.length || labels.length > MAX_IN_LEGEND) return null;
  const largest = Math.max(...labels);
  return h("p.grade-legend", [
    "not relevant ",
    ...labels.sort((one, other) => one - other).map((label) => grade(label, largest)),
    " most relevant",
  ]);
}

/** @param {number} label @param {number | null | undefined} largest */
function colourStep(label, largest) {
  if (label < 0) return "none";
  if (label === 0) return 0;
  return Math.max(1, Math.round((GRADES * label) / Math.max(label, largest || 0)));
}

/** @type {Record<string, string>} */ const INFINITE_LABELS = { Infinity: "∞", "-Infinity": "−∞" };

/** @param {number | string | null} value as the API writes it */
export function featureValue(value) {
  if (typeof value === "number") return short(value);
  if (value === null) return h("span.missing", { title: "missing" }, "–");
  const infinite = INFINITE_LABELS[value];
  return infinite ? h("span.unusual", { title: "infinite" }, infinite) : value;
}

/** @param {{severity: string}[]} findings */
export function severityCounts(findings) {
  const counts = countsBySeverity(findings);
  const chips = counts.length
    ? counts.map(([severity, number]) => [severity, severityLabel(severity, number)])
    : [["none", "No problems found"]];
  return h(
    "span.severities",
    chips.map(([severity, words]) => h("span.severity", { "data-severity": severity }, words)),
  );
}

/** Return the status of a job; its title lists the errors and warnings of a succeeded job. @param {Job} job */
export function jobStatus(job) {
  const labels = countsBySeverity(errorsAndWarnings(job)).map(([severity, number]) => severityLabel(severity, number));
  const doubtful = labels.length > 0 && "true";
  const title = labels.join(", ") || null;
  return h("span.status", { "data-status": job.status, "data-doubtful": doubtful, title }, statusWord(job));
}

/** @typedef {[name: string, figure: string, detail?: Child]} Tile detail: context of the figure */

/** @param {Tile[]} entries */
export const tileList = (entries) => h("dl.tiles", ...entries.map(tile));

/** @param {Tile} tile */
const tile = ([name, value, detail]) =>
  h("div.tile", h("dt", name), h("dd", value), detail && h("dd.tile-detail", detail));

/** @param {Statistics} statistics */
export function tiles({ queries, documents, features, label_range: labels, ...perQuery }) {
  const { documents_per_query: lengths, queries_without_relevant: withoutRelevant } = perQuery;
  /** @type {(Tile | false | null | undefined)[]} */
  const entries = [
    ["Queries", count(queries)],
    ["Documents", count(documents)],
    ["Features", count(features)],
    lengths && ["Documents per query", short(lengths.median), lengthDetail(lengths)],
    labels && ["Labels", rangeLabel(labels.minimum, labels.maximum), labelDetail(labels, documents)],
    [
      "No relevant documents",
      count(withoutRelevant),
      withoutRelevant > 0 ? `${percent(withoutRelevant, queries)} of the queries` : "queries",
    ],
  ];
  return tileList(entries.filter((entry) => !!entry));
}

/** @param {{min: number, max: number}} lengths */
const lengthDetail = ({ min, max }) => (min === max ? "in every query" : `median of ${count(min)} – ${count(max)}`);

/** @param {{missing: number, whole: boolean, minimum: number}} labels @param {number} documents */
function labelDetail({ missing, whole, minimum }, documents) {
  if (missing) return `${percent(missing, documents)} of the documents have no label`;
  if (minimum < 0) return "some labels below 0";
  return whole ? "whole numbers" : "not all whole numbers";
}

/** @returns {{node: HTMLElement, update: (job: Job) => void}} */
export function progressBar() {
  const bar = h("progress", { max: 1 });
  const words = h("p.progress-words");
  const node = h("div.progress", bar, words);

  /** @param {Job} job */
  function update(job) {
    const { status, progress } = job;
    setAttribute(node, "data-status", status);
    setAttribute(bar, "aria-label", `Progress of ${job.title}`);
    if (status === "succeeded") setRange(bar, 1, 1);
    else if (status === "running" && !isCounting(job)) bar.removeAttribute("value");
    else if (progress?.total) setRange(bar, progress.iteration ?? 0, progress.total);
    else setRange(bar, 0, 1);
    setAttribute(bar, "aria-valuetext", progressLabel(job) || status);
    setText(words, progressLabel(job) || outcomeLabel(job));
  }
  return { node, update };
}

/** @param {HTMLProgressElement} bar @param {number} value @param {number} total */
function setRange(bar, value, total) {
  setAttribute(bar, "max", total);
  setAttribute(bar, "value", Math.min(value, total));
}
