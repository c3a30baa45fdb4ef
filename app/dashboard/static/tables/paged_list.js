/**
 * Filters and pages of lists, which stand in the address.
 * @module
 */
import { pagePath } from "../page/addresses.js";
import { elementById, findAll, h, replace } from "../page/dom.js";

const TYPING_MILLISECONDS = 200;

/**
 * Controls whose values stand in the address: what is typed or chosen narrows a list, and can be kept and shared.
 *
 * @param {HTMLFormElement} form its controls name their parameter: `data-filter="contains"`
 * @param {() => void} changed called once the address has changed
 */
export function followFilters(form, changed) {
  let typing = 0;
  showFilters(form);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => {
      write(form);
      changed();
    }, TYPING_MILLISECONDS);
  });
}

/** Shows what the address asks for, once the choices are there. @param {HTMLFormElement} form */
export function showFilters(form) {
  const here = new URLSearchParams(location.search);
  for (const control of controls(form)) control.value = here.get(control.dataset.filter ?? "") ?? "";
}

/** Check whether the address narrows the list. @param {HTMLFormElement} form */
export function isNarrowed(form) {
  const here = new URLSearchParams(location.search);
  return controls(form).some((control) => here.get(control.dataset.filter ?? ""));
}

/** @param {HTMLFormElement} form */
function controls(form) {
  const selects = findAll(form, "select[data-filter]", HTMLSelectElement);
  return [...selects, ...findAll(form, "input[data-filter]", HTMLInputElement)];
}

/** @param {HTMLFormElement} form */
function write(form) {
  const here = new URLSearchParams(location.search);
  here.delete("cursor");
  for (const control of controls(form)) {
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
