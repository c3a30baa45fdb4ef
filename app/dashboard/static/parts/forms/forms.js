/**
 * Forms whose controls name their place in the payload by JSON pointer, so that the server's
 * `errors: [{pointer, detail}]` find their way back to them. The server alone judges.
 * @module
 */
import { Away, Problem } from "../page/api.js";
import { h, replace } from "../page/dom.js";

/**
 * The payload of all enabled controls; what is left empty is left out, so that the server's default holds.
 * @param {HTMLFormElement} form
 */
export function payloadOf(form) {
  const payload = {};
  for (const control of controls(form)) {
    const value = valueOf(control);
    if (value !== undefined) setAt(payload, control.dataset.pointer, value);
  }
  return payload;
}

function controls(form) {
  return [...form.querySelectorAll('input[data-pointer], select[data-pointer], textarea[data-pointer], [data-type="checked"], [data-type="several"][data-pointer]')].filter(
    (control) => !control.matches(":disabled") && control.type !== "file",
  );
}

/** A number that does not read as one is sent as typed: the server's answer then tells what is expected. */
function valueOf(control) {
  const type = control.dataset.type;
  if (type === "checked") return ticked(control);
  if (type === "several") return valuesOf(control)[0];
  return read(control.value.trim(), type, control.dataset.unit);
}

/** The values of a control that takes several, parted by commas or ticked; in no other does a comma part anything. */
export function valuesOf(control) {
  const { type, of } = control.dataset;
  const texts = type === "several" ? ticked(control) : control.value.split(",").map((text) => text.trim());
  return [...new Set(texts.filter(Boolean).map((text) => read(text, of || type)))];
}

function ticked(control) {
  return [...control.querySelectorAll("input:checked")].map((box) => box.value);
}

function read(text, type, unit) {
  if (type === "boolean" && text) return text === "true";
  if (type === "lines") return text ? pairsOf(text) : undefined;
  if (type === "list") return text.split(/[\s,]+/).filter(Boolean);
  if (type === "numbers") return text.split(/[\s,;]+/).filter(Boolean).map(numberOrText);
  if (text === "") return undefined;
  // A name may hold spaces; commas part the names.
  if (type === "names") return text.split(",").map((name) => name.trim()).filter(Boolean);
  if (type === "number" || type === "integer") return inUnits(numberOrText(text), unit);
  if (type === "json" && /^[[{"\d-]/.test(text)) {
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }
  return text;
}

/** "a = b", one a line, as an object. */
function pairsOf(text) {
  const pairs = text.split("\n").map((line) => line.split("=").map((part) => part.trim()));
  return Object.fromEntries(pairs.filter(([name]) => name).map(([name, ...value]) => [name, value.join("=")]));
}

/** A number typed in minutes or GB, as the seconds and bytes that are sent. */
function inUnits(value, unit) {
  const factor = { minutes: 60, gigabytes: 1e9 }[unit];
  return factor && typeof value === "number" ? Math.round(value * factor) : value;
}

function numberOrText(text) {
  return Number.isNaN(Number(text)) ? text : Number(text);
}

/** Sets the value at a JSON pointer, making what leads there. */
export function setAt(payload, pointer, value) {
  const steps = pointer.split("/").slice(1);
  const last = steps.pop();
  const place = steps.reduce((at, step) => (at[step] ??= {}), payload);
  place[last] = value;
}

/** Forgets all errors of the form. @param {HTMLFormElement} form */
export function clearErrors(form) {
  for (const node of form.querySelectorAll(".field-error")) node.remove();
  for (const control of form.querySelectorAll("[aria-invalid]")) {
    control.removeAttribute("aria-invalid");
    control.removeAttribute("aria-describedby");
  }
  form.querySelector(".summary").hidden = true;
}

/**
 * Shows what the server did not accept: at the field where its pointer leads, else at the top.
 * @param {HTMLFormElement} form
 * @param {Error} error
 */
export function showError(form, error) {
  if (!(error instanceof Problem) && !(error instanceof Away)) throw error;
  const unplaced = [];
  for (const problem of deepest(error.errors || [])) {
    const control = controlAt(form, problem.pointer);
    if (control) showAtField(control, problem);
    else unplaced.push(`${problem.pointer} ${problem.detail}`.trim());
  }
  showSummary(form, error, unplaced);
  const faulty = [...form.querySelectorAll("[aria-invalid]")];
  for (const control of faulty) control.closest("details")?.setAttribute("open", "");
  (faulty[0] || form.querySelector(".summary")).focus();
}

/** Without what is said about a whole when one of its parts is named: a list that fails is also "not one of the names". */
function deepest(problems) {
  return problems.filter(({ pointer }) => !problems.some((other) => other.pointer.startsWith(`${pointer}/`)));
}

/** The control with that pointer or the nearest above it: `/metrics/1` belongs to `/metrics`. */
function controlAt(form, pointer) {
  for (let at = pointer; at; at = at.slice(0, at.lastIndexOf("/"))) {
    const found = [...form.querySelectorAll(`[data-pointer="${CSS.escape(at)}"]`)].find((each) => !each.matches(":disabled"));
    const control = found?.matches("fieldset, div") ? found.querySelector("input, select") : found;
    if (control) return control;
  }
  return null;
}

function showAtField(control, { pointer, detail }) {
  const below = pointer.slice((control.dataset.pointer || pointer).length).replace(/^\//, "");
  const id = `error${pointer.replace(/[^\w-]/g, "-")}`;
  const words = below && !/^\d+$/.test(below) ? `${below}: ${detail}` : detail;
  control.setAttribute("aria-invalid", "true");
  control.setAttribute("aria-describedby", id);
  (control.closest(".field") || control.parentElement).append(h("span", { class: "field-error", id }, words));
}

function showSummary(form, error, unplaced) {
  const summary = form.querySelector(".summary");
  const placed = (error.errors || []).length - unplaced.length;
  const sentence = placed > 0 ? `${placed === 1 ? "One field needs" : `${placed} fields need`} your attention.` : error.message;
  replace(
    summary,
    h("strong", {}, error.title || "Not sent"),
    h("p", {}, sentence),
    unplaced.length > 0 && h("ul", {}, ...unplaced.map((line) => h("li", {}, line))),
  );
  summary.className = "summary problem";
  summary.tabIndex = -1;
  summary.setAttribute("role", "alert");
  summary.hidden = false;
}

/**
 * Runs the submission with the button held, and shows what comes back wrong.
 * @param {HTMLFormElement} form
 * @param {() => Promise<void>} send
 */
export function onSubmit(form, send) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector('button[type="submit"]');
    if (button.disabled) return;
    button.disabled = true;
    clearErrors(form);
    try {
      await send();
    } catch (error) {
      showError(form, error);
    } finally {
      button.disabled = false;
    }
  });
}

/**
 * Shows the parts of the form that a choice calls for (`data-when="name=value"`), and disables the others
 * so that they are neither sent nor focused.
 * @param {HTMLFormElement} form
 */
export function followChoices(form) {
  const apply = () => {
    for (const part of form.querySelectorAll("[data-when]")) {
      const [name, value] = part.dataset.when.split("=");
      const on = new FormData(form).get(name) === value;
      part.hidden = !on;
      for (const control of part.querySelectorAll("input, select, fieldset")) control.disabled = !on;
    }
  };
  form.addEventListener("change", apply);
  apply();
}
