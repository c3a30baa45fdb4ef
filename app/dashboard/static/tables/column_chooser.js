/** The menu that shows and hides columns of a list. @module */
import { changeDetector, h, replace } from "../page/dom.js";

/** Return the menu of columns. @param {(keys: string[]) => void} chosen called with the keys of the ticked columns */
export function columnChooser(chosen) {
  const list = h("div.column-list", { role: "group", "aria-label": "Columns" });
  const node = h("details.column-chooser", h("summary.button.quiet.small", "Columns"), list);
  const hasChanged = changeDetector();
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !node.open) return;
    node.open = false;
    node.querySelector("summary")?.focus();
  });
  // The menu is in a form whose other controls are filters.
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
      if (hasChanged(columns.map(({ key }) => key))) {
        const box = (/** @type {ListColumn} */ { key }) => h("input", { type: "checkbox", value: key, change: choose });
        replace(list, ...columns.map((column) => h("label.check", box(column), column.label)));
      }
      for (const box of boxes()) box.checked = shown.has(box.value);
    },
  };
}
