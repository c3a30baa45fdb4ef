/** Selected rows of a list, and the bar with the actions for them. @module */
import { changeDetector, h, replace, setText } from "../page/dom.js";
import { count } from "../page/format.js";
import { parameters } from "./paged_list.js";

/** @typedef {ReturnType<typeof tickedRows>} TickedRows */

/**
 * Keep the ids of the selected rows in the URL across pages, and show the actions of the list for them.
 * @param {HTMLElement} container @param {import("./list.js").List} list
 * @param {{redraw: () => void} & Pick<Ticked, "filters" | "reload">} table
 */
export function tickedRows(container, { kind, actions = [] }, { redraw, filters, reload }) {
  const ids = new Set(parameters().getAll("tick"));
  /** @type {Map<string, any>} */ const items = new Map();
  /** @type {any[]} */ let page = [];
  const bar = h("div.selection-bar", { role: "region", "aria-label": `Selected ${kind}`, hidden: true });
  const words = h("span", { role: "status" });
  const hasChanged = changeDetector();
  /** @type {HTMLInputElement} */
  const all = h("input", { type: "checkbox", "aria-label": "Select all on this page", change: tickAll });
  container.after(bar);

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

  /** Keep the selected ids in the URL and in the links to other pages, and show them. */
  function changed() {
    const query = parameters();
    query.delete("tick");
    for (const id of ids) query.append("tick", id);
    history.replaceState(null, "", `${location.pathname}${query.size ? `?${query}` : ""}${location.hash}`);
    show();
    redraw();
    for (const link of document.querySelectorAll("#pager a")) {
      if (!(link instanceof HTMLAnchorElement)) continue;
      const url = new URL(link.href);
      url.searchParams.delete("tick");
      for (const id of ids) url.searchParams.append("tick", id);
      link.href = url.href;
    }
  }

  /** Show the selection. Unchanged buttons are kept, with their focus and the reason of a refusal beside them. */
  function show() {
    for (const box of container.querySelectorAll("td.tick input"))
      if (box instanceof HTMLInputElement && box !== all) box.checked = ids.has(box.value);
    const tickedHere = page.filter(({ id }) => ids.has(id)).length;
    all.checked = page.length > 0 && tickedHere === page.length;
    all.indeterminate = tickedHere > 0 && tickedHere < page.length;
    bar.hidden = ids.size === 0;
    const onPage = all.checked && ids.size === page.length && document.querySelector("#pager a");
    setText(words, ids.size ? `${count(ids.size)} selected${onPage ? " on this page" : ""}` : "");
    const ticked = { kind, ids: [...ids], items, clear, filters, reload };
    const buttons = bar.hidden ? [] : actions.map((action) => action(ticked));
    if (hasChanged([ticked.ids, buttons.map((node) => node && [node.textContent, node.href])]))
      replace(bar, words, ...buttons, h("button.quiet", { click: clear }, "Clear"));
  }

  return {
    all,
    /** Return the check box of an item. @param {{id: string}} item @param {string} name */
    box({ id }, name) {
      const tick = () => {
        if (box.checked) ids.add(id);
        else ids.delete(id);
        changed();
      };
      /** @type {HTMLInputElement} */
      const box = h("input", { type: "checkbox", value: id, "aria-label": `Select ${name}`, change: tick });
      box.checked = ids.has(id);
      return box;
    },
    /** Set the items of the page, which the actions need. @param {any[]} shown */
    setItems(shown) {
      page = shown;
      for (const item of shown) items.set(item.id, item);
      show();
    },
  };
}
