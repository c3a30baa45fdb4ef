/**
 * How labels and query lengths are spread.
 * @module
 */
import { bars } from "../figures/bars.js";
import { h } from "../page/dom.js";
import { count, counted, short } from "../page/format.js";
import { histogram } from "../figures/histogram.js";

const MOST_BARS = 12;
const MOST_LABELS = 100;
const MOST_LENGTH_BARS = 5;

/** How many documents hold each label: bars where the labels are few, columns where they are many. */
export function labelCounts({ labels, label_range: range }) {
  const entries = labels.map(({ label, documents }) => [short(label), documents]);
  if (range?.missing) entries.push(["none", range.missing]);
  if (entries.length <= MOST_BARS) return bars("Documents by label", entries);
  const [commonest, most] = entries.reduce((one, other) => (other[1] > one[1] ? other : one));
  const columns = entries.map(([label, documents]) => ({ label, count: documents, title: `label ${label}: ${counted(documents, "document")}` }));
  return histogram(columns, {
    caption: labels.length < MOST_LABELS ? "Documents by label" : `Documents by label, the ${MOST_LABELS} commonest`,
    axis: "label",
    summary: `Documents by label, from ${short(range.minimum)} to ${short(range.maximum)}; the commonest is ${commonest} with ${counted(most, "document")}.`,
  });
}

/** How many queries have how many documents, likewise. */
function queryLengths({ histogram: bins, min, median, max }) {
  const range = ({ from, to }) => (from === to ? count(from) : `${count(from)} – ${count(to)}`);
  if (bins.length <= MOST_LENGTH_BARS) return bars("Queries by number of documents", bins.map((bin) => [range(bin), bin.queries]));
  const columns = bins.map((bin) => ({ label: count(bin.from), count: bin.queries, title: `${range(bin)} documents: ${counted(bin.queries, "query", "queries")}` }));
  return histogram(columns, {
    caption: "Queries by number of documents",
    axis: "documents a query",
    summary: `Queries by number of documents, from ${count(min)} to ${count(max)}, median ${short(median)}.`,
  });
}

/** @param {any} statistics */
export function distributions(statistics) {
  const { labels, documents_per_query: perQuery } = statistics;
  return h(
    "div",
    { class: "columns distributions" },
    labels && h("section", { class: "panel" }, h("h2", {}, "Labels"), labelCounts(statistics)),
    perQuery?.histogram && h("section", { class: "panel" }, h("h2", {}, "Query lengths"), queryLengths(perQuery)),
  );
}
