/**
 * The queries that gain and lose most, each opening both rankings of it.
 * @module
 */
import { h, setAttribute } from "../page/dom.js";
import { metric } from "../page/format.js";
import { signed } from "./verdict.js";

/**
 * @param {any} pair
 * @param {[string, string]} names
 * @param {(queryId: string) => void} open
 * @returns {{node: HTMLElement, show: (queryId: string) => void}}
 */
export function changedQueries({ most_improved: improved, most_harmed: harmed }, names, open) {
  const node = h("div", { class: "columns changed" }, list("Most improved", improved, names, open), list("Most harmed", harmed, names, open));
  return {
    node,
    show(queryId) {
      for (const button of node.querySelectorAll("button[value]")) setAttribute(button, "aria-pressed", String(button.value === queryId));
    },
  };
}

function list(title, queries, names, open) {
  if (!queries.length) return h("section", {}, h("h3", {}, title), h("p", { class: "hint" }, "No query."));
  const head = (words, kind) => h("th", { scope: "col", class: kind }, words);
  const system = (name) => head(h("span", { class: "name", title: name }, name), "number");
  const row = ({ query_id: query, a, b, difference }) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, h("button", { type: "button", class: "link", value: query, title: query, click: () => open(query) }, h("span", { class: "name" }, query))),
      h("td", { class: "number" }, metric(a)),
      h("td", { class: "number" }, metric(b)),
      h("td", { class: "number", "data-kind": title === "Most improved" ? "gained" : "lost" }, signed(difference)),
    );
  return h(
    "section",
    {},
    h("h3", {}, title),
    h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, head("Query"), system(names[0]), system(names[1]), head("Difference", "number"))), h("tbody", {}, ...queries.map(row)))),
  );
}
