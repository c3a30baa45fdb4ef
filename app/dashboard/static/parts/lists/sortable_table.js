/**
 * A table that sorts by the heading that is pressed, and shows the first rows until asked for all.
 * @module
 */
import { h, replace, setAttribute } from "../page/dom.js";
import { count } from "../page/format.js";

/**
 * @typedef {object} Column
 * @property {string} label
 * @property {string} [key] what it is called in an order; the label unless given
 * @property {string} [title] what it means, on hover
 * @property {boolean} [number] aligned right, and sorted from the largest
 * @property {(row: any) => number | string | null} value what is sorted by; null comes last
 * @property {(row: any) => Node | string | (Node | string | false)[]} [cell] what is shown
 */

/** @typedef {{by: string, descending: boolean}} Order by: the key of a column */

/**
 * @param {Column[]} columns the first one heads the rows
 * @param {{label: string, first?: number, order?: Order | null}} options first: rows shown at once
 * @returns {{node: HTMLElement, show: (rows: any[]) => void, order: () => Order | null}}
 */
export function sortableTable(columns, { label, first = Infinity, order = null }) {
  let rows = [];
  let most = first;
  const headings = columns.map((column) => heading(column, () => sort(column)));
  const body = h("tbody");
  const all = h("button", { type: "button", class: "quiet small", click: showAll });
  const table = h("table", {}, h("thead", {}, h("tr", {}, ...headings)), body);
  const node = h("div", { class: "sortable" }, h("div", { class: "scroll", role: "region", "aria-label": label, tabindex: "0" }, table), all);

  function sort(column) {
    const again = order?.by === keyOf(column);
    order = { by: keyOf(column), descending: again ? !order.descending : Boolean(column.number) };
    draw();
  }

  function showAll() {
    most = Infinity;
    draw();
    body.rows[first]?.querySelector("a, button")?.focus();
  }

  function draw() {
    const sortedBy = columns.find((column) => keyOf(column) === order?.by);
    headings.forEach((node, index) => setAttribute(node, "aria-sort", columns[index] === sortedBy && (order.descending ? "descending" : "ascending")));
    const shown = sorted(rows, sortedBy, order?.descending).slice(0, most);
    replace(body, ...shown.map((row) => h("tr", {}, ...columns.map((column, index) => cell(column, row, index)))));
    all.hidden = rows.length <= most;
    all.textContent = `Show all ${count(rows.length)}`;
  }

  return {
    node,
    order: () => order,
    show(newRows) {
      rows = newRows;
      draw();
    },
  };
}

function keyOf({ key, label }) {
  return key ?? label;
}

function heading({ label, title, number }, click) {
  return h("th", { scope: "col", class: number && "number", title }, h("button", { type: "button", class: "sort", click }, label));
}

function cell({ number, value, cell: content }, row, index) {
  const attributes = { class: number && "number" };
  const shown = content ? content(row) : value(row);
  return index === 0 ? h("th", { ...attributes, scope: "row" }, shown) : h("td", attributes, shown);
}

/** Equal values keep the order they came in; null is last either way. */
function sorted(rows, column, descending) {
  if (!column) return rows;
  const sign = descending ? -1 : 1;
  const compare = (one, other) => {
    if (one === null || other === null) return (one === null) - (other === null);
    return sign * (typeof one === "string" ? one.localeCompare(other, "en", { numeric: true }) : one - other);
  };
  return rows.map((row) => [column.value(row), row]).sort(([one], [other]) => compare(one, other)).map(([, row]) => row);
}
