/**
 * The systems to compare, in the order in which they were chosen: models, uploaded runs, or anything by its reference.
 * @module
 */
import { announce, h, replace, setAttribute, setText } from "../page/dom.js";
import { count } from "../page/format.js";
import { searchField } from "../lists/search_field.js";
import { asSystem, readOffered } from "./systems.js";


/**
 * @param {HTMLElement} place
 * @returns {Promise<{systems: () => ({model: string} | {ranking_id: string})[]}>}
 */
export async function systemPicker(place) {
  const offered = await readOffered();
  const names = new Map(offered.map(({ reference, name }) => [reference, name]));
  const chosen = new Set(new URLSearchParams(location.search).getAll("system"));
  const field = searchField("Find a model or run, or name one", "Find, or type name:version or rnk_…", { input: show, keydown: enter });
  const options = h("div", { class: "options" });
  const order = h("ol", { class: "chosen", "aria-label": "Chosen systems, in order" });
  const words = h("p", { class: "hint" });

  function show() {
    const text = field.value.trim().toLowerCase();
    const found = offered.filter(({ name, detail }) => `${name} ${detail}`.toLowerCase().includes(text));
    replace(options, ...found.map(option), text && !found.length && h("p", { class: "hint" }, `Press Enter to take “${field.value.trim()}” as it is.`));
    showOrder();
  }

  function option({ reference, name, detail }) {
    const box = h("input", { type: "checkbox", value: reference, change: () => toggle(reference, box.checked) });
    box.checked = chosen.has(reference);
    return h("label", { class: "check" }, box, h("span", { class: "name", title: name }, name), h("small", {}, detail));
  }

  function showOrder() {
    const remove = (reference) => h("button", { type: "button", class: "quiet small", "aria-label": `Leave out ${names.get(reference) ?? reference}`, click: () => toggle(reference, false) }, "×");
    replace(order, ...[...chosen].map((reference) => h("li", {}, h("span", { class: "name", title: reference }, names.get(reference) ?? reference), remove(reference))));
    order.hidden = chosen.size === 0;
    setText(words, chosen.size < 2 ? "Choose at least two. Each is set against those chosen before it." : `${count(chosen.size)} chosen; each is set against those before it.`);
  }

  function toggle(reference, wanted) {
    if (wanted) chosen.add(reference);
    else chosen.delete(reference);
    for (const box of options.querySelectorAll("input")) box.checked = chosen.has(box.value);
    showOrder();
    announce(`${names.get(reference) ?? reference} ${wanted ? "chosen" : "left out"}.`);
  }

  /** A reference that is not in the list is taken as it was typed; the server knows whether there is such a thing. */
  function enter(event) {
    if (event.key !== "Enter") return;
    event.preventDefault();
    const text = field.value.trim();
    if (!text) return;
    const known = offered.find(({ reference, name }) => reference === text || name === text);
    field.value = "";
    show();
    toggle(known?.reference ?? text, true);
  }

  setAttribute(options, "aria-label", "Models and runs");
  replace(place, h("div", { class: "browser-head" }, field, words), order, options);
  show();
  return { systems: () => [...chosen].map(asSystem) };
}
