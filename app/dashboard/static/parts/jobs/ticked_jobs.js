/**
 * Trainings ticked for a comparison, kept in the address so that they stay from page to page.
 * @module
 */
import { compareJobs } from "../page/addresses.js";
import { h, replace } from "../page/dom.js";

export const MOST_COMPARED = 20;

/** @param {HTMLElement} bar tells how many there are, and leads on */
export function tickedJobs(bar) {
  const ids = new Set(new URLSearchParams(location.search).getAll("tick"));
  /** @type {Set<HTMLInputElement>} */
  const boxes = new Set();

  function remember() {
    const query = new URLSearchParams(location.search);
    query.delete("tick");
    for (const id of ids) query.append("tick", id);
    history.replaceState(null, "", `${location.pathname}${query.size ? `?${query}` : ""}`);
    show();
  }

  function show() {
    for (const box of boxes) {
      box.checked = ids.has(box.value);
      box.disabled = ids.size >= MOST_COMPARED && !box.checked;
    }
    bar.hidden = ids.size === 0;
    replace(
      bar,
      h("span", {}, ids.size > 1 ? `${ids.size} trainings` : "Tick another training to compare it with this one."),
      ids.size > 1 && h("a", { class: "button primary", href: compareJobs([...ids]) }, `Compare ${ids.size}`),
      h("button", { type: "button", class: "quiet", click: clear }, "Clear"),
    );
  }

  function clear() {
    ids.clear();
    remember();
  }

  show();
  return {
    /** A box for a training. @param {string} id @param {string} name what it is called */
    box(id, name) {
      const tick = () => {
        if (box.checked) ids.add(id);
        else ids.delete(id);
        remember();
      };
      const box = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", value: id, "aria-label": `Compare ${name}`, change: tick }));
      box.checked = ids.has(id);
      boxes.add(box);
      return box;
    },
  };
}
