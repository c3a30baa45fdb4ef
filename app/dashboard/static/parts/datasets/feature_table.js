/**
 * Every feature's range, gaps and worth as a ranker by itself; the most telling ones first.
 * @module
 */
import { get } from "../page/api.js";
import { datasetApi } from "../page/addresses.js";
import { h, setText } from "../page/dom.js";
import { count, counted, metric, percent, short } from "../page/format.js";
import { searchField } from "../lists/search_field.js";
import { sortableTable } from "../lists/sortable_table.js";

const FIRST = 50;

/**
 * @typedef {object} FeatureProfile
 * @property {string} name
 * @property {number | null} minimum
 * @property {number | null} maximum
 * @property {number | null} mean
 * @property {number} missing documents
 * @property {number} infinite documents
 * @property {number} zeros share of the documents
 * @property {boolean} constant
 * @property {boolean} constant_in_queries
 * @property {number | null} ndcg_at_10
 * @property {"descending" | "ascending"} direction
 */

/** @param {string} id @returns {Promise<FeatureProfile[]>} */
export function readFeatures(id) {
  return get(datasetApi(id, "/features")).then(({ items }) => items);
}

/**
 * @param {FeatureProfile[]} features
 * @param {number} documents
 * @param {string} wanted what the search field holds at first
 * @param {(name: string) => void} onSearch
 */
export function featureTable(features, documents, wanted, onSearch) {
  const columns = columnsOf(documents, new Map(features.map(({ name }, index) => [name, index])));
  const table = sortableTable(columns, { label: "Features", first: FIRST, order: { by: columns[1].label, descending: true } });
  const field = searchField("Find a feature", "Find a feature", { input: narrow });
  const words = h("p", { class: "hint", role: "status" });
  field.value = wanted;

  function show() {
    const text = field.value.trim().toLowerCase();
    const exact = features.filter(({ name }) => name.toLowerCase() === text);
    const found = exact.length ? exact : features.filter(({ name }) => name.toLowerCase().includes(text));
    table.show(found);
    setText(words, found.length === features.length ? counted(features.length, "feature") : `${count(found.length)} of ${counted(features.length, "feature")}`);
  }
  function narrow() {
    show();
    onSearch(field.value.trim());
  }
  show();
  return h("div", { class: "panel browser" }, h("div", { class: "browser-head" }, field, words), table.node);
}

function columnsOf(documents, places) {
  const number = (label, name, cell = (row) => short(row[name]), title = "") => ({ label, title, number: true, value: (row) => row[name], cell });
  return [
    { label: "Feature", title: "In the order of the file", value: (row) => places.get(row.name), cell: named },
    number("NDCG@10", "ndcg_at_10", worth, "Of ranking by this feature alone, in its better direction"),
    number("Minimum", "minimum"),
    number("Mean", "mean"),
    number("Maximum", "maximum"),
    number("Zeros", "zeros", (row) => percent(row.zeros, 1)),
    number("Missing", "missing", (row) => amount(row.missing, documents)),
    number("Infinite", "infinite", (row) => amount(row.infinite, documents)),
  ];
}

function named(row) {
  return [h("span", { class: "name", title: row.name }, row.name), ...tags(row)];
}

function worth({ ndcg_at_10: value, direction }) {
  if (typeof value !== "number") return metric(value);
  const arrow = direction === "ascending" ? "↘" : "↗";
  return [metric(value), h("span", { class: "direction", title: direction === "ascending" ? "small values rank first" : "large values rank first" }, arrow)];
}

function amount(documents, all) {
  return documents ? h("span", { class: "unusual", title: counted(documents, "document") }, percent(documents, all)) : h("span", { class: "missing" }, "0");
}

function tags({ constant, constant_in_queries: within }) {
  const tag = (words, title) => h("span", { class: "tag plain", title }, words);
  if (constant) return [tag("constant", "One value everywhere: of no use")];
  return within ? [tag("constant in queries", "One value within each query: of no use to rank by")] : [];
}
