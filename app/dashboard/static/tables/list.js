/**
 * Lists of the API, each from one declaration: filters, a table that is sorted and paged by the address and kept
 * current, columns to choose, rows to tick for bulk actions, rows that open, and what an empty list shows.
 * @module
 */
import { conditionalReader, get, Problem } from "../page/api.js";
import { announce, elementById, emptyState, h, problemBox, replace, setAttribute, setText } from "../page/dom.js";
import { count } from "../page/format.js";
import { poll } from "../page/poll.js";
import { cellsOf, csvButton, csvSource } from "./csv.js";
import { ID } from "./columns.js";
import { askedFilters, followFilters, onFirstPage, showFilters, showPager } from "./paged_list.js";

const LIMIT = 50;
/** Rows of one request for a file. */
const MOST = 200;
/** What the API takes in the place of a project's name for things without one. */
const NO_PROJECT = "-";
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
/** @typedef {ReturnType<typeof tickedRows>} Selection */

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
 * @property {string} [after] key of the column before them
 * @property {(item: any) => string} name of an item, for its box and its button
 * @property {((ticked: Ticked) => any)[]} [actions] make the buttons and links for ticked rows
 * @property {(item: any, changed: () => void) => Details} [details] of an open row
 * @property {(item: any) => boolean} [isActive] whether an item may change soon
 * @property {(item: any) => string} [announcement] of a new status
 * @property {[sentence: string, href: string, action: string]} empty what to do where there is no item yet
 */

function here() {
  return new URLSearchParams(location.search);
}

/** @param {Record<string, string | null>} values null for none */
function remember(values) {
  const query = here();
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
  for (const parameter of ["dataset", "dataset_id"])
    if (list.filters.includes(parameter)) offerDatasetFilter(form, parameter).catch(() => {});
  offerProjectFilter(form).catch(() => {});
  return again;
}

/** Parameters that narrow a list. @param {List} list */
function narrowing({ filters }) {
  return [...filters, "project", "prefix"];
}

/** What a list shows in place of an empty table. @param {List} list */
function nothing(list) {
  const { kind, noun, empty } = list;
  const page = `/${kind}`;
  const asked = here();
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
  const selection = list.actions && tickedRows(place, form, list, { redraw: () => draw(), again: () => again() });
  const head = h("tr");
  const table = h("table", { class: "list" }, h("thead", {}, head));
  const scroll = h("div", { class: "scroll", role: "region", "aria-label": label, tabindex: "0" }, table);
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
    const wanted = here().get("columns")?.split(",");
    const [first, ...others] = columns;
    return [first, ...others.filter(({ key, optional }) => (wanted ? wanted.includes(key) : !optional))];
  }

  function address() {
    const asked = here();
    const query = new URLSearchParams({ limit: String(LIMIT) });
    for (const name of [...narrowing(list), "order", "cursor"]) {
      const value = asked.get(name);
      if (value) query.set(name, value);
    }
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
          cellsOf(/** @type {HTMLTableRowElement} */ (tableRow(visible.map((column) => cellOf(null, column, item))))),
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
    selection?.see(items);
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
  }

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
  const asked = here();
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

/**
 * One row, which keeps its cells where their content is as it was, and what was opened below it.
 *
 * @param {any} first
 * @param {List} list
 * @param {Selection | undefined} selection
 * @param {() => void} again
 */
function listRow(first, list, selection, again) {
  const row = h("tr");
  const node = h("tbody", { [`data-${list.noun}`]: first.id }, row);
  const open =
    list.details &&
    h("button", { type: "button", class: "quiet open-row", "aria-expanded": "false", click: toggle }, "▸");
  /** @type {Map<string, HTMLElement>} */
  let cells = new Map();
  let drawn = "";
  let item = first;
  /** @type {Details | undefined} */
  let details;
  const below = h("tr", { class: "row-details", hidden: true });
  if (open) node.append(below);

  async function toggle() {
    below.hidden = !below.hidden;
    open?.setAttribute("aria-expanded", String(!below.hidden));
    if (!below.hidden) await showDetails();
    again();
  }

  async function showDetails() {
    if (!details) {
      details = list.details?.(item, again);
      replace(below, h("td", { colspan: "100" }, details?.node));
    }
    await details?.update(item);
  }

  return {
    node,
    isOpen: () => Boolean(open) && !below.hidden,
    showDetails,
    /** @param {any} now @param {ListColumn[]} visible */
    update(now, visible) {
      const text = JSON.stringify(now);
      if (list.announcement && now.status !== item.status) announce(list.announcement(now));
      item = now;
      setAttribute(node, "data-status", now.status);
      const keys = visible.map(({ key }) => key).join();
      if (text + keys === drawn) return;
      drawn = text + keys;
      const known = cells;
      cells = new Map(visible.map((column, index) => [column.key, cellOf(known.get(column.key), column, now, index)]));
      if (open) setAttribute(open, "aria-label", `Details of ${list.name(now)}`);
      const wanted = [
        selection && (row.querySelector(".tick") ?? h("td", { class: "tick" }, selection.box(now, list.name(now)))),
        open && (open.parentElement ?? h("td", { class: "tick" }, open)),
        ...cells.values(),
      ].filter(Boolean);
      if (wanted.some((cell, index) => row.children[index] !== cell) || row.children.length !== wanted.length)
        replace(row, ...wanted);
    },
  };
}

/**
 * The cell there is, with new content only where that is another.
 *
 * @param {HTMLElement | null | undefined} known
 * @param {ListColumn} column
 * @param {any} item
 * @param {number} [index] 0 heads the row
 */
function cellOf(known, { number, cell, key }, item, index) {
  const fresh = h(
    index === 0 ? "th" : "td",
    { scope: index === 0 && "row", class: number && "number", "data-column": key },
    cell(item),
  );
  if (!known) return fresh;
  if (!isSame(known, fresh)) known.replaceChildren(...fresh.childNodes);
  return known;
}

/** Check whether two cells have the same content. @param {HTMLElement} one @param {HTMLElement} other */
function isSame(one, other) {
  const [before, now] = [one.childNodes, other.childNodes];
  return before.length === now.length && [...before].every((node, index) => node.isEqualNode(now[index]));
}

/** @param {HTMLElement[]} cells */
function tableRow(cells) {
  return h("tr", {}, ...cells);
}

/** The columns to choose from. @param {(keys: string[]) => void} chosen */
function columnChooser(chosen) {
  const list = h("div", { class: "column-list", role: "group", "aria-label": "Columns" });
  const node = h(
    "details",
    { class: "column-chooser" },
    h("summary", { class: "button quiet small" }, "Columns"),
    list,
  );
  let offered = "";
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !node.open) return;
    node.open = false;
    node.querySelector("summary")?.focus();
  });
  // It is in a form whose other controls are filters.
  node.addEventListener("input", (event) => event.stopPropagation());
  document.addEventListener("click", (event) => {
    if (event.target instanceof Node && !node.contains(event.target)) node.open = false;
  });
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
      const state = JSON.stringify(columns.map(({ key }) => key));
      if (state !== offered) {
        offered = state;
        const box = (/** @type {ListColumn} */ { key }) => h("input", { type: "checkbox", value: key, change: choose });
        replace(list, ...columns.map((column) => h("label", { class: "check" }, box(column), column.label)));
      }
      for (const box of boxes()) box.checked = shown.has(box.value);
    },
  };
}

/**
 * Ticked rows, whose ids stay in the address from page to page, and the bar of what can be done with them.
 *
 * @param {HTMLElement} place
 * @param {HTMLFormElement} form of the filters
 * @param {List} list
 * @param {{redraw: () => void, again: () => void}} table
 */
function tickedRows(place, form, list, { redraw, again }) {
  const ids = new Set(here().getAll("tick"));
  /** @type {Map<string, any>} */
  const items = new Map();
  /** @type {any[]} */
  let page = [];
  const bar = h("div", {
    class: "ticked",
    role: "region",
    "aria-label": `Selected ${list.kind}`,
    hidden: true,
  });
  const words = h("span", { role: "status" });
  const all = /** @type {HTMLInputElement} */ (
    h("input", { type: "checkbox", "aria-label": "Select all on this page", change: tickAll })
  );
  place.after(bar);

  function tickAll() {
    for (const { id } of page) {
      if (all.checked) ids.add(id);
      else ids.delete(id);
    }
    changed();
  }

  function clear() {
    ids.clear();
    changed();
    all.focus();
  }

  function changed() {
    const query = here();
    query.delete("tick");
    for (const id of ids) query.append("tick", id);
    history.replaceState(null, "", `${location.pathname}${query.size ? `?${query}` : ""}${location.hash}`);
    show();
    redraw();
    // The links to other pages carry what is ticked.
    for (const link of document.querySelectorAll("#pager a")) {
      if (!(link instanceof HTMLAnchorElement)) continue;
      const url = new URL(link.href);
      url.searchParams.delete("tick");
      for (const id of ids) url.searchParams.append("tick", id);
      link.href = url.href;
    }
  }

  function filters() {
    return askedFilters(form, narrowing(list));
  }

  function show() {
    for (const box of place.querySelectorAll("td.tick input"))
      if (box instanceof HTMLInputElement && box !== all) box.checked = ids.has(box.value);
    const here = page.filter(({ id }) => ids.has(id)).length;
    all.checked = page.length > 0 && here === page.length;
    all.indeterminate = here > 0 && here < page.length;
    bar.hidden = ids.size === 0;
    setText(words, ids.size ? `${count(ids.size)} selected` : "");
    const ticked = { kind: list.kind, ids: [...ids], items, clear, filters, again };
    if (!bar.hidden)
      replace(
        bar,
        words,
        ...(list.actions ?? []).map((action) => action(ticked)),
        h("button", { type: "button", class: "quiet", click: clear }, "Clear"),
      );
  }

  return {
    all,
    /** A box for an item. @param {{id: string}} item @param {string} name */
    box({ id }, name) {
      const tick = () => {
        if (box.checked) ids.add(id);
        else ids.delete(id);
        changed();
      };
      const box = /** @type {HTMLInputElement} */ (
        h("input", { type: "checkbox", value: id, "aria-label": `Select ${name}`, change: tick })
      );
      box.checked = ids.has(id);
      return box;
    },
    /** Takes in the items of the page; what is known of them decides what can be done. @param {any[]} now */
    see(now) {
      page = now;
      for (const item of now) items.set(item.id, item);
      show();
    },
  };
}

/**
 * Offers the names of the newest datasets in a filter.
 *
 * @param {HTMLFormElement} form of the filters
 * @param {string} parameter of the filter
 */
export async function offerDatasetFilter(form, parameter) {
  const select = /** @type {HTMLSelectElement} */ (form.querySelector(`select[data-filter="${parameter}"]`));
  const asked = here().get(parameter);
  const { items } = /** @type {{items: {id: string, name: string}[]}} */ (
    await get("/v1/datasets?fields=name&limit=200")
  );
  const other = asked && !items.some(({ id }) => id === asked) && h("option", { value: asked }, asked);
  replace(select, select.options[0], other, ...items.map(({ id, name }) => h("option", { value: id }, name)));
  showFilters(form);
}

/**
 * Offers the projects in a filter, which is left out where there are none.
 *
 * @param {HTMLFormElement} form of the filters
 */
export async function offerProjectFilter(form) {
  const { items, bound } = await get("/v1/projects");
  const names = items.map(({ name }) => name);
  const asked = here().get("project");
  if (asked && asked !== NO_PROJECT && !names.includes(asked)) names.push(asked);
  if (!names.length) return;
  const select = h(
    "select",
    { "data-filter": "project", "aria-label": "Filter by project" },
    h("option", { value: "" }, "All projects"),
    !bound && h("option", { value: NO_PROJECT }, "No project"),
    ...names.map((name) => h("option", {}, name)),
  );
  form.querySelector(".list-tools")?.before(select);
  showFilters(form);
}

/**
 * Columns of the metrics that items have: the first is shown, the others can be chosen.
 *
 * @param {any[]} items
 * @param {(item: any, metric: string) => any} cell
 * @returns {ListColumn[]}
 */
export function metricColumns(items, cell) {
  const names = [...new Set(items.flatMap(({ metrics }) => Object.keys(metrics ?? {})))];
  const sorted = here()
    .get("sort")
    ?.replace(/^metric:/, "");
  return names.map((name, index) => ({
    key: name,
    label: name,
    sort: `metric:${name}`,
    number: true,
    optional: index > 1 && name !== sorted,
    cell: (item) => cell(item, name),
  }));
}
