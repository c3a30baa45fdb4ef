/**
 * The filters of the list of jobs: links and a form, all of them in the address.
 * @module
 */
import { get } from "../page/api.js";
import { h, replace, setAttribute } from "../page/dom.js";

export const FILTERS = ["kind", "status", "text", "dataset", "sort"];

const LEFT_OUT = { longest: "Jobs that have not ended are left out.", metric: "Jobs that have measured nothing are left out." };

/** The address with some of its values changed, from the first page on; empty ones are left out. */
function changed(values) {
  const query = new URLSearchParams(location.search);
  query.delete("cursor");
  for (const [name, value] of Object.entries(values)) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  return `/jobs${query.size ? `?${query}` : ""}`;
}

/** Whether anything but the newest of all jobs is asked for. */
export function isFiltered() {
  const here = new URLSearchParams(location.search);
  return FILTERS.some((name) => name !== "sort" && here.get(name));
}

/** @param {HTMLFormElement} form @param {HTMLElement} kinds @param {HTMLElement} order what the order leaves out */
export function showFilters(form, kinds, order) {
  const here = new URLSearchParams(location.search);
  const kind = here.get("kind") || "";
  for (const link of kinds.querySelectorAll("a")) {
    const follow = () => {
      link.href = changed({ kind: link.dataset.kind });
    };
    follow();
    // Anew each time it is followed: what is ticked meanwhile goes along.
    link.addEventListener("click", follow);
    if (link.dataset.kind === kind) setAttribute(link, "aria-current", "page");
  }
  for (const control of form.querySelectorAll("[name]")) control.value = here.get(control.name) || "";
  order.textContent = LEFT_OUT[here.get("sort")] || "";
  order.hidden = !order.textContent;
  offerDatasets(form.elements.dataset, here.get("dataset")).catch(() => {});
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    location.assign(changed(Object.fromEntries(new FormData(form))));
  });
  for (const select of form.querySelectorAll("select")) select.addEventListener("change", () => form.requestSubmit());
}

/** The newest datasets; one that is asked for and not among them stays by its id. */
async function offerDatasets(select, asked) {
  const { items } = await get("/v1/datasets?limit=200");
  const known = items.map(({ id, name }) => h("option", { value: id }, name));
  const other = asked && !items.some(({ id }) => id === asked) && h("option", { value: asked }, asked);
  replace(select, select.options[0], other, ...known);
  select.value = asked || "";
}
