/**
 * A field for a hyperparameter from its declaration in the API.
 * @module
 */
import { h, setAttribute } from "./dom.js";
import { short } from "./format.js";

// Anything else is read as JSON where it looks like it.
const TYPES = { number: "number", integer: "integer", boolean: "boolean", text: "text", list: "numbers", "text or list": "text" };
const OWN = "own numbers";

/**
 * @typedef {object} Parameter
 * @property {string} name
 * @property {string} type
 * @property {any} default
 * @property {number} [minimum]
 * @property {number} [maximum]
 * @property {string} description
 * @property {string[]} [choices]
 */

/** @param {string} pointer @param {Parameter} parameter */
export function parameterField(pointer, parameter) {
  return h("label", { class: "field", title: parameter.description }, label(parameter), ...controls(pointer, parameter), h("small", { class: "below" }, parameter.description));
}

function controls(pointer, parameter) {
  const choices = parameter.type === "boolean" ? ["true", "false"] : parameter.choices || [];
  const type = TYPES[parameter.type] || "json";
  if (!choices.length) return [input(pointer, type, `${standard(parameter)} (default)`)];
  if (parameter.type === "text or list") return choiceOrNumbers(pointer, parameter, choices);
  return [select(pointer, type, parameter, choices)];
}

function select(pointer, type, parameter, choices, ...more) {
  const others = choices.filter((choice) => String(choice) !== String(parameter.default));
  return h(
    "select",
    { "data-pointer": pointer, "data-type": type },
    h("option", { value: "" }, `${standard(parameter)} (default)`),
    ...others.map((choice) => h("option", { value: choice }, choice)),
    ...more,
  );
}

function input(pointer, type, placeholder) {
  const inputmode = type === "number" || type === "integer" ? "decimal" : "text";
  return h("input", { type: "text", autocomplete: "off", spellcheck: "false", inputmode, placeholder, "data-pointer": pointer, "data-type": type });
}

/** One of the names, or numbers typed in a second control that takes over the pointer. */
function choiceOrNumbers(pointer, parameter, choices) {
  const choice = select(pointer, "text", parameter, choices, h("option", { value: OWN }, "own numbers…"));
  const numbers = input(pointer, "numbers", "0, 1, 3, 7, 15");
  setAttribute(numbers, "aria-label", `${label(parameter)}, own numbers`);
  const follow = () => {
    const own = choice.value === OWN;
    numbers.hidden = !own;
    numbers.disabled = !own;
    setAttribute(choice, "data-pointer", !own && pointer);
  };
  choice.addEventListener("change", follow);
  follow();
  return [choice, numbers];
}

function standard({ default: value }) {
  return value === null || value === undefined ? "none" : Array.isArray(value) ? value.join(", ") : short(value);
}

function label({ name }) {
  return name.replaceAll("_", " ").replace(/^./, (letter) => letter.toUpperCase());
}
