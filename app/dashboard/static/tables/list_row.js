/** Rows of a list, which keep unchanged cells, so that focus and open rows stay. @module */
import { announce, changeDetector, h, replace, setAttribute } from "../page/dom.js";

/**
 * Return a row that keeps unchanged cells, and the details that were opened below it.
 * @param {any} first @param {import("./list.js").List} list
 * @param {import("./ticked_rows.js").TickedRows | undefined} selection
 * @param {() => void} reload reads the list again
 */
export function listRow(first, list, selection, reload) {
  const row = h("tr");
  const node = h("tbody", { [`data-${list.noun.replace(" ", "-")}`]: first.id }, row);
  const open = list.details && h("button.quiet.open-row", { "aria-expanded": "false", click: toggle }, "▸");
  /** @type {Map<string, HTMLElement>} */ let cells = new Map();
  const hasChanged = changeDetector();
  let item = first;
  /** @type {import("./list.js").Details | undefined} */
  let details;
  const below = h("tr.row-details", { hidden: true });
  if (open) node.append(below);

  async function toggle() {
    below.hidden = !below.hidden;
    open?.setAttribute("aria-expanded", String(!below.hidden));
    if (!below.hidden) await showDetails();
    reload();
  }

  async function showDetails() {
    if (!details) {
      details = list.details?.(item, reload);
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
      if (list.announcement && now.status !== item.status) announce(list.announcement(now));
      item = now;
      setAttribute(node, "data-status", now.status);
      if (!hasChanged([now, visible.map(({ key }) => key)])) return;
      const known = cells;
      cells = new Map(visible.map((column, index) => [column.key, cellOf(known.get(column.key), column, now, index)]));
      if (open) setAttribute(open, "aria-label", `Details of ${list.name(now)}`);
      const wanted = [
        selection && (row.querySelector(".tick") ?? h("td.tick", selection.box(now, list.name(now)))),
        open && (open.parentElement ?? h("td.tick", open)),
        ...cells.values(),
      ].filter(Boolean);
      if (wanted.some((cell, index) => row.children[index] !== cell) || row.children.length !== wanted.length)
        replace(row, ...wanted);
    },
  };
}

/**
 * Return the known cell, with new content only where the content has changed.
 * @param {HTMLElement | null | undefined} known @param {ListColumn} column @param {any} item
 * @param {number} [index] 0 for the row header
 */
export function cellOf(known, { number, cell, key }, item, index) {
  const fresh = h(
    index === 0 ? "th" : "td",
    { scope: index === 0 && "row", class: number && "number", "data-column": key },
    [cell(item)],
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
