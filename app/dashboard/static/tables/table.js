/** Tables that are sortable or paged, and lists keyed by id. @module */
import { get, getAll } from "../page/api.js";
import { latestReader } from "../page/content.js";
import { changeDetector, h, replace, setAttribute } from "../page/dom.js";
import { bodyRows, hint, scrollRegion, tableHead } from "../page/parts.js";
import { count } from "../page/format.js";
import { cellsOf, csvButton, csvSource } from "./csv.js";

/**
 * Return a list whose entries keep their elements across updates, so that focus and open details stay.
 * @template {{id: string}} Item
 * @template {{node: HTMLElement, update: (item: Item, ...more: any[]) => unknown}} Entry @param {HTMLElement} list
 * @param {(item: Item) => Entry} make
 * @param {number} [first] number of children before the entries
 */
export function keyedList(list, make, first = 0) {
  /** @type {Map<string, Entry>} */ let entries = new Map();
  /** @type {WeakMap<Entry, (item: Item) => boolean>} */
  const checks = new WeakMap();

  /** @param {Entry} entry @param {Item} item */
  function isNewItem(entry, item) {
    const isNew = checks.get(entry) ?? changeDetector();
    checks.set(entry, isNew);
    return isNew(item);
  }

  /** Put the nodes in the items' order without moving nodes that are already in place. @param {Item[]} items */
  function arrange(items) {
    entries = new Map(items.map((item) => [item.id, entries.get(item.id) ?? make(item)]));
    const nodes = [...entries.values()].map(({ node }) => node);
    for (const child of [...list.children].slice(first)) {
      if (!nodes.some((node) => node === child)) child.remove();
    }
    nodes.forEach((node, index) => {
      const current = list.children[first + index];
      if (current !== node) list.insertBefore(node, current ?? null);
    });
    return [...entries.values()];
  }

  return {
    arrange,
    entries: () => [...entries.values()],
    /** Update the entries whose items have changed, so that a selection of text is kept in others. @param {Item[]} items */
    show: (items) =>
      Promise.all(arrange(items).map((entry, index) => isNewItem(entry, items[index]) && entry.update(items[index]))),
  };
}

/**
 * @template Row
 * @typedef {{label: string, value: (row: Row) => number | string | null}} Part
 */

/**
 * @template Row
 * @typedef {object} Column
 * @property {string} label
 * @property {string} [key] name of the column in an order; default: the label
 * @property {string} [title] description, shown on hover
 * @property {boolean} [number] whether it is aligned right and first sorted descending
 * @property {(row: Row) => number | string | null} value sort value; null is last
 * @property {(row: Row) => Children} [cell] content of the cell; default: the value
 * @property {Part<Row>[]} [parts] columns of the downloaded file, for cells of several values; default: the value
 * @property {(rows: Row[]) => Child} [foot] content of the footer
 */

/**
 * Return a column of numbers.
 * @template Row @param {string} label @param {(row: Row) => number | null} value
 * @param {(value: any) => Children} format @param {Partial<Column<Row>>} [others] @returns {Column<Row>}
 */
export const numberColumn = (label, value, format, others) => ({
  label,
  number: true,
  value,
  cell: (row) => format(value(row)),
  ...others,
});

/**
 * Return the rows of the downloaded file, with the labels first.
 * @template Row @param {Column<Row>[]} columns @param {Row[]} rows
 */
export function tableRows(columns, rows) {
  const parts = columns.flatMap((column) => column.parts ?? [column]);
  return [parts.map((part) => part.label), ...rows.map((row) => parts.map((part) => part.value(row)))];
}

/**
 * Return the columns of the downloaded file for a mean with its interval.
 * @template Row @param {string} label
 * @param {(row: Row) => (number | null | undefined)[]} values mean, lower end and upper end
 * @returns {Part<Row>[]}
 */
export const intervalParts = (label, values) =>
  [label, `${label}, 95% lower`, `${label}, 95% upper`].map((part, index) => ({
    label: part,
    value: (row) => values(row)[index] ?? null,
  }));

/** @typedef {{by: string, descending: boolean}} Order by: the key of a column */

/**
 * Return a table that sorts by the clicked heading, and shows the first rows until the user requests all rows.
 * @template Row
 * @param {Column<Row>[]} columns the first one is the row header
 * @param {{label: string, first?: number, order?: Order | null, attributes?: (row: Row) => Attributes}} options
 *   first: rows shown initially; attributes: of a row's element
 * @returns {{node: HTMLElement, show: (rows: Row[]) => void, order: () => Order | null}}
 */
export function sortableTable(columns, { label, first = Infinity, order = null, attributes = () => ({}) }) {
  /** @type {Row[]} */ let rows = [];
  let most = first;
  const headings = columns.map((column) => heading(column, () => sort(column)));
  const body = h("tbody");
  const all = h("button.quiet.small", { click: showAll });
  const foot = columns.some((column) => column.foot) && h("tfoot", { "aria-hidden": "true" });
  const table = h("table", tableHead(...headings), body, foot);
  csvSource(table, () => tableRows(columns, inOrder()));
  const node = h("div.sortable", scrollRegion(label, table), h("div.table-foot", all, csvButton(table, label)));

  /** Return all rows in their order. */
  function inOrder() {
    const sortedBy = columns.find((column) => keyOf(column) === order?.by);
    return sorted(rows, sortedBy, order?.descending ?? false);
  }

  /** @param {Column<Row>} column */
  function sort(column) {
    const isSameColumn = order?.by === keyOf(column);
    order = { by: keyOf(column), descending: isSameColumn ? !order?.descending : Boolean(column.number) };
    draw();
  }

  function showAll() {
    most = Infinity;
    draw();
    focusFirst(body.rows[first]);
  }

  function draw() {
    const sortedBy = columns.find((column) => keyOf(column) === order?.by);
    headings.forEach((node, index) => {
      setAttribute(node, "aria-sort", columns[index] === sortedBy && (order?.descending ? "descending" : "ascending"));
    });
    const shown = inOrder().slice(0, most);
    replace(
      body,
      shown.map((row) => h("tr", attributes(row), ...columns.map((column, index) => cell(column, row, index)))),
    );
    if (foot) replace(foot, h("tr", ...columns.map((column) => h("td", column.foot?.(rows)))));
    all.hidden = rows.length <= most;
    all.textContent = `Show all ${count(rows.length)}`;
  }

  return {
    node,
    order: () => order,
    /** @param {Row[]} newRows */
    show(newRows) {
      rows = newRows;
      draw();
    },
  };
}

/** @param {{key?: string, label: string}} column */
const keyOf = ({ key, label }) => key ?? label;

/** @param {{label: string, title?: string, number?: boolean}} column @param {() => void} click */
const heading = ({ label, title, number }, click) =>
  h("th", { scope: "col", class: number && "number", title }, h("button.sort", { click }, label));

/** @template Row @param {Column<Row>} column @param {Row} row @param {number} index */
function cell({ number, value, cell: content }, row, index) {
  const attributes = { class: number && "number" };
  const shown = content ? content(row) : value(row);
  return index === 0 ? h("th", { ...attributes, scope: "row" }, shown) : h("td", attributes, shown);
}

/**
 * Sort rows by a column. Equal values keep their order; null is last either way.
 * @template Row @param {Row[]} rows @param {Column<Row> | undefined} column @param {boolean} descending
 */
function sorted(rows, column, descending) {
  if (!column) return rows;
  const sign = descending ? -1 : 1;
  /** @param {number | string | null} one @param {number | string | null} other */
  const compare = (one, other) => {
    if (one === null || other === null) return Number(one === null) - Number(other === null);
    const difference =
      typeof one === "number" && typeof other === "number"
        ? one - other
        : String(one).localeCompare(String(other), "en", { numeric: true });
    return sign * difference;
  };
  return rows
    .map((row) => ({ value: column.value(row), row }))
    .sort((one, other) => compare(one.value, other.value))
    .map(({ row }) => row);
}

/** Focus the first link or button of a row. @param {HTMLTableRowElement | undefined} row */
function focusFirst(row) {
  const target = row?.querySelector("a, button");
  if (target instanceof HTMLElement) target.focus();
}

/**
 * Return a table that loads further pages of the API on request.
 * @template {string} Path
 * @param {string} label name of the table for screen readers
 * @param {Heads} heads
 * @param {Path} address of the first page
 * @param {(item: PageItem<Path>) => Content} cells as those of `bodyRows`
 * @param {string} [empty] sentence below a table without rows
 * @returns {HTMLElement[]} the table, and the elements below it
 */
export function pagedTable(label, heads, address, cells, empty = "") {
  const body = h("tbody");
  const below = h("div.rows");
  const load = latestReader(below);

  /** @param {string} [cursor] */
  function read(cursor) {
    const path = cursor ? `${address}&cursor=${encodeURIComponent(cursor)}` : address;
    return load(
      () => get(path),
      (answer) => {
        const { items, next_cursor: next } = /** @type {Page<Path>} */ (answer);
        const before = body.rows.length;
        body.append(...bodyRows(heads, items, cells));
        replace(below, [
          next && h("button.quiet.small.show-more", { click: () => read(next) }, "Show more"),
          !body.rows.length && empty && hint(empty),
        ]);
        region.hidden = foot.hidden = !body.rows.length && empty !== "";
        if (before) focusFirst(body.rows[before]);
      },
    );
  }

  /** Read all rows, including pages that are not loaded yet. */
  const readAll = async () => [table.rows[0], ...bodyRows(heads, await getAll(address), cells)].map(cellsOf);

  const table = h("table", tableHead(...heads), body);
  const region = scrollRegion(label, table);
  const foot = h("div.table-foot", csvButton(table, label));
  csvSource(table, readAll);
  read();
  return [region, below, foot];
}
