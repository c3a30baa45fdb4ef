/** Controls that pages make: text fields, check boxes, and labels around them. @module */
import { h } from "../page/dom.js";

/** Return a field for a line of text, without suggestions of the browser. @param {Attributes} [attributes] */
export const textInput = (attributes = {}) =>
  h("input", { type: "text", autocomplete: "off", spellcheck: "false", ...attributes });

/** Return a check box within its label. @param {Attributes} attributes of the box @param {...Children} words */
export const checkBox = (attributes, ...words) =>
  h("label.check", h("input", { type: "checkbox", ...attributes }), ...words);

/** @param {Children} words @param {HTMLElement} control @param {Child} [note] below the control */
export const field = (words, control, note) => h("label.field", words, control, note && h("small.below", note));

/** Return a field for a search. @param {string} label @param {string} placeholder @param {Attributes} listeners */
export const searchField = (label, placeholder, listeners) =>
  textInput({ type: "search", placeholder, "aria-label": label, ...listeners });
