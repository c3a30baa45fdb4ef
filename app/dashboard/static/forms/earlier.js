/** The form of trainings, filled with the values of an earlier job. @module */
import { namesText, UNITS } from "./forms.js";
import { CUSTOM_NUMBERS } from "./parameter_fields.js";
import { trainingFormPage, jobApi, jobPage } from "../page/paths.js";
import { get, Problem } from "../page/api.js";
import { elementById, findAll, h, replace, setText } from "../page/dom.js";

/** @typedef {Record<string, Json>} Request */

/** Return the earlier training whose ID is in the URL, or null. @returns {Promise<Schemas["Job"] | null>} */
export async function readEarlier() {
  const id = new URLSearchParams(location.search).get("from");
  if (!id) return null;
  const container = elementById("from");
  container.hidden = false;
  try {
    const job = await get(jobApi(id));
    if (!trainingFormPage(job)) throw new Problem(404, {});
    replace(container, [
      "With the values of the training of ",
      h("a", { href: jobPage(id) }, job.spec.model_name ?? id),
      "; change any of them.",
    ]);
    return job;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    setText(container, `Training ${id} was not found; the form has its default values.`);
    return null;
  }
}

/**
 * Fill the controls of a form from a request. Enabled fields that the request does not have are emptied, so that their
 * defaults apply.
 * @param {HTMLFormElement} form @param {Request} request
 * @param {string[]} [first] pointers of controls that create other controls; these are filled first
 */
export function fillControls(form, request, first = []) {
  for (const control of findAll(form, "input[data-pointer][data-type]", HTMLInputElement))
    if (!control.matches(":disabled")) control.value = "";
  for (const pointer of first) {
    const value = valueAt(request, pointer);
    if (value !== undefined) setControl(form, pointer, value);
  }
  for (const [pointer, value] of leaves(form, request)) if (!first.includes(pointer)) setControl(form, pointer, value);
}

/** @param {HTMLFormElement} form @param {string} pointer @param {Json} value */
export function setControl(form, pointer, value) {
  const controls = findAll(form, `[data-pointer="${CSS.escape(pointer)}"]`, HTMLElement).filter(
    (control) => !control.matches("div"),
  );
  const control = controls.find((each) => !each.matches(":disabled")) || controls[0];
  if (!control) return;
  if (control.dataset.type === "checked") {
    const ticked = Array.isArray(value) ? value : [value];
    for (const box of findAll(control, "input", HTMLInputElement)) box.checked = ticked.includes(box.value);
  } else if (!isField(control)) {
    return;
  } else if (control instanceof HTMLInputElement && control.type === "checkbox") {
    control.checked = value === true;
  } else if (control instanceof HTMLSelectElement && Array.isArray(value)) {
    control.value = CUSTOM_NUMBERS;
    control.dispatchEvent(new Event("change", { bubbles: true }));
    setControl(form, pointer, value.join(", "));
  } else if (control.dataset.type === "json" && typeof value === "object") {
    control.value = JSON.stringify(value);
  } else if (control.dataset.type === "lines") {
    control.value = Object.entries(Object(value))
      .map((pair) => pair.join(" = "))
      .join("\n");
  } else {
    control.value = Array.isArray(value)
      ? namesText(value)
      : String(Number(value) / UNITS[control.dataset.unit ?? ""] || value);
    if (control instanceof HTMLSelectElement) chooseOption(control, value);
  }
}

/** @param {HTMLElement} control @returns {control is HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} */
const isField = (control) => control.matches("input, select, textarea");

/** Choose an option, which is added if it is absent. @param {HTMLSelectElement} select @param {Json} value */
function chooseOption(select, value) {
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  if (![...select.options].some((option) => option.value === text)) {
    select.add(new Option(typeof value === "object" ? "value of the earlier job" : text, text));
    if (typeof value === "object") select.dataset.type = "json";
  }
  select.value = text;
  select.dispatchEvent(new Event("change", { bubbles: true }));
}

/** @param {Request} request @param {string} pointer @returns {Json | undefined} */
function valueAt(request, pointer) {
  return pointer
    .split("/")
    .slice(1)
    .reduce(
      (value, step) => /** @type {Record<string, Json> | undefined} */ (value)?.[step],
      /** @type {Json | undefined} */ (request),
    );
}

/**
 * Return pairs of pointer and value, one for each control.
 * @param {HTMLFormElement} form @param {Request} value @param {string} [pointer]
 * @returns {[pointer: string, value: Json][]}
 */
function leaves(form, value, pointer = "") {
  return Object.entries(value).flatMap(([name, content]) => {
    const here = `${pointer}/${name}`;
    const isNested = content !== null && typeof content === "object" && !Array.isArray(content);
    if (isNested && here !== "/contract" && !hasOneControl(form, here)) return leaves(form, content, here);
    return [[here, content]];
  });
}

/** Check whether one control has the whole object at a pointer. @param {HTMLFormElement} form @param {string} pointer */
function hasOneControl(form, pointer) {
  return (
    form.querySelector(`:is([data-type="json"], [data-type="lines"])[data-pointer="${CSS.escape(pointer)}"]`) !== null
  );
}
