/**
 * Lists of the API, each from one declaration: filters, a table that is sorted and paged by the URL and kept current,
 * columns to choose, rows to select for bulk actions, row details, and the text of an empty list. @module
 */
import { keyedList } from "./table.js";
import { showOnly } from "../page/content.js";
import { conditionalReader, getAll, Problem } from "../page/api.js";
import { changeDetector, elementById, findAll, h, replace, find } from "../page/dom.js";
import { closable, emptyState, problemBox, scrollRegion } from "../page/parts.js";
import { poll } from "../page/poll.js";
import { ID } from "./columns.js";
import { cellsOf, csvButton, csvSource } from "./csv.js";
import { cellOf, listRow } from "./list_row.js";
import {
  activeFilters,
  followFilters,
  offerDatasetFilter,
  offerProjectFilter,
  onFirstPage,
  parameters,
  showPager,
} from "./paged_list.js";
import { tickedRows } from "./ticked_rows.js";

const PAGE_SIZE = 50;
/** Rows per request of a CSV download. */
const DOWNLOAD_PAGE_SIZE = 200;
/** Sort orders of URLs from the first release: the column, and whether the order descends. */
/** @type {Record<string, [string, boolean]>} */
const LEGACY_ORDERS = { newest: ["created", true], oldest: ["created", false], longest: ["duration", true] };

/**
 * @typedef {object} ListColumn
 * @property {string} key name of the column in the URL
 * @property {string} label
 * @property {string} [sort] value of the API's `sort` parameter, such as `name`, or `metric:ndcg@10`
 * @property {boolean} [number] aligned right
 * @property {boolean} [descends] whether the first sort is descending; numbers always do
 * @property {boolean} [optional] shown only if the user selects it
 * @property {string[]} [fields] of an item that its cells need
 * @property {(item: any) => any} cell children of the cell
 */

/** @typedef {{items: any[], next_cursor: string | null}} Page */
/** @typedef {{node: HTMLElement, update: (item: any) => any}} Details */

/**
 * @typedef {object} Ticked
 * @property {string} kind of the list
 * @property {string[]} ids of the ticked rows
 * @property {Map<string, any>} items that have been read, by id
 * @property {() => void} clear
 * @property {() => import("./paged_list.js").ActiveFilter[]} filters of the list now
 * @property {() => void} reload reads the list again
 */

/**
 * The declaration of a list.
 *
 * @typedef {object} List
 * @property {string} kind plural, such as `jobs`: the path in the API and of the page, and the id of the container
 * @property {string} noun of one row, such as `job`, whose rows have the attribute `data-job`
 * @property {string[]} filters parameters of the URL that are sent to the API, besides the project and the prefix
 * @property {string[]} fields of an item that every row needs
 * @property {ListColumn[]} columns the first one is the row header and always shown; the id column follows the last
 * @property {(items: any[]) => ListColumn[]} [furtherColumns] such as a column for each metric of the items
 * @property {boolean} [folds] whether items that belong to another item are hidden, unless a filter selects them
 * @property {string} [after] key of the column before `furtherColumns`
 * @property {(item: any) => string} name of an item, for its check box and its details button
 * @property {((ticked: Ticked) => any)[]} [actions] make the buttons and links for ticked rows
 * @property {(item: any, changed: () => void) => Details} [details] of an open row
 * @property {(item: any) => boolean} [isActive] whether an item may change soon
 * @property {(item: any) => string} [announcement] of a new status
 * @property {[sentence: string, href: string, action: string]} empty text and link where there is no item yet
 */

/**
 * Set parameters of the URL. Commas and colons, which separate columns and metrics, are legal in a query.
 * @param {Record<string, string | null>} values null removes a parameter
 */
function setParameters(values) {
  const query = parameters();
  for (const [name, value] of Object.entries(values)) {
    if (value === null) query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString().replaceAll("%2C", ",").replaceAll("%3A", ":");
  history.replaceState(null, "", `${location.pathname}${text && `?${text}`}${location.hash}`);
}

/** Show a list on its page. @param {List} list @returns {() => void} reload the list */
export function showList(list) {
  const form = elementById("filters", HTMLFormElement);
  const reload = listTable(elementById(list.kind), form, { ...list, columns: [...list.columns, ID] });
  followFilters(form, reload);
  offerSkip(elementById(list.kind));
  for (const parameter of ["dataset", "dataset_id"])
    if (list.filters.includes(parameter)) offerDatasetFilter(form, parameter).catch(() => {});
  offerProjectFilter(form).catch(() => {});
  return reload;
}

/** Return the filter parameters of a list. @param {List} list */
const filterParameters = ({ filters }) => [...filters, "project", "prefix"];

/** Check whether the URL has filters besides dataset and project; then no rows are folded. */
export const unfolds = () =>
  [...parameters().keys()].some((name) => ["kind", "status", "text", "tag", "prefix"].includes(name));

/** Return the text of an empty list. @param {List} list */
function emptyList(list) {
  const { noun, empty } = list;
  const page = `/${list.kind}`;
  const kind = list.kind.replace("-", " ");
  const requested = parameters();
  if (filterParameters(list).some((name) => requested.get(name)))
    return emptyState(`No matching ${kind}`, `No ${noun} matches the filters above.`, page, `All ${kind}`);
  if (!onFirstPage()) return emptyState(`No older ${kind}`, "This is the end of the list.", page, `Newest ${kind}`);
  return emptyState(`No ${kind} yet`, ...empty, "write");
}

/**
 * @param {HTMLElement} container
 * @param {HTMLFormElement} form of the filters, to which the column menu is added
 * @param {List} list
 * @returns {() => void} reload the list
 */
function listTable(container, form, list) {
  const read = conditionalReader();
  const path = `/v1/${list.kind}`;
  const label = list.kind[0].toUpperCase() + list.kind.slice(1);
  const filters = () => activeFilters(form, filterParameters(list));
  const selection =
    list.actions && tickedRows(container, list, { redraw: () => draw(), filters, reload: () => reload() });
  const head = h("tr");
  const table = h("table.list", h("thead", head));
  const scroll = scrollRegion(label, table);
  const chooser = columnChooser(showColumns);
  const node = h("div.panel.list-panel", scroll);
  csvSource(table, allRows);
  form.append(h("span.list-tools", csvButton(table, label), chooser.node));
  const rows = keyedList(table, (/** @type {any} */ item) => listRow(item, list, selection, () => reload()), 1);
  let columns = list.columns;
  /** @type {Page | null} */ let shownPage = null;
  const isNewHead = changeDetector();

  /** Return the columns that the URL selects, else the default columns. @returns {ListColumn[]} */
  function shown() {
    const wanted = parameters().get("columns")?.split(",");
    const [first, ...others] = columns;
    return [first, ...others.filter(({ key, optional }) => (wanted ? wanted.includes(key) : !optional))];
  }

  function address() {
    const requested = parameters();
    const query = new URLSearchParams({ limit: String(PAGE_SIZE) });
    for (const name of [...filterParameters(list), "order", "cursor"]) {
      const value = requested.get(name);
      if (value) query.set(name, value);
    }
    if (list.folds && !unfolds()) query.set("folded", "true");
    const [sort, metric] = (requested.get("sort") ?? "").split(/:(.*)/);
    if (sort) query.set("sort", sort);
    if (metric) query.set("metric", metric);
    query.set("fields", [...new Set([...list.fields, ...shown().flatMap(({ fields }) => fields ?? [])])].join());
    return `${path}?${query}`;
  }

  /** Read the rows of this page and all later ones, sorted and filtered as shown, in the visible columns. */
  async function allRows() {
    const visible = shown();
    const query = new URLSearchParams(address().split("?")[1]);
    query.set("limit", String(DOWNLOAD_PAGE_SIZE));
    const items = await getAll(`${path}?${query}`);
    const row = (/** @type {any} */ item) => h("tr", ...visible.map((column) => cellOf(null, column, item)));
    return [visible.map(({ label }) => label), ...items.map((item) => cellsOf(row(item)))];
  }

  async function refresh() {
    let requested;
    // Read again if sorting or filters changed while the request was pending.
    do {
      requested = address();
      await show(/** @type {Page | null} */ (await read(requested).catch(refused)));
    } while (requested !== address());
    return Boolean(list.isActive && shownPage?.items.some(list.isActive));
  }

  /** Show why the API refused a filter, and keep polling, so that the user can correct it. @param {unknown} error */
  function refused(error) {
    if (!(error instanceof Problem) || error.status !== 422) throw error;
    showOnly(container, problemBox(error));
    return null;
  }

  /** @param {Page | null} page */
  async function show(page) {
    if (page && page !== shownPage) {
      shownPage = page;
      draw();
    }
    if (!page) shownPage = null;
    const open = rows.entries().filter((row) => row.isOpen());
    await Promise.all(open.map((row) => row.showDetails()));
  }

  function draw() {
    if (!shownPage) return;
    const { items, next_cursor: next } = shownPage;
    container.removeAttribute("aria-busy");
    showPager(next);
    selection?.setItems(items);
    if (!items.length) {
      rows.arrange([]);
      replace(container, emptyList(list));
      return;
    }
    const position = list.columns.findIndex(({ key }) => key === list.after) + 1;
    columns = list.columns.toSpliced(position, 0, ...(list.furtherColumns?.(items) ?? []));
    const visible = shown();
    drawHead(visible);
    for (const [index, row] of rows.arrange(items).entries()) row.update(items[index], visible);
    if (!container.contains(node)) replace(container, node);
    fit();
  }

  /** Mark tables that are wider than the panel, which scroll sideways; others scroll with the page under a sticky head. */
  function fit() {
    node.toggleAttribute("data-wide", table.offsetWidth > node.clientWidth);
  }
  addEventListener("resize", fit);

  /** @param {ListColumn[]} visible */
  function drawHead(visible) {
    const sort = sortedBy(columns);
    if (isNewHead([visible.map(({ key }) => key), sort])) {
      const focused = head.contains(document.activeElement) && document.activeElement?.closest("th")?.dataset.column;
      replace(head, [
        selection && h("td.tick", selection.all),
        list.details && h("td.tick"),
        ...visible.map((column) => heading(column, sort, resort)),
      ]);
      findAll(head, `[data-column="${CSS.escape(String(focused))}"] button`, HTMLElement)[0]?.focus();
    }
    chooser.offer(columns.slice(1), new Set(visible.map(({ key }) => key)));
  }

  /** @param {ListColumn} column */
  function resort(column) {
    const now = sortedBy(columns);
    const descending = now.key === column.key ? !now.descending : descendsFirst(column);
    setParameters({ sort: column.sort ?? null, order: descending ? "desc" : "asc", cursor: null });
    drawHead(shown());
    reload();
  }

  /** @param {string[]} keys */
  function showColumns(keys) {
    const usual = columns
      .slice(1)
      .filter(({ optional }) => !optional)
      .map(({ key }) => key);
    setParameters({ columns: keys.join() === usual.join() ? null : keys.join() });
    reload();
  }

  const reload = poll(refresh, (problem) => showOnly(container, problemBox(problem)));
  return reload;
}

/** @param {ListColumn} column */
const descendsFirst = ({ number, descends }) => Boolean(number || descends);

/** Return the sort column of the URL, and its direction. @param {ListColumn[]} columns */
function sortedBy(columns) {
  const requested = parameters();
  const sort = requested.get("sort") || "created";
  const [wanted, legacyDescending] = LEGACY_ORDERS[sort] ?? [sort, null];
  const column = columns.find((each) => each.sort === wanted);
  if (!column) return { key: "", descending: false };
  const order = requested.get("order");
  return { key: column.key, descending: legacyDescending ?? (order ? order === "desc" : descendsFirst(column)) };
}

/**
 * @param {ListColumn} column @param {{key: string, descending: boolean}} sort
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
    [sort ? h("button.sort", { click: () => resort(column) }, label) : label],
  );
}

/** @param {HTMLElement} container of the list */
function offerSkip(container) {
  const link = h("a.skip", { href: `#${container.id}`, click }, "Skip to the first row");
  find(document, ".skip").after(link);

  /** @param {Event} event */
  function click(event) {
    const first = container.querySelector("tbody :is(a, button, input)");
    if (!(first instanceof HTMLElement)) return;
    event.preventDefault();
    first.focus();
  }
}

/** Return the menu of columns. @param {(keys: string[]) => void} chosen called with the keys of the ticked columns */
function columnChooser(chosen) {
  const list = h("div.column-list", { role: "group", "aria-label": "Columns" });
  const node = closable(h("details.column-chooser", h("summary.button.quiet.small", "Columns"), list));
  const hasChanged = changeDetector();
  // The menu is in a form whose other controls are filters.
  node.addEventListener("input", (event) => event.stopPropagation());
  const boxes = () => [...list.querySelectorAll("input")];
  const choose = () =>
    chosen(
      boxes()
        .filter(({ checked }) => checked)
        .map(({ value }) => value),
    );
  return {
    node,
    /** @param {ListColumn[]} columns @param {Set<string>} shown keys */
    offer(columns, shown) {
      if (hasChanged(columns.map(({ key }) => key))) {
        const box = (/** @type {ListColumn} */ { key }) => h("input", { type: "checkbox", value: key, change: choose });
        replace(list, ...columns.map((column) => h("label.check", box(column), column.label)));
      }
      for (const box of boxes()) box.checked = shown.has(box.value);
    },
  };
}
