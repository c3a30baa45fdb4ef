/**
 * A field for a hyperparameter from its declaration in the API.
 * @module
 */
import { h } from "./dom.js";
import { short } from "./format.js";

// Anything else, such as "list or text", is read as JSON where it looks like it.
const TYPES = { number: "number", integer: "integer", boolean: "boolean", text: "text" };

/**
 * @param {string} pointer
 * @param {{name: string, type: string, default: any, minimum?: number, maximum?: number, description: string,
 *   choices?: string[]}} parameter
 */
export function parameterField(pointer, parameter) {
  const type = TYPES[parameter.type] || "json";
  const choices = type === "boolean" ? ["true", "false"] : parameter.choices || [];
  const attributes = { "data-pointer": pointer, "data-type": type };
  const standard = parameter.default === null || parameter.default === undefined ? "none" : short(parameter.default);
  const control = choices.length
    ? h(
        "select",
        attributes,
        h("option", { value: "" }, `${standard} (default)`),
        ...choices.filter((choice) => String(choice) !== standard).map((choice) => h("option", { value: choice }, choice)),
      )
    : h("input", { ...attributes, type: "text", autocomplete: "off", inputmode: type === "text" || type === "json" ? "text" : "decimal", placeholder: `${standard} (default)` });
  return h("label", { class: "field", title: parameter.description }, label(parameter), control, h("small", { class: "below" }, parameter.description));
}

function label({ name }) {
  return name.replaceAll("_", " ").replace(/^./, (letter) => letter.toUpperCase());
}
