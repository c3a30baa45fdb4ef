/**
 * Filling a form with a request that was made before.
 * @module
 */
import { OWN } from "./parameter_field.js";

const UNITS = { minutes: 60, gigabytes: 1e9 };

/**
 * What the request does not name is emptied, so that the default holds. A control that makes others is filled before them.
 * @param {HTMLFormElement} form
 * @param {Record<string, any>} request
 */
export function fillForm(form, request) {
  chooseWays(form, request);
  for (const control of form.querySelectorAll("input[data-pointer][data-type]")) control.value = "";
  for (const pointer of ["/dataset_id", "/loss/name"]) set(form, pointer, at(request, pointer));
  for (const [pointer, value] of leaves(form, request)) set(form, pointer, value);
}

/** The ways to hold out, and whether to stop early. */
function chooseWays(form, { validation, test, test_dataset_id: dataset, early_stopping: early }) {
  tick(form, "validation", wayOf(validation));
  tick(form, "test", dataset ? "dataset" : wayOf(test));
  const box = form.elements.early;
  box.checked = Boolean(early);
  box.dispatchEvent(new Event("change", { bubbles: true }));
}

function wayOf(part) {
  if (!part) return "none";
  return ["fraction", "column"].find((way) => way in part) || ("folds" in part || "fold" in part ? "fold" : "dataset");
}

function tick(form, name, value) {
  const choice = form.querySelector(`[name="${name}"][value="${value}"]`);
  choice.checked = true;
  choice.dispatchEvent(new Event("change", { bubbles: true }));
}

function set(form, pointer, value) {
  const found = [...form.querySelectorAll(`[data-pointer="${CSS.escape(pointer)}"]`)].filter((control) => !control.matches("div"));
  const control = found.find((each) => !each.matches(":disabled")) || found[0];
  if (!control) return;
  if (control.dataset.type === "checked") {
    for (const box of control.querySelectorAll("input")) box.checked = value.includes(box.value);
  } else if (control.matches("select") && Array.isArray(value)) {
    control.value = OWN;
    control.dispatchEvent(new Event("change", { bubbles: true }));
    set(form, pointer, value.join(", "));
  } else if (control.dataset.type === "json" && typeof value === "object") {
    control.value = JSON.stringify(value);
  } else {
    control.value = Array.isArray(value) ? value.join(", ") : String(value / UNITS[control.dataset.unit] || value);
    if (control.matches("select")) choose(control, value);
  }
}

/** A choice that is not offered is: what a form knows no words for is taken over as it is. */
function choose(select, value) {
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  if (![...select.options].some((option) => option.value === text)) {
    select.add(new Option(typeof value === "object" ? "as in that job" : text, text));
    if (typeof value === "object") select.dataset.type = "json";
  }
  select.value = text;
  select.dispatchEvent(new Event("change", { bubbles: true }));
}

function at(request, pointer) {
  return pointer.split("/").slice(1).reduce((place, step) => place?.[step], request);
}

/** Pairs of pointer and value, down to what one control holds. */
function leaves(form, value, pointer = "") {
  return Object.entries(value).flatMap(([name, content]) => {
    const here = `${pointer}/${name}`;
    const whole = typeof content !== "object" || Array.isArray(content) || here === "/contract" || isJson(form, here);
    return whole ? [[here, content]] : leaves(form, content, here);
  });
}

function isJson(form, pointer) {
  return form.querySelector(`[data-type="json"][data-pointer="${CSS.escape(pointer)}"]`) !== null;
}
