/**
 * A field for a hyperparameter from its declaration in the API. Several values in it make a grid.
 * @module
 */
import { h, setAttribute } from "../page/dom.js";
import { count, short } from "../page/format.js";

// Anything else is read as JSON where it looks like it.
const TYPES = { number: "number", integer: "integer", boolean: "boolean", text: "text", list: "numbers", "text or list": "text" };
export const OWN = "own numbers";
const SEVERAL = "several";
// A bound that nobody means to reach is not worth its words.
const FAR = 1e6;

/**
 * @typedef {object} Parameter
 * @property {string} name
 * @property {string} type
 * @property {any} default
 * @property {number | null} [minimum]
 * @property {boolean} [exclusive_minimum]
 * @property {number | null} [maximum]
 * @property {string} description
 * @property {string[]} [choices]
 * @property {boolean} [single] whether several values of it make no sense
 * @property {string} [label] what it is called, its name unless given
 * @property {string} [placeholder] an example of what is written as JSON
 * @property {string | number} [value] what stands in the field at first
 */

/** @param {string} pointer @param {Parameter} parameter */
export function parameterField(pointer, parameter) {
  const [control, ...more] = controls(pointer, parameter);
  control.id = `field${pointer.replaceAll("/", "-")}`;
  const words = [parameter.description.replace(/\.$/, ""), boundWords(parameter)].filter(Boolean).join(" · ");
  setAttribute(control, "aria-description", words);
  return h("div", { class: "field" }, h("label", { for: control.id }, label(parameter)), control, ...more, h("small", { class: "below" }, parameter.label && [h("code", {}, parameter.name), " "], words));
}

function controls(pointer, parameter) {
  const choices = parameter.type === "boolean" ? ["true", "false"] : parameter.choices || [];
  const type = TYPES[parameter.type] || "json";
  if (!choices.length) return [input(pointer, type, parameter.placeholder || `${standard(parameter)} (default)`, parameter.value)];
  if (parameter.type === "text or list") return choiceOrNumbers(pointer, parameter, choices);
  if (parameter.single) return [select(pointer, type, parameter, choices)];
  return choiceOrSeveral(pointer, type, parameter, choices);
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

function input(pointer, type, placeholder, value = "") {
  const number = type === "number" || type === "integer";
  return h("input", { type: "text", autocomplete: "off", spellcheck: "false", placeholder, value, "data-pointer": pointer, "data-type": type, "data-grid": number });
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

/** One of the choices, or several ticked in a group that takes over the pointer. */
function choiceOrSeveral(pointer, type, parameter, choices) {
  const choice = select(pointer, type, parameter, choices, h("option", { value: SEVERAL }, "several…"));
  const box = (value) => h("label", { class: "check" }, h("input", { type: "checkbox", value }), value);
  const group = h("fieldset", { class: "values", "aria-label": "Several to try", "data-type": "several", "data-of": type, "data-grid": true, hidden: true, disabled: true }, ...choices.map(box));
  choice.addEventListener("change", () => {
    const several = choice.value === SEVERAL;
    group.hidden = !several;
    group.disabled = !several;
    setAttribute(choice, "data-pointer", !several && pointer);
    setAttribute(group, "data-pointer", several && pointer);
  });
  return [choice, group];
}

function standard({ default: value }) {
  return value === null || value === undefined ? "none" : Array.isArray(value) ? value.join(", ") : short(value);
}

/** "above 0, at most 10". @param {Parameter} parameter */
function boundWords({ minimum, exclusive_minimum: above, maximum }) {
  const low = typeof minimum === "number" && Math.abs(minimum) < FAR;
  const high = typeof maximum === "number" && maximum < FAR;
  if (low && high && !above) return `${count(minimum)} to ${count(maximum)}`;
  return [low && `${above ? "above" : "at least"} ${count(minimum)}`, high && `at most ${count(maximum)}`].filter(Boolean).join(", ");
}

function label({ name, label: given }) {
  return given || name.replaceAll("_", " ").replace(/^./, (letter) => letter.toUpperCase());
}
