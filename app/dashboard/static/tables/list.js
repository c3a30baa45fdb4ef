/**
 * Lists of the API, each from one declaration: filters, a table that is sorted and paged by the address and kept
 * current, columns to choose, rows to tick for bulk actions, rows that open, and what an empty list shows.
 * @module
 */
import { conditionalReader, get, Problem } from "../page/api.js";
import { elementById, emptyState, h, problemBox, replace, scrollRegion } from "../page/dom.js";
import { poll } from "../page/poll.js";
import { columnChooser } from "./column_chooser.js";
import { ID } from "./columns.js";
import { cellsOf, csvButton, csvSource } from "./csv.js";
import { cellOf, listRow } from "./list_row.js";
import {
  askedFilters,
  followFilters,
  offerDatasetFilter,
  offerProjectFilter,
  onFirstPage,
  parameters,
  showPager,
} from "./paged_list.js";
import { offerSkip } from "./skip.js";
import { tickedRows } from "./ticked_rows.js";

const LIMIT = 50;
/** Rows of one request for a file. */
const MOST = 200;
/** Whole orders that addresses of the first edition name. */
/** @type {Record<string, [string, boolean]>} */
const WHOLE_ORDERS = { newest: ["created", true], oldest: ["created", false], longest: ["duration", true] };

/**
 * @typedef {object} ListColumn
 * @property {string} key what it is called in the address
 * @property {string} label
 * @property {string} [sort] what the API sorts by, such as `name`, or `metric:ndcg@10`
 * @property {boolean} [number] aligned right
 * @property {boolean} [descends] sorted from the largest or latest first; numbers do
 * @property {boolean} [optional] shown only where it is chosen
 * @property {string[]} [fields] what its cells need of an item
 * @property {(item: any) => any} cell children of the cell
 */

/** @typedef {{items: any[], next_cursor: string | null}} Page */
/** @typedef {{node: HTMLElement, update: (item: any) => any}} Details */

/**
 * @typedef {object} Ticked
 * @property {string} kind of the list
 * @property {string[]} ids of the ticked rows
 * @property {Map<string, any>} items that are known, by id
 * @property {() => void} clear
 * @property {() => import("./paged_list.js").AskedFilter[]} filters that narrow the list now
 * @property {() => void} again reload the list
 */

/**
 * The declaration of a list.
 *
 * @typedef {object} List
 * @property {string} kind plural, such as `jobs`: the path in the API and of the page, and the id of the place
 * @property {string} noun of one row: `job` marks it with `data-job`
 * @property {string[]} filters parameters that the address passes on to the API, besides the project and the prefix
 * @property {string[]} fields of an item that every row needs
 * @property {ListColumn[]} columns the first one heads the rows and is always shown; the id follows the last
 * @property {(items: any[]) => ListColumn[]} [found] further columns, such as the metrics that the items have
 * @property {boolean} [folds] leaves out what belongs to another item, unless a filter asks for it
 * @property {string} [after] key of the column before them
 * @property {(item: any) => string} name of an item, for its box and its button
 * @property {((ticked: Ticked) => any)[]} [actions] make the buttons and links for ticked rows
 * @property {(item: any, changed: () => void) => Details} [details] of an open row
 * @property {(item: any) => boolean} [isActive] whether an item may change soon
 * @property {(item: any) => string} [announcement] of a new status
 * @property {[sentence: string, href: string, action: string]} empty what to do where there is no item yet
 */

/** @param {Record<string, string | null>} values null for none */
function remember(values) {
  const query = parameters();
  for (const [name, value] of Object.entries(values)) {
    if (value === null) query.delete(name);
    else query.set(name, value);
  }
  // Commas and colons separate columns and metrics; they are legal in a query.
  const text = query.toString().replaceAll("%2C", ",").replaceAll("%3A", ":");
  history.replaceState(null, "", `${location.pathname}${text && `?${text}`}${location.hash}`);
}

/**
 * Show a list in its page.
 *
 * @param {List} list
 * @returns {() => void} reload the list
 */
export function showList(list) {
  const form = elementById("filters", HTMLFormElement);
  const again = listTable(elementById(list.kind), form, { ...list, columns: [...list.columns, ID] });
  followFilters(form, again);
  offerSkip(elementById(list.kind));
  for (const parameter of ["dataset", "dataset_id"])
    if (list.filters.includes(parameter)) offerDatasetFilter(form, parameter).catch(() => {});
  offerProjectFilter(form).catch(() => {});
  return again;
}

/** Parameters that narrow a list. @param {List} list */
function narrowing({ filters }) {
  return [...filters, "project", "prefix"];
}

/** Check whether the address asks for some rows by more than their dataset or project: none of these is folded. */
export function unfolds() {
  return [...parameters().keys()].some((name) => ["kind", "status", "text", "tag", "prefix"].includes(name));
}

/** What a list shows in place of an empty table. @param {List} list */
function nothing(list) {
  const { kind, noun, empty } = list;
  const page = `/${kind}`;
  const asked = parameters();
  if (narrowing(list).some((name) => asked.get(name)))
    return emptyState(`No such ${kind}`, `No ${noun} is as the filters above ask for.`, page, `All ${kind}`);
  if (!onFirstPage()) return emptyState(`No older ${kind}`, "This is the end of the list.", page, `Newest ${kind}`);
  return emptyState(`No ${kind} yet`, ...empty);
}

/**
 * @param {HTMLElement} place
 * @param {HTMLFormElement} form of the filters, which takes the choice of columns in
 * @param {List} list
 * @returns {() => void} reload the list
 */
function listTable(place, form, list) {
  const read = conditionalReader();
  const path = `/v1/${list.kind}`;
  const label = list.kind[0].toUpperCase() + list.kind.slice(1);
  const filters = () => askedFilters(form, narrowing(list));
  const selection = list.actions && tickedRows(place, list, { redraw: () => draw(), filters, again: () => again() });
  const head = h("tr");
  const table = h("table", { class: "list" }, h("thead", {}, head));
  const scroll = scrollRegion(label, table);
  const chooser = columnChooser(chosen);
  const node = h("div", { class: "panel list-panel" }, scroll);
  csvSource(table, allRows);
  form.append(h("span", { class: "list-tools" }, csvButton(table, label), chooser.node));
  /** @type {Map<string, ReturnType<typeof listRow>>} */
  const rows = new Map();
  let columns = list.columns;
  /** @type {Page | null} */
  let shownPage = null;
  let shownHead = "";

  /** The columns that the address names, else the usual ones. @returns {ListColumn[]} */
  function shown() {
    const wanted = parameters().get("columns")?.split(",");
    const [first, ...others] = columns;
    return [first, ...others.filter(({ key, optional }) => (wanted ? wanted.includes(key) : !optional))];
  }

  function address() {
    const asked = parameters();
    const query = new URLSearchParams({ limit: String(LIMIT) });
    for (const name of [...narrowing(list), "order", "cursor"]) {
      const value = asked.get(name);
      if (value) query.set(name, value);
    }
    if (list.folds && !unfolds()) query.set("folded", "true");
    const [sort, metric] = (asked.get("sort") ?? "").split(/:(.*)/);
    if (sort) query.set("sort", sort);
    if (metric) query.set("metric", metric);
    query.set("fields", [...new Set([...list.fields, ...shown().flatMap(({ fields }) => fields ?? [])])].join());
    return `${path}?${query}`;
  }

  /** The rows of all pages from this one on, as they are sorted and narrowed, in the columns that are shown. */
  async function allRows() {
    const visible = shown();
    /** @type {import("./csv.js").Row[]} */
    const table = [visible.map(({ label }) => label)];
    const query = new URLSearchParams(address().split("?")[1]);
    query.set("limit", String(MOST));
    /** @type {string | null} */
    let next;
    do {
      const page = /** @type {Page} */ (await get(`${path}?${query}`));
      for (const item of page.items)
        table.push(
          cellsOf(
            /** @type {HTMLTableRowElement} */ (h("tr", {}, ...visible.map((column) => cellOf(null, column, item)))),
          ),
        );
      next = page.next_cursor;
      if (next) query.set("cursor", next);
    } while (next);
    return table;
  }

  async function refresh() {
    let asked;
    // What is sorted or narrowed while an answer is under way asks for another.
    do {
      asked = address();
      await show(/** @type {Page | null} */ (await read(asked).catch(refused)));
    } while (asked !== address());
    return Boolean(list.isActive && shownPage?.items.some(list.isActive));
  }

  /** Show why the API refused a filter; the next one that is typed may be right. @param {unknown} error */
  function refused(error) {
    if (!(error instanceof Problem) || error.status !== 422) throw error;
    place.removeAttribute("aria-busy");
    replace(place, problemBox(error));
    return null;
  }

  /** @param {Page | null} page */
  async function show(page) {
    if (page && page !== shownPage) {
      shownPage = page;
      draw();
    }
    if (!page) shownPage = null;
    await Promise.all(openRows().map((row) => row.showDetails()));
  }

  function openRows() {
    return [...rows.values()].filter((row) => row.isOpen());
  }

  function draw() {
    if (!shownPage) return;
    const { items, next_cursor: next } = shownPage;
    place.removeAttribute("aria-busy");
    showPager(next);
    selection?.setItems(items);
    if (!items.length) {
      for (const row of rows.values()) row.node.remove();
      rows.clear();
      replace(place, nothing(list));
      return;
    }
    const behind = list.columns.findIndex(({ key }) => key === list.after) + 1;
    columns = list.columns.toSpliced(behind, 0, ...(list.found?.(items) ?? []));
    const visible = shown();
    drawHead(visible);
    arrange(items, visible);
    if (!place.contains(node)) replace(place, node);
    fit();
  }

  /** A table that fits scrolls with the page below a heading that stays; a wider one scrolls sideways. */
  function fit() {
    node.toggleAttribute("data-wide", table.offsetWidth > node.clientWidth);
  }
  addEventListener("resize", fit);

  /** @param {ListColumn[]} visible */
  function drawHead(visible) {
    const sort = sortedBy(columns);
    const state = JSON.stringify([visible.map(({ key }) => key), sort]);
    if (state !== shownHead) {
      shownHead = state;
      const focused = head.contains(document.activeElement) && document.activeElement?.closest("th")?.dataset.column;
      replace(
        head,
        selection && h("td", { class: "tick" }, selection.all),
        list.details && h("td", { class: "tick" }),
        ...visible.map((column) => heading(column, sort, resort)),
      );
      /** @type {HTMLElement | null} */ (
        head.querySelector(`[data-column="${CSS.escape(String(focused))}"] button`)
      )?.focus();
    }
    chooser.offer(columns.slice(1), new Set(visible.map(({ key }) => key)));
  }

  /**
   * Puts the rows in the items' order without moving those that are already right, so that focus stays.
   * @param {any[]} items
   * @param {ListColumn[]} visible
   */
  function arrange(items, visible) {
    const wanted = new Set(items.map(({ id }) => id));
    for (const [id, row] of rows) {
      if (wanted.has(id)) continue;
      row.node.remove();
      rows.delete(id);
    }
    items.forEach((item, index) => {
      const row = rows.get(item.id) ?? listRow(item, list, selection, () => again());
      rows.set(item.id, row);
      row.update(item, visible);
      if (table.children[index + 1] !== row.node) table.insertBefore(row.node, table.children[index + 1] || null);
    });
  }

  /** @param {ListColumn} column */
  function resort(column) {
    const now = sortedBy(columns);
    const descending = now.key === column.key ? !now.descending : descendsFirst(column);
    remember({ sort: column.sort ?? null, order: descending ? "desc" : "asc", cursor: null });
    drawHead(shown());
    again();
  }

  /** @param {string[]} keys */
  function chosen(keys) {
    const usual = columns
      .slice(1)
      .filter(({ optional }) => !optional)
      .map(({ key }) => key);
    remember({ columns: keys.join() === usual.join() ? null : keys.join() });
    again();
  }

  const again = poll(refresh, (problem) => {
    place.removeAttribute("aria-busy");
    replace(place, problemBox(problem));
  });
  return again;
}

/** @param {ListColumn} column */
function descendsFirst({ number, descends }) {
  return Boolean(number || descends);
}

/** The column that the address sorts by, and how. @param {ListColumn[]} columns */
function sortedBy(columns) {
  const asked = parameters();
  const sort = asked.get("sort") || "created";
  const [wanted, whole] = WHOLE_ORDERS[sort] ?? [sort, null];
  const column = columns.find((each) => each.sort === wanted);
  if (!column) return { key: "", descending: false };
  const order = asked.get("order");
  return { key: column.key, descending: whole ?? (order ? order === "desc" : descendsFirst(column)) };
}

/**
 * @param {ListColumn} column
 * @param {{key: string, descending: boolean}} sort
 * @param {(column: ListColumn) => void} resort
 */
function heading(column, { key, descending }, resort) {
  const { label, sort, number } = column;
  return h(
    "th",
    {
      scope: "col",
      class: number && "number",
      "data-column": column.key,
      "aria-sort": column.key === key && (descending ? "descending" : "ascending"),
    },
    sort ? h("button", { type: "button", class: "sort", click: () => resort(column) }, label) : label,
  );
}
