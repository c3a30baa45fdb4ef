/**
 * A dataset's statistics as tiles: a figure, what it counts, and what helps to judge it.
 * @module
 */
import { rangeWords } from "./dataset_words.js";
import { h } from "./dom.js";
import { count, percent, short } from "./format.js";

/** @param {any} statistics */
export function tiles(statistics) {
  return h("dl", { class: "tiles" }, ...facts(statistics).map(([name, value, detail]) => h("div", { class: "tile" }, h("dt", {}, name), h("dd", {}, value), detail && h("dd", { class: "tile-detail" }, detail))));
}

function facts({ queries, documents, features, documents_per_query: perQuery, label_range: labels, ...rest }) {
  const share = (part, whole) => (part ? percent(part, whole) : "");
  return [
    ["Queries", count(queries)],
    ["Documents", count(documents)],
    ["Features", count(features)],
    perQuery && ["Documents a query", short(perQuery.median), perQuery.min === perQuery.max ? "in every query" : `median of ${count(perQuery.min)} – ${count(perQuery.max)}`],
    labels && ["Labels", rangeWords(labels.minimum, labels.maximum), labelDetail(labels, documents)],
    ["No relevant document", count(rest.queries_without_relevant), share(rest.queries_without_relevant, queries) && `${share(rest.queries_without_relevant, queries)} of the queries`],
  ].filter(Boolean);
}

function labelDetail({ missing, whole, minimum }, documents) {
  if (missing) return `${percent(missing, documents)} of the documents have none`;
  if (minimum < 0) return "some below 0";
  return whole ? "whole numbers" : "not all whole";
}
