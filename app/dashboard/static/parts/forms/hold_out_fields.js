/**
 * Holding out queries by a column of the training dataset: which columns it has, and which values to tick.
 * @module
 */
import { h, replace } from "../page/dom.js";
import { counted } from "../page/format.js";

/**
 * @param {HTMLFormElement} form
 * @param {any} dataset the one trained on
 */
export function offerColumns(form, dataset) {
  const columns = dataset?.statistics?.query_columns || {};
  for (const part of ["validation", "test"]) offer(form, part, columns);
}

function offer(form, part, columns) {
  const names = Object.keys(columns);
  const choice = form.querySelector(`[name="${part}"][value="column"]`);
  choice.parentElement.hidden = names.length === 0;
  if (names.length === 0 && choice.checked) choose(form, part, part === "test" ? "none" : "fraction");
  const select = form.querySelector(`[data-columns="${part}"]`);
  replace(select, ...names.map((name) => h("option", { value: name }, name)));
  select.onchange = () => offerValues(form, part, columns[select.value] || []);
  select.onchange();
}

function offerValues(form, part, values) {
  const place = form.querySelector(`[data-values="${part}"]`);
  for (const old of place.querySelectorAll("label")) old.remove();
  place.append(...values.map(box));
}

function box({ value, queries }) {
  const words = h("span", { class: "name", title: value }, value || "(empty)");
  return h("label", { class: "check" }, h("input", { type: "checkbox", value }), words, h("small", {}, counted(queries, "query", "queries")));
}

/** Ticks one of a part's ways, as a user would. */
export function choose(form, part, way) {
  const choice = form.querySelector(`[name="${part}"][value="${way}"]`);
  if (choice.checked) return;
  choice.checked = true;
  choice.dispatchEvent(new Event("change", { bubbles: true }));
}
