/**
 * A dataset's queries in their order, narrowed by the beginning of their ids, page after page.
 * @module
 */
import { get } from "../page/api.js";
import { datasetApi, queryPage } from "../page/addresses.js";
import { rangeWords } from "./dataset_labels.js";
import { h, replace, setText } from "../page/dom.js";
import { count, counted } from "../page/format.js";
import { failureBox } from "../page/loaded.js";
import { searchField } from "../lists/search_field.js";

const PAGE = 50;
const TYPING_MILLISECONDS = 200;

/**
 * @typedef {object} Query
 * @property {string} query_id
 * @property {number} documents
 * @property {number} relevant
 * @property {number | null} min_label
 * @property {number | null} max_label
 * @property {Record<string, string>} columns
 */

/**
 * @param {any} dataset
 * @param {string} wanted the prefix to begin with
 * @param {(prefix: string) => void} onPrefix
 * @param {(queryId: string) => string} [address] where a query is shown
 */
export function queryList({ id, statistics }, wanted, onPrefix, address = (queryId) => queryPage(id, queryId)) {
  const field = searchField("Find a query by its id", "Search by ID prefix", { input: typed, keydown: jump });
  const words = h("p", { class: "hint", role: "status" });
  const place = h("div", { class: "rows" });
  field.value = wanted;
  let queries = [];
  let asked = 0;
  let typing = 0;

  function typed() {
    clearTimeout(typing);
    typing = setTimeout(() => {
      onPrefix(field.value);
      read();
    }, TYPING_MILLISECONDS);
  }

  function jump(event) {
    if (event.key === "Enter" && field.value) location.assign(address(field.value));
  }

  /** Reads the first page, or the next; what an earlier prefix brings late is dropped. */
  async function read(cursor = null) {
    const turn = ++asked;
    place.setAttribute("aria-busy", "true");
    try {
      const page = await get(datasetApi(id, `/queries?${search(cursor)}`));
      if (turn !== asked) return;
      const before = cursor ? queries.length : 0;
      queries = cursor ? [...queries, ...page.items] : page.items;
      show(page.next_cursor, before);
    } catch (error) {
      if (turn === asked) replace(place, failureBox(error, () => read(cursor)));
    } finally {
      if (turn === asked) place.removeAttribute("aria-busy");
    }
  }

  function search(cursor) {
    const values = new URLSearchParams({ limit: String(PAGE) });
    if (field.value) values.set("prefix", field.value);
    if (cursor) values.set("cursor", cursor);
    return values;
  }

  function show(next, before) {
    const all = statistics.queries;
    setText(words, summary(next, all));
    const more = next && h("button", { type: "button", class: "quiet small show-more", click: () => read(next) }, "Show more");
    replace(place, queries.length > 0 && table(queries, address), more);
    if (before) place.querySelectorAll("tbody a")[before]?.focus();
  }

  function summary(next, all) {
    if (!queries.length) return `No query id begins with “${field.value}”.`;
    if (next) return `The first ${count(queries.length)} ${field.value ? "that begin so" : `of ${counted(all, "query", "queries")}`}`;
    return field.value ? `${counted(queries.length, "query begins", "queries begin")} so` : counted(queries.length, "query", "queries");
  }

  read();
  return h("div", { class: "panel browser" }, h("div", { class: "browser-head" }, field, words), place);
}

function table(queries, address) {
  const columns = Object.keys(queries[0].columns || {});
  const heading = (label, kind) => h("th", { scope: "col", class: kind }, label);
  const row = ({ query_id: query, documents, relevant, min_label: low, max_label: high, columns: values }) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, h("a", { class: "name", href: address(query), title: query }, query)),
      h("td", { class: "number" }, count(documents)),
      h("td", { class: "number" }, relevant ? count(relevant) : h("span", { class: "unusual" }, "0")),
      h("td", { class: "number" }, rangeWords(low, high)),
      ...columns.map((name) => h("td", {}, h("span", { class: "name", title: values[name] }, values[name]))),
    );
  return h(
    "div",
    { class: "scroll", role: "region", "aria-label": "Queries", tabindex: "0" },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, heading("Query"), heading("Documents", "number"), heading("Relevant", "number"), heading("Labels", "number"), ...columns.map((name) => heading(name)))),
      h("tbody", {}, ...queries.map(row)),
    ),
  );
}
