/**
 * Filters and pages of lists, as parameters of the address.
 * @module
 */
import { pagePath } from "../page/addresses.js";
import { elementById, findAll, h, replace } from "../page/dom.js";

const TYPING_MILLISECONDS = 200;

/**
 * Filters whose values are parameters of the address, so that a filtered list can be bookmarked and shared.
 *
 * @param {HTMLFormElement} form its controls name their parameter: `data-filter="contains"`
 * @param {() => void} changed called once the address has changed
 */
export function followFilters(form, changed) {
  let typing = 0;
  const narrow = () => {
    clearTimeout(typing);
    write(form);
    changed();
  };
  const all = controls(form);
  // What was typed or chosen while the page was still loading counts.
  const isEarly = all.some((control) => control.value && control.value !== asked(control));
  for (const control of all) control.value ||= asked(control);
  if (isEarly) narrow();
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", ({ target }) => {
    // Put a choice into the address immediately: options that arrive later are selected by the address.
    if (target instanceof HTMLSelectElement) return narrow();
    clearTimeout(typing);
    typing = setTimeout(narrow, TYPING_MILLISECONDS);
  });
}

/** Shows the choices that the address asks for, once they are there. @param {HTMLFormElement} form */
export function showFilters(form) {
  for (const select of findAll(form, "select[data-filter]", HTMLSelectElement)) select.value = asked(select);
}

/** @param {HTMLInputElement | HTMLSelectElement} control */
function asked(control) {
  return new URLSearchParams(location.search).get(control.dataset.filter ?? "") ?? "";
}

/**
 * A filter of the address.
 * @typedef {object} AskedFilter
 * @property {string} name of the parameter
 * @property {string} value
 * @property {string} label of the parameter for people
 * @property {string} text of the value for people
 */

/**
 * Return the filters that narrow the list.
 *
 * @param {HTMLFormElement} form of the filters, whose choices have texts
 * @param {string[]} names of the parameters
 * @returns {AskedFilter[]}
 */
export function askedFilters(form, names) {
  const here = new URLSearchParams(location.search);
  return names.flatMap((name) => {
    const value = here.get(name);
    if (!value) return [];
    const control = controls(form).find(({ dataset }) => dataset.filter === name);
    const chosen = control instanceof HTMLSelectElement && has(control, value) && control.selectedOptions[0]?.text;
    const label = name === "prefix" ? "name or ID begins with" : name.replace(/_id$/, "");
    return [{ name, value, label, text: chosen || value }];
  });
}

/** @param {HTMLFormElement} form */
function controls(form) {
  const selects = findAll(form, "select[data-filter]", HTMLSelectElement);
  return [...selects, ...findAll(form, "input[data-filter]", HTMLInputElement)];
}

/**
 * @param {HTMLSelectElement} select
 * @param {string} value
 */
function has(select, value) {
  return [...select.options].some((option) => option.value === value);
}

/** @param {HTMLFormElement} form */
function write(form) {
  const here = new URLSearchParams(location.search);
  here.delete("cursor");
  for (const control of controls(form)) {
    if (control instanceof HTMLSelectElement && !has(control, asked(control))) continue; // its choices come later
    const value = control.value.trim();
    if (value) here.set(control.dataset.filter ?? "", value);
    else here.delete(control.dataset.filter ?? "");
  }
  history.replaceState(null, "", `${location.pathname}${here.size ? `?${here}` : ""}`);
}

/** Check whether the newest entries are shown. */
export function onFirstPage() {
  return !new URLSearchParams(location.search).has("cursor");
}

/** @param {string | null} nextCursor */
export function showPager(nextCursor) {
  const node = elementById("pager");
  /** @param {string | null} cursor */
  const link = (cursor) => {
    const query = new URLSearchParams(location.search);
    query.delete("cursor");
    if (cursor) query.set("cursor", cursor);
    return `${pagePath()}${query.size ? `?${query}` : ""}`;
  };
  const sorted = new URLSearchParams(location.search).has("sort");
  node.hidden = !nextCursor && onFirstPage();
  replace(
    node,
    !onFirstPage() && h("a", { class: "button quiet", href: link(null) }, sorted ? "First" : "Newest"),
    nextCursor && h("a", { class: "button quiet", href: link(nextCursor), rel: "next" }, sorted ? "Next" : "Older"),
  );
}
