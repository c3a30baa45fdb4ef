/**
 * Controls whose values stand in the address: what is typed or chosen narrows a list, and can be kept and shared.
 * @module
 */
const TYPING_MILLISECONDS = 200;

/**
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
  for (const control of controls(form)) control.value = here.get(control.dataset.filter) ?? "";
}

/** Whether the list is narrowed. @param {HTMLFormElement} form */
export function isNarrowed(form) {
  const here = new URLSearchParams(location.search);
  return controls(form).some((control) => here.get(control.dataset.filter));
}

function controls(form) {
  return [...form.querySelectorAll("[data-filter]")];
}

function write(form) {
  const here = new URLSearchParams(location.search);
  here.delete("cursor");
  for (const control of controls(form)) {
    const value = control.value.trim();
    if (value) here.set(control.dataset.filter, value);
    else here.delete(control.dataset.filter);
  }
  history.replaceState(null, "", `${location.pathname}${here.size ? `?${here}` : ""}`);
}
