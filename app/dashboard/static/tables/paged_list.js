/** Filters and pages of lists, as parameters of the URL. @module */
import { pagePath } from "../page/paths.js";
import { get } from "../page/api.js";
import { elementById, find, findAll, h, replace } from "../page/dom.js";

const TYPING_MILLISECONDS = 200;
/** Value of the API's project filter for objects without a project. */
const NO_PROJECT = "-";

/** Return the parameters of the URL. */
export const parameters = () => new URLSearchParams(location.search);

/**
 * Keep filters in the parameters of the URL, so that a filtered list can be bookmarked and shared. The browser's Back
 * returns to the list before a choice; typed text adds no entry to the history.
 * @param {HTMLFormElement} form its controls name their parameter: `data-filter="prefix"`
 * @param {() => void} changed called after the URL has changed
 */
export function followFilters(form, changed) {
  let typing = 0;
  const applyFilters = (isChoice = false) => {
    clearTimeout(typing);
    writeFilters(form, isChoice);
    changed();
  };
  const all = controls(form);
  // Apply filters that were entered while the page was still loading.
  const isEarly = all.some((control) => control.value && control.value !== valueInUrl(control));
  for (const control of all) control.value ||= valueInUrl(control);
  if (isEarly) applyFilters();
  addEventListener("popstate", () => {
    // A dialog changes the fragment only.
    if (controls(form).every((control) => control.value.trim() === valueInUrl(control))) return;
    clearTimeout(typing);
    for (const control of controls(form)) control.value = valueInUrl(control);
    changed();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", ({ target }) => {
    // Put a choice into the URL immediately: options that are offered later are selected by the URL.
    if (target instanceof HTMLSelectElement) return applyFilters(true);
    clearTimeout(typing);
    typing = setTimeout(applyFilters, TYPING_MILLISECONDS);
  });
}

/** Select the options that the URL names, after options were offered. @param {HTMLFormElement} form */
function showFilters(form) {
  for (const select of findAll(form, "select[data-filter]", HTMLSelectElement)) select.value = valueInUrl(select);
}

/** Offer the newest datasets in a filter. @param {HTMLFormElement} form @param {string} parameter */
export async function offerDatasetFilter(form, parameter) {
  const select = find(form, `select[data-filter="${parameter}"]`, HTMLSelectElement);
  const requested = parameters().get(parameter);
  const { items } = await get("/v1/datasets?fields=name&limit=200");
  const other = requested && !items.some(({ id }) => id === requested) && h("option", { value: requested }, requested);
  replace(select, select.options[0], other, ...items.map(({ id, name }) => h("option", { value: id }, name)));
  showFilters(form);
}

/** Offer the projects in a filter, if there are any. @param {HTMLFormElement} form of the filters */
export async function offerProjectFilter(form) {
  const { items, bound } = await get("/v1/projects");
  const names = items.map(({ name }) => name);
  const requested = parameters().get("project");
  if (requested && requested !== NO_PROJECT && !names.includes(requested)) names.push(requested);
  if (!names.length) return;
  const select = h("select", { "data-filter": "project", "aria-label": "Filter by project" }, [
    h("option", { value: "" }, "All projects"),
    !bound && h("option", { value: NO_PROJECT }, "No project"),
    ...names.map((name) => h("option", name)),
  ]);
  form.querySelector(".list-tools")?.before(select);
  showFilters(form);
}

/** @param {HTMLInputElement | HTMLSelectElement} control */
const valueInUrl = (control) => parameters().get(control.dataset.filter ?? "") ?? "";

/**
 * A filter of the URL.
 * @typedef {object} ActiveFilter
 * @property {string} name of the parameter
 * @property {string} value
 * @property {string} label readable name of the parameter
 * @property {string} text readable value
 */

/**
 * Return the filters that apply to the list.
 * @param {HTMLFormElement} form of the filters, whose options contain the readable values
 * @param {string[]} names of the parameters
 */
export function activeFilters(form, names) {
  const query = parameters();
  return names.flatMap((name) => {
    const value = query.get(name);
    if (!value) return [];
    const control = controls(form).find(({ dataset }) => dataset.filter === name);
    const chosen =
      control instanceof HTMLSelectElement && hasOption(control, value) && control.selectedOptions[0]?.text;
    const label = name === "prefix" ? "name or ID begins with" : name.replace(/_id$/, "");
    return [{ name, value, label, text: chosen || value }];
  });
}

/** @param {HTMLFormElement} form */
function controls(form) {
  const selects = findAll(form, "select[data-filter]", HTMLSelectElement);
  return [...selects, ...findAll(form, "input[data-filter]", HTMLInputElement)];
}

/** @param {HTMLSelectElement} select @param {string} value */
const hasOption = (select, value) => [...select.options].some((option) => option.value === value);

/** Set the parameters of the URL to the filters of a form. @param {HTMLFormElement} form @param {boolean} isChoice */
function writeFilters(form, isChoice) {
  const query = parameters();
  query.delete("cursor");
  for (const control of controls(form)) {
    if (control instanceof HTMLSelectElement && !hasOption(control, valueInUrl(control))) continue; // not offered yet
    const value = control.value.trim();
    if (value) query.set(control.dataset.filter ?? "", value);
    else query.delete(control.dataset.filter ?? "");
  }
  const url = `${location.pathname}${query.size ? `?${query}` : ""}`;
  if (isChoice) history.pushState(null, "", url);
  else history.replaceState(null, "", url);
}

/** Check whether the first page of the list is shown. */
export const onFirstPage = () => !parameters().has("cursor");

/** @param {string | null} nextCursor */
export function showPager(nextCursor) {
  const node = elementById("pager");
  const link = (/** @type {string | null} */ cursor) => {
    const query = parameters();
    query.delete("cursor");
    if (cursor) query.set("cursor", cursor);
    return `${pagePath()}${query.size ? `?${query}` : ""}`;
  };
  const sorted = parameters().has("sort");
  node.hidden = !nextCursor && onFirstPage();
  replace(node, [
    !onFirstPage() && h("a.button.quiet", { href: link(null) }, sorted ? "First" : "Newest"),
    nextCursor && h("a.button.quiet", { href: link(nextCursor), rel: "next" }, sorted ? "Next" : "Older"),
  ]);
}
