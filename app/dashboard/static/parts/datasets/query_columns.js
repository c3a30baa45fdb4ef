/**
 * What the file says of whole queries beside their documents, such as a split or a country.
 * @module
 */
import { bars } from "../figures/bars.js";
import { h } from "../page/dom.js";

const MOST = 20;

/** @param {Record<string, {value: string, queries: number}[]>} columns */
export function queryColumns(columns) {
  const entries = Object.entries(columns);
  const caption = (name, values) => (values.length < MOST ? name : `${name}, the ${MOST} commonest values`);
  const entry = ({ value, queries }) => [h("span", { class: "name", title: value }, value || "(empty)"), queries];
  const column = ([name, values]) => bars(caption(name, values), values.map(entry));
  return h("section", { class: "panel" }, h("h2", {}, "Queries by column"), h("div", { class: "column-values" }, ...entries.map(column)));
}
