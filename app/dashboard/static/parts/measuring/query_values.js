/**
 * The metrics of single queries in the dataset's order, page after page.
 * @module
 */
import { longerTable } from "../lists/longer_table.js";
import { queryPage } from "../page/addresses.js";
import { h } from "../page/dom.js";
import { metric } from "../page/format.js";

const PAGE = 50;

/**
 * @param {string} path of the pages
 * @param {string} datasetId
 * @param {string[]} metrics
 */
export function queryValues(path, datasetId, metrics) {
  const heads = [h("th", { scope: "col" }, "Query"), ...metrics.map((name) => h("th", { scope: "col", class: "number" }, name))];

  function row({ query_id: query, values }) {
    const link = h("a", { class: "name", href: queryPage(datasetId, query), title: query }, query);
    return h("tr", {}, h("th", { scope: "row" }, link), ...metrics.map((name) => h("td", { class: "number" }, metric(values[name]))));
  }

  const table = longerTable("Values of single queries", heads, `${path}?limit=${PAGE}`, row);
  return h("section", { class: "panel query-values rows" }, h("h2", {}, "Queries"), ...table);
}
