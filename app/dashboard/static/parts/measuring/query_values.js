/**
 * The metrics of single queries in the dataset's order, page after page.
 * @module
 */
import { get } from "../page/api.js";
import { queryPage } from "../page/addresses.js";
import { h, replace } from "../page/dom.js";
import { metric } from "../page/format.js";
import { failureBox } from "../page/loaded.js";

const PAGE = 50;

/**
 * @param {string} path of the pages
 * @param {string} datasetId
 * @param {string[]} metrics
 */
export function queryValues(path, datasetId, metrics) {
  const body = h("tbody");
  const below = h("div", { class: "rows" });
  const head = h("tr", {}, h("th", { scope: "col" }, "Query"), ...metrics.map((name) => h("th", { scope: "col", class: "number" }, name)));

  async function read(cursor) {
    below.setAttribute("aria-busy", "true");
    try {
      const page = await get(`${path}?limit=${PAGE}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`);
      const before = body.rows.length;
      body.append(...page.items.map(row));
      const next = page.next_cursor;
      replace(below, next && h("button", { type: "button", class: "quiet small show-more", click: () => read(next) }, "Show more"));
      if (before) body.rows[before]?.querySelector("a").focus();
    } catch (error) {
      replace(below, failureBox(error, () => read(cursor)));
    } finally {
      below.removeAttribute("aria-busy");
    }
  }

  function row({ query_id: query, values }) {
    const link = h("a", { class: "name", href: queryPage(datasetId, query), title: query }, query);
    return h("tr", {}, h("th", { scope: "row" }, link), ...metrics.map((name) => h("td", { class: "number" }, metric(values[name]))));
  }

  read("");
  return h(
    "section",
    { class: "panel query-values rows" },
    h("h2", {}, "Queries"),
    h("div", { class: "scroll", role: "region", "aria-label": "Values of single queries", tabindex: "0" }, h("table", {}, h("thead", {}, head), body)),
    below,
  );
}
