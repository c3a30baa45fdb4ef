/**
 * A field that narrows what is below it.
 * @module
 */
import { h } from "../page/dom.js";

/**
 * @param {string} label
 * @param {string} placeholder
 * @param {Record<string, (event: Event) => void>} listeners
 * @returns {HTMLInputElement}
 */
export function searchField(label, placeholder, listeners) {
  return h("input", { type: "search", placeholder, "aria-label": label, autocomplete: "off", spellcheck: "false", ...listeners });
}
