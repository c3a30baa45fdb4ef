/**
 * Forms whose controls have their JSON pointer in the payload as `data-pointer`, so that the server's
 * `errors: [{pointer, detail}]` are shown at their fields. Only the server validates. @module
 */
import { failureBox } from "../page/content.js";
import { pointerLabel, joined } from "../page/format.js";
import { Problem, Unavailable } from "../page/api.js";
import { find, findAll, h, missingScope, replace, requireScope } from "../page/dom.js";

/**
 * Return the payload of all enabled controls. Empty fields are left out, so that the server's defaults apply; lists and
 * groups of check boxes without values are sent as [].
 * @param {HTMLFormElement} form
 */
export function payloadOf(form) {
  /** @type {Record<string, Json>} */ const payload = {};
  for (const control of controls(form)) {
    const value = controlValue(control);
    if (value !== undefined) setAt(payload, control.dataset.pointer ?? "", value);
  }
  return payload;
}

/** @param {HTMLFormElement} form */
function controls(form) {
  const selectors =
    'input[data-pointer], select[data-pointer], textarea[data-pointer], [data-type="checked"], [data-type="several"][data-pointer]';
  return findAll(form, selectors, HTMLElement).filter(
    (control) => !control.matches(":disabled") && !control.matches('[type="file"]'),
  );
}

/**
 * Read a control's value. An invalid number is sent as typed, and the server's response explains why.
 * @param {HTMLElement} control @returns {Json | undefined}
 */
function controlValue(control) {
  if (control instanceof HTMLInputElement && control.type === "checkbox") return control.checked;
  const type = control.dataset.type;
  if (type === "checked") return ticked(control);
  if (type === "several") return valuesOf(control)[0];
  return parseText(typed(control).trim(), type, control.dataset.unit);
}

/** Return the values of a control that can have several: separated by commas (layers by semicolons), or ticked boxes. @param {HTMLElement} control */
export function valuesOf(control) {
  const { type, of } = control.dataset;
  const texts = type === "several" ? ticked(control) : partsOf(typed(control), type === "layers" ? ";" : ",");
  return [...new Set(texts)].map((text) => parseText(text, of || type));
}

/** @param {HTMLElement} control */
const typed = (control) => ("value" in control ? String(control.value) : "");

/** @param {HTMLElement} control */
const ticked = (control) => findAll(control, "input:checked", HTMLInputElement).map((box) => box.value);

/** @param {string} text @param {string | undefined} type @param {string} [unit] @returns {Json | undefined} */
function parseText(text, type, unit) {
  if (type === "boolean" && text) return text === "true";
  if (type === "object") return {};
  if (type === "lines") return text ? pairsOf(text) : undefined;
  if (type === "list") return partsOf(text, /[\s,]+/);
  if (type === "numbers") return partsOf(text, /[\s,;]+/).map(numberOrText);
  if (text === "") return undefined;
  // Commas separate the layers of a network; semicolons separate the networks of a grid.
  if (type === "layers") return partsOf(text.split(";")[0], /[\s,]+/).map(numberOrText);
  if (type === "names") return namesOf(text);
  if (type === "model") return text.startsWith("model:") ? text : `model:${text}`;
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

/** Return the parts of a text that are not empty. @param {string} text @param {string | RegExp} separator */
export function partsOf(text, separator) {
  const parts = text.split(separator).map((part) => part.trim());
  return parts.filter(Boolean);
}

/** Parse names between commas; a name with a comma is in double quotes. @param {string} text */
export function namesOf(text) {
  return [...text.matchAll(/\s*(?:"((?:[^"]|"")*)"\s*(?=,|$)|([^,]+))/g)]
    .map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain.trim())
    .filter(Boolean);
}

/** Write names as `namesOf` reads them. @param {unknown[]} names */
export function namesText(names) {
  return names
    .map(String)
    .map((name) => (/[,"]|^\s|\s$/.test(name) ? `"${name.replaceAll('"', '""')}"` : name))
    .join(", ");
}

/** Parse "a = b", one per line, as an object. @param {string} text */
function pairsOf(text) {
  const pairs = text.split("\n").map((line) => line.split("=").map((part) => part.trim()));
  return Object.fromEntries(pairs.filter(([name]) => name).map(([name, ...value]) => [name, value.join("=")]));
}

/** Units of fields as factors of the API's units. @type {Record<string, number>} */
export const UNITS = { minutes: 60, gigabytes: 1e9 };

/** Convert minutes to seconds, and GB to bytes. @param {string | number} value @param {string | undefined} unit */
function inUnits(value, unit) {
  const factor = UNITS[unit ?? ""];
  return factor && typeof value === "number" ? Math.round(value * factor) : value;
}

/** @param {string} text */
const numberOrText = (text) => (Number.isNaN(Number(text)) ? text : Number(text));

/**
 * Set the value at a JSON pointer, and create the objects on its path.
 * @param {Record<string, Json>} payload @param {string} pointer @param {Json} value
 */
export function setAt(payload, pointer, value) {
  const steps = pointer.split("/").slice(1);
  const last = steps.pop() ?? "";
  const parent = steps.reduce((at, step) => /** @type {Record<string, Json>} */ (at[step] ??= {}), payload);
  parent[last] = value;
}

/** Clear all errors of the form. @param {HTMLFormElement} form */
function clearErrors(form) {
  for (const node of form.querySelectorAll(".field-error")) node.remove();
  for (const control of form.querySelectorAll("[aria-invalid]")) {
    control.removeAttribute("aria-invalid");
    control.removeAttribute("aria-describedby");
  }
  find(form, ".summary").hidden = true;
}

/** @typedef {{pointer: string, detail: string}} FieldProblem */

/** Show each problem at its field, else in the summary. @param {HTMLFormElement} form @param {unknown} error */
function showError(form, error) {
  if (!(error instanceof Problem) && !(error instanceof Unavailable)) throw error;
  const unplaced = [];
  for (const problem of deepest(problemsOf(error))) {
    const control = controlAt(form, problem.pointer);
    if (control) showAtField(control, problem);
    else unplaced.push(joined([pointerLabel(problem.pointer), problem.detail], ": "));
  }
  showSummary(form, error, unplaced);
  const faulty = findAll(form, "[aria-invalid]", HTMLElement);
  for (const details of findAll(form, "details:has([aria-invalid])", HTMLDetailsElement)) details.open = true;
  (faulty[0] || find(form, ".summary")).focus();
}

/**
 * Show why the choices of a form could not be read, with a button that loads the page again. The form is shown without
 * them.
 * @param {HTMLFormElement} form @param {unknown} error
 */
export function showUnread(form, error) {
  form.removeAttribute("aria-busy");
  const summary = find(form, ".summary");
  replace(summary, [failureBox(error, () => location.reload())]);
  summary.className = "summary";
  summary.setAttribute("role", "alert");
  summary.hidden = false;
}

/** @param {Problem | Unavailable} error @returns {FieldProblem[]} */
const problemsOf = (error) => (error instanceof Problem ? error.errors : []);

/**
 * Leave out a problem if a nested value has one as well: an invalid list is also reported as "not one of the names".
 * @param {FieldProblem[]} problems
 */
const deepest = (problems) =>
  problems.filter(({ pointer }) => !problems.some((other) => other.pointer.startsWith(`${pointer}/`)));

/**
 * Return the control with that pointer, or else with the nearest shorter one: `/metrics/1` belongs to `/metrics`.
 * @param {HTMLFormElement} form @param {string} pointer
 */
function controlAt(form, pointer) {
  for (let at = pointer; at; at = at.slice(0, at.lastIndexOf("/"))) {
    const element = findAll(form, `[data-pointer="${CSS.escape(at)}"]`, HTMLElement).find(
      (each) => !each.matches(":disabled"),
    );
    const control = element?.matches("fieldset, div") ? element.querySelector("input, select") : element;
    if (control instanceof HTMLElement) return control;
  }
  return null;
}

/** @param {HTMLElement} control @param {FieldProblem} problem */
function showAtField(control, { pointer, detail }) {
  const below = pointer.slice((control.dataset.pointer || pointer).length);
  const id = `error${pointer.replace(/[^\w-]/g, "-")}`;
  const words = below && !/^\/\d+$/.test(below) ? `${pointerLabel(below)}: ${detail}` : detail;
  control.setAttribute("aria-invalid", "true");
  control.setAttribute("aria-describedby", id);
  (control.closest(".field") ?? control.parentElement)?.append(h("span.field-error", { id }, words));
}

/** @param {HTMLFormElement} form @param {Problem | Unavailable} error @param {string[]} unplaced */
function showSummary(form, error, unplaced) {
  const summary = find(form, ".summary");
  const placed = problemsOf(error).length - unplaced.length;
  const sentence =
    placed > 0 ? `${placed === 1 ? "One field needs" : `${placed} fields need`} your attention.` : error.message;
  replace(summary, [
    h("strong", error instanceof Problem ? error.title : "Not sent"),
    (placed > 0 || unplaced.length === 0) && h("p", sentence),
    unplaced.length > 0 && h("ul", ...unplaced.map((line) => h("li", line))),
  ]);
  summary.className = "summary problem";
  summary.tabIndex = -1;
  summary.setAttribute("role", "alert");
  summary.hidden = false;
}

/**
 * Run the submission with the button disabled, and show the errors of the response.
 * @param {HTMLFormElement} form @param {() => Promise<unknown>} send
 * @param {string} [scope] that the request needs; without it, the form shows the reason and cannot be sent
 */
export function onSubmit(form, send, scope = "write") {
  const refused = missingScope(scope);
  if (refused) {
    find(form, ".summary").before(h("p", h("strong", refused)));
    requireScope(find(form, 'button[type="submit"]'), scope);
  }
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = find(form, 'button[type="submit"]', HTMLButtonElement);
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
 * Bind forms in dialogs: a link to `#add` opens `add-dialog`, and so does a URL with that fragment. The fragment and the
 * id differ because the browser would focus an element whose id equals the fragment.
 * @param {Record<string, () => Promise<unknown>>} [prepare] functions by fragment, called before a dialog first opens;
 *   an error is shown in the form
 */
export function bindDialogs(prepare = {}) {
  const prepared = new Set();

  function open() {
    const name = location.hash.slice(1);
    const dialog = document.getElementById(`${name}-dialog`);
    if (!(dialog instanceof HTMLDialogElement) || dialog.open) return;
    if (!prepared.has(name))
      prepare[name]?.().catch((error) => showUnread(find(dialog, "form", HTMLFormElement), error));
    prepared.add(name);
    dialog.showModal();
    const [first] = findAll(dialog, "form :is(input, select, textarea):not(:disabled)", HTMLElement);
    first?.focus();
  }

  for (const dialog of findAll(document, "dialog.form-dialog", HTMLDialogElement)) {
    dialog.addEventListener("close", () => {
      if (`${location.hash}-dialog` === `#${dialog.id}`)
        history.replaceState(null, "", location.pathname + location.search);
    });
    find(dialog, "[data-close]").addEventListener("click", () => dialog.close());
  }
  addEventListener("hashchange", open);
  open();
}

/**
 * Show the parts of the form whose condition (`data-when="name=value,value other=value"`) is met by the
 * form's choices. Disable the other parts so that they are neither sent nor focused. A part comes after the
 * choices that it depends on.
 * @param {HTMLFormElement} form
 */
export function bindChoices(form) {
  const apply = () => {
    for (const part of findAll(form, "[data-when]", HTMLElement)) {
      const choices = new FormData(form);
      const isMet = (part.dataset.when ?? "").split(" ").every((condition) => {
        const [name, value] = condition.split("=");
        return value.split(",").includes(String(choices.get(name)));
      });
      part.hidden = !isMet;
      for (const control of controlsOf(part)) control.toggleAttribute("disabled", !isMet);
    }
  };
  form.addEventListener("change", apply);
  apply();
  form.dataset.followed = "";
}

/**
 * Return the elements to disable with a part: its fieldset if it has one, as single controls may be disabled
 * for other reasons.
 * @param {HTMLElement} part
 */
function controlsOf(part) {
  if (part.matches("fieldset")) return [part];
  return part.querySelectorAll(part.matches("details") ? ":scope > fieldset" : "input, select, fieldset");
}

/** Set a select or radio button as users do. @param {HTMLFormElement} form @param {string} name @param {string} value */
export function choose(form, name, value) {
  const select = form.querySelector(`select[name="${name}"]`);
  if (select instanceof HTMLSelectElement) {
    if (select.value === value) return;
    select.value = value;
    select.dispatchEvent(new Event("change", { bubbles: true }));
    return;
  }
  const choice = find(form, `[name="${name}"][value="${value}"]`, HTMLInputElement);
  if (choice.checked) return;
  choice.checked = true;
  choice.dispatchEvent(new Event("change", { bubbles: true }));
}

/** Parse tags, one per line; values may contain colons. @param {string} text @returns {Record<string, string>} */
export function tagsOf(text) {
  return Object.fromEntries(
    partsOf(text, "\n").map((line) => {
      const [name, ...value] = line.split(":");
      return [name.trim(), value.join(":").trim()];
    }),
  );
}
