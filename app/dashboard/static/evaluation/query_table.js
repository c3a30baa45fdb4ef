/**
 * The queries of a result as a table that can be sorted and filtered by value and segment, with a histogram of the values.
 * @module
 */
import { textInput } from "../forms/controls.js";
import { histogram } from "../figures/marks.js";
import { get, getAll } from "../page/api.js";
import { latestReader } from "../page/content.js";
import { h, replace, setAttribute, setText } from "../page/dom.js";
import { hint, rowHead, scrollRegion, tableHead } from "../page/parts.js";
import { count, counted, metric, numberText, short } from "../page/format.js";
import { csvButton, csvSource } from "../tables/csv.js";

const LABEL = "Values of single queries";
const INITIAL_ROWS = 20;
const FURTHER_ROWS = 100;
const MAX_PAGE_SIZE = 200;
const TYPING_MILLISECONDS = 300;
/** Subtracted from the upper edge of a bin, which belongs to the next bin. */
const BIN_EDGE_EPSILON = 1e-12;

/**
 * Sorting and filters of the queries; empty texts filter nothing.
 *
 * @typedef {{sort: string, order: string, min: string, max: string, segment: string}} QuerySelection
 */

/** @typedef {{items: any[], next_cursor: string | null, summary?: Schemas["QuerySummary"] | null}} Page */

/**
 * @typedef {object} Column
 * @property {string} label
 * @property {string} sort the API's name of the column
 * @property {boolean} higherIsBetter whether ascending order has the worst queries first; the worst are
 *   first by default
 * @property {(row: any) => number | null} value
 * @property {(value: number | null) => string} [words] of a value
 */

/**
 * Return a table of queries, the worst first, with its filters and a histogram.
 * @param {object} options
 * @param {string} options.path of the API
 * @param {Record<string, string>} [options.parameters] sent with every request
 * @param {(row: any) => Node} options.query names the query of a row
 * @param {Column[]} options.columns
 * @param {Partial<QuerySelection>} [options.selection] initial selection; by default the worst queries by the first column
 * @param {(selection: QuerySelection) => void} [options.changed] called when the user changes the selection
 */
export function queryTable({ path, parameters = {}, query, columns, selection: initial = {}, changed = () => {} }) {
  const selection = initialSelection(initial, columns);
  const words = h("p.hint", { role: "status" });
  const segment = h("select");
  const limits = { min: limitField("min"), max: limitField("max") };
  const showAll = h("button.quiet.small", { click: clear }, "Show all");
  const segmentLabel = h("label", { hidden: true }, "Segment", segment);
  const range = h("span.range-name");
  const chart = h("div");
  const headings = columns.map(heading);
  const body = h("tbody");
  const below = h("div.rows");
  const table = h("table", tableHead("Query", ...headings), body);
  const load = latestReader(below);
  let typing = 0;
  /** Typed limits that are not applied yet. @type {Partial<QuerySelection>} */
  let pending = {};

  /** @param {"min" | "max"} name */
  function limitField(name) {
    return textInput({ inputmode: "decimal", input: () => typed(name) });
  }

  /** @param {"min" | "max"} name */
  function typed(name) {
    clearTimeout(typing);
    const field = limits[name];
    const value = field.value.trim().replace(",", ".").replace("−", "-");
    const isNumber = value === "" || Number.isFinite(Number(value));
    setAttribute(field, "aria-invalid", !isNumber && "true");
    if (isNumber) pending[name] = value;
    else delete pending[name];
    // The fields keep the text: the user may still be typing.
    typing = setTimeout(() => changeSelection({}), TYPING_MILLISECONDS);
  }

  /** @param {Column} column */
  function heading({ label, sort, higherIsBetter }) {
    const press = () =>
      changeSelection(
        selection.sort === sort
          ? { order: selection.order === "asc" ? "desc" : "asc" }
          : { sort, order: higherIsBetter ? "asc" : "desc", min: "", max: "" },
      );
    return h("th.number", { scope: "col" }, h("button.sort", { click: press }, label));
  }

  function clear() {
    changeSelection({ min: "", max: "", segment: "" });
    segment.focus();
  }

  /** Apply the typed limits and then the changes, and read the queries. @param {Partial<QuerySelection>} changes */
  function changeSelection(changes) {
    clearTimeout(typing);
    Object.assign(selection, pending, changes);
    pending = {};
    for (const name of /** @type {const} */ (["min", "max"])) {
      if (name in changes) limits[name].value = selection[name] && numberText(Number(selection[name]));
    }
    changed(selection);
    read();
  }

  /** Read the first page, or the page at a cursor. */
  function read(cursor = "") {
    const address = `${path}?${searchParameters(cursor, cursor ? FURTHER_ROWS : INITIAL_ROWS)}`;
    return load(
      () => get(address),
      (page) => show(/** @type {Page} */ (page), cursor),
    );
  }

  /** Read all queries that match the filters, including those not shown yet. */
  async function readAll() {
    /** @type {import("../tables/csv.js").Row[]} */
    const rows = [["query_id", "query_text", ...columns.map(({ label }) => label)]];
    const items = /** @type {Page["items"]} */ (await getAll(`${path}?${searchParameters("", MAX_PAGE_SIZE)}`));
    for (const item of items) rows.push([item.query_id, item.query_text, ...columns.map(({ value }) => value(item))]);
    return rows;
  }

  /** @param {string} cursor @param {number} limit */
  function searchParameters(cursor, limit) {
    const values = new URLSearchParams({ ...parameters, limit: String(limit) });
    for (const [name, value] of Object.entries(selection)) if (value) values.set(name, value);
    if (cursor) values.set("cursor", cursor);
    return values;
  }

  /** @param {Page} page @param {string} cursor */
  function show({ items, next_cursor: next, summary }, cursor) {
    const before = cursor ? body.rows.length : 0;
    if (summary) showSummary(summary);
    for (const [index, { sort }] of columns.entries()) {
      const direction = selection.order === "desc" ? "descending" : "ascending";
      setAttribute(headings[index], "aria-sort", sort === selection.sort && direction);
    }
    if (!cursor) replace(body);
    body.append(...items.map(row));
    const more = next && h("button.quiet.small.show-more", { click: () => read(next) }, "Show more");
    replace(below, more, !body.rows.length && hint("No query matches these filters."));
    const added = before ? body.rows[before]?.querySelector("a, button") : null;
    if (added instanceof HTMLElement) added.focus();
  }

  /** @param {any} item */
  function row(item) {
    return h("tr", [
      rowHead(query(item)),
      ...columns.map(({ value, words = metric }) => h("td.number", words(value(item)))),
    ]);
  }

  /** @param {Schemas["QuerySummary"]} summary */
  function showSummary({ total, histogram: counts, segments }) {
    showAll.hidden = !(selection.min || selection.max || selection.segment);
    setText(range, counts.of);
    setAttribute(limits.min, "aria-label", `Minimum ${counts.of}`);
    setAttribute(limits.max, "aria-label", `Maximum ${counts.of}`);
    const inSegment = counts.counts.reduce((sum, each) => sum + each, counts.undefined);
    setText(
      words,
      total === inSegment ? counted(total, "query", "queries") : `${count(total)} of ${count(inSegment)} queries`,
    );
    showSegments(segments);
    replace(chart, [distribution(counts, (least, most) => changeSelection({ min: String(least), max: String(most) }))]);
  }

  /** @param {Schemas["QuerySegment"][]} segments */
  function showSegments(segments) {
    const options = segments.map(({ name, queries }) => h("option", { value: name }, `${name} (${count(queries)})`));
    replace(segment, h("option", { value: "" }, "All queries"), ...options);
    segment.value = selection.segment;
    segmentLabel.hidden = !segments.length;
  }

  segment.addEventListener("change", () => changeSelection({ segment: segment.value }));
  limits.min.value = selection.min;
  limits.max.value = selection.max;
  csvSource(table, readAll);
  read();
  return [
    h("div.browser-head.query-filters", [
      segmentLabel,
      h("span.range", range, " from", limits.min, "to", limits.max),
      showAll,
      words,
    ]),
    chart,
    scrollRegion(LABEL, table),
    below,
    h("div.table-foot", csvButton(table, LABEL)),
  ];
}

/** @param {Partial<QuerySelection>} selection @param {Column[]} columns @returns {QuerySelection} */
function initialSelection({ sort, order = "", min = "", max = "", segment = "" }, columns) {
  const { sort: by, higherIsBetter } = columns.find((each) => each.sort === sort) || columns[0];
  const isKnown = sort === by && ["asc", "desc"].includes(order);
  const number = (/** @type {string} */ text) => (Number.isFinite(Number(text)) ? text : "");
  const worst = higherIsBetter ? "asc" : "desc";
  return { sort: by, order: isKnown ? order : worst, min: number(min), max: number(max), segment };
}

/** @param {Schemas["Histogram"]} counts @param {(least: number, most: number) => void} narrow */
function distribution({ of, edges, counts, undefined: without }, narrow) {
  const last = counts.length - 1;
  const columns = counts.map((number, index) => ({
    label: short(edges[index]),
    count: number,
    title: `${short(edges[index])} to ${short(edges[index + 1])}: ${counted(number, "query", "queries")}`,
    pick: () => narrow(edges[index], index === last ? edges[index + 1] : edges[index + 1] - BIN_EDGE_EPSILON),
  }));
  const largest = counts.indexOf(Math.max(...counts));
  const rest = without ? `; ${counted(without, "query", "queries")} without a value` : "";
  return histogram(columns, {
    caption: `Queries by ${of}`,
    axis: `${of}; press a bar to see its queries${rest}`,
    summary: `Queries by ${of}: most, ${count(counts[largest])}, from ${short(edges[largest])} to ${short(edges[largest + 1])}${rest}`,
  });
}
