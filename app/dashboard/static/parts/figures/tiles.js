/**
 * A dataset's statistics as tiles: a figure, what it counts, and what helps to judge it.
 * @module
 */
import { rangeWords } from "../datasets/dataset_labels.js";
import { h } from "../page/dom.js";
import { count, percent, short } from "../page/format.js";

/** @param {any} statistics */
export function tiles(statistics) {
  return tileList(facts(statistics));
}

/** @param {[string, string, (string | false)?][]} entries name, figure, and what helps to judge it */
export function tileList(entries) {
  return h("dl", { class: "tiles" }, ...entries.map(tile));
}

function tile([name, value, detail]) {
  return h("div", { class: "tile" }, h("dt", {}, name), h("dd", {}, value), detail && h("dd", { class: "tile-detail" }, detail));
}

function facts({ queries, documents, features, documents_per_query: lengths, label_range: labels, queries_without_relevant: barren }) {
  return [
    ["Queries", count(queries)],
    ["Documents", count(documents)],
    ["Features", count(features)],
    lengths && ["Documents a query", short(lengths.median), lengthDetail(lengths)],
    labels && ["Labels", rangeWords(labels.minimum, labels.maximum), labelDetail(labels, documents)],
    ["No relevant document", count(barren), barren > 0 && `${percent(barren, queries)} of the queries`],
  ].filter(Boolean);
}

function lengthDetail({ min, max }) {
  return min === max ? "in every query" : `median of ${count(min)} – ${count(max)}`;
}

function labelDetail({ missing, whole, minimum }, documents) {
  if (missing) return `${percent(missing, documents)} of the documents have none`;
  if (minimum < 0) return "some below 0";
  return whole ? "whole numbers" : "not all whole";
}
