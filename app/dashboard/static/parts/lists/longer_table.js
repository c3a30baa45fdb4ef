/**
 * A table that grows by a page of the API at a time, for whoever asks for more.
 * @module
 */
import { get } from "../page/api.js";
import { h, replace } from "../page/dom.js";
import { failureBox } from "../page/loaded.js";

/**
 * @param {string} label what the table holds, for whom it is read out
 * @param {HTMLElement[]} heads cells
 * @param {string} address of the first page
 * @param {(item: any) => HTMLTableRowElement} row
 * @returns {HTMLElement[]} the table, and what stands below it
 */
export function longerTable(label, heads, address, row) {
  const body = h("tbody");
  const below = h("div", { class: "rows" });

  async function read(cursor) {
    below.setAttribute("aria-busy", "true");
    try {
      const page = await get(cursor ? `${address}&cursor=${encodeURIComponent(cursor)}` : address);
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

  read();
  const head = h("thead", {}, h("tr", {}, ...heads));
  return [h("div", { class: "scroll", role: "region", "aria-label": label, tabindex: "0" }, h("table", {}, head, body)), below];
}
