/** Collapsible groups of options, each with a summary of the options that differ from the defaults. @module */
import { CUSTOM_NUMBERS, SEVERAL } from "./parameter_fields.js";
import { elementById, find, findAll, setAttribute, setText } from "../page/dom.js";
import { count } from "../page/format.js";

/** @typedef {{label: string, value: string}} Change */
/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Control */

const MAX_NAMED = 4;
/** Values of selects whose actual value is in other controls. */
const PLACEHOLDER_CHOICES = [SEVERAL, CUSTOM_NUMBERS];
const CHECK_BOX_GROUPS = '[data-type="several"], [data-type="checked"], [data-also]';

/** Return the summary of a group: "2 changed: learning rate 0.05, leaves per tree 15". @param {Change[]} changes */
export function changesLabel(changes) {
  if (!changes.length) return "defaults";
  const named = changes.slice(0, MAX_NAMED).map(({ label, value }) => `${lowerCaseStart(label)} ${value}`.trim());
  const more = changes.length - named.length;
  return `${count(changes.length)} changed: ${[...named, ...(more ? [`${count(more)} more`] : [])].join(", ")}`;
}

/** Return a label for use within a sentence: "learning rate", but "L2 penalty". @param {string} label */
const lowerCaseStart = (label) => (/^[A-Z][a-z]/.test(label) ? label[0].toLowerCase() + label.slice(1) : label);

/**
 * Update the summaries of all groups when their controls change, and let a button expand all groups.
 * @param {HTMLFormElement} form
 * @returns {() => void} updates the summaries after a script has changed controls
 */
export function bindOptionGroups(form) {
  const groups = findAll(form, "[data-fold]", HTMLDetailsElement);
  const show = () => {
    for (const group of groups) {
      const changes = changesOf(group);
      const container = find(group, ".fold-changes");
      setText(container, changesLabel(changes));
      setAttribute(container, "data-changed", changes.length > 0);
    }
  };
  for (const event of ["input", "change"]) form.addEventListener(event, show);
  bindExpandAll(form);
  show();
  return show;
}

/** @param {HTMLFormElement} form */
function bindExpandAll(form) {
  const button = elementById("unfold", HTMLButtonElement);
  button.addEventListener("click", () => {
    const open = button.getAttribute("aria-pressed") !== "true";
    for (const details of findAll(form, "details", HTMLDetailsElement)) details.open = open;
    setAttribute(button, "aria-pressed", String(open));
    setText(button, open ? "Collapse all" : "Show all");
  });
}

/** @param {HTMLElement} group @returns {Change[]} */
function changesOf(group) {
  const boxes = findAll(group, CHECK_BOX_GROUPS, HTMLElement).filter((each) => !each.matches(":disabled"));
  const ticked = boxes.flatMap((each) => {
    const values = findAll(each, "input:checked:not(:disabled)", HTMLInputElement).map(({ value }) => value);
    return values.length ? [{ label: groupLabel(each), value: values.join(", ") }] : [];
  });
  const controls = /** @type {Control[]} */ (findAll(group, "input, select, textarea", HTMLElement));
  const single = controls
    .filter((control) => !control.closest(CHECK_BOX_GROUPS))
    .flatMap((control) => changeOf(control) ?? []);
  return [...single, ...ticked];
}

/** @param {Control} control @returns {Change | null} null if the control has its default */
function changeOf(control) {
  if (control.matches(":disabled") || control.type === "hidden") return null;
  if (control instanceof HTMLInputElement && (control.type === "radio" || control.type === "checkbox")) {
    if (control.checked === control.defaultChecked || (control.type === "radio" && !control.checked)) return null;
    if (control.type === "radio") return { label: groupLabel(control.closest("fieldset")), value: labelOf(control) };
    return { label: control.dataset.name ?? labelOf(control), value: control.checked ? "" : "off" };
  }
  if (control instanceof HTMLSelectElement) {
    const initial = [...control.options].find((option) => option.defaultSelected) ?? control.options[0];
    if (!initial || control.value === initial.value || PLACEHOLDER_CHOICES.includes(control.value)) return null;
    return { label: labelOf(control), value: control.selectedOptions[0]?.textContent ?? control.value };
  }
  const typed = control.value.trim();
  if (!typed || typed === control.defaultValue.trim()) return null;
  return { label: labelOf(control), value: typed };
}

/** @param {Control} control */
function labelOf(control) {
  const label = control.labels?.[0];
  const own = [...(label?.childNodes ?? [])].filter((node) => node.nodeType === Node.TEXT_NODE);
  const text = own.map((node) => node.textContent ?? "").join(" ");
  return text.replace(/\s+/g, " ").trim() || control.getAttribute("aria-label") || control.name;
}

/** @param {HTMLElement | null} group */
function groupLabel(group) {
  const legend = group?.querySelector(":scope > legend");
  const text = legend?.firstChild?.textContent ?? group?.getAttribute("aria-label") ?? "";
  return text.trim();
}
