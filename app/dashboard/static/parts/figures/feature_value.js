/**
 * A feature's value in a table: missing and infinite ones stand out.
 * @module
 */
import { h } from "../page/dom.js";
import { short } from "../page/format.js";

const UNUSUAL = { Infinity: "∞", "-Infinity": "−∞" };

/** @param {number | "Infinity" | "-Infinity" | null} value as the API writes it */
export function featureValue(value) {
  if (typeof value === "number") return short(value);
  return value === null ? h("span", { class: "missing", title: "missing" }, "–") : h("span", { class: "unusual", title: "infinite" }, UNUSUAL[value] || value);
}
