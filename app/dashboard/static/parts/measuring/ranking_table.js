/**
 * Rankings in a list: what ranks, the queries of which dataset, and how many.
 * @module
 */
import { datasetPage, modelPage, rankingPage } from "../page/addresses.js";
import { h } from "../page/dom.js";
import { count, timeElement } from "../page/format.js";
import { datasetName } from "../page/names.js";

/** @param {any[]} rankings */
export function rankingTable(rankings) {
  const heads = ["What ranks", "", "The queries of", "Queries", "Documents", "Made"];
  return h(
    "div",
    { class: "panel" },
    h(
      "div",
      { class: "scroll", role: "region", "aria-label": "Rankings", tabindex: "0" },
      h("table", { class: "results" }, h("thead", {}, h("tr", {}, ...heads.map((words) => h(words ? "th" : "td", { scope: words && "col", class: ["Queries", "Documents"].includes(words) && "number" }, words)))), h("tbody", {}, ...rankings.map(row))),
    ),
  );
}

function row({ id, system, model_id: model, dataset_id: dataset, queries, documents, created_at: created }) {
  return h(
    "tr",
    { "data-ranking": id },
    h("th", { scope: "row" }, h("a", { class: "name", href: rankingPage(id), title: system }, system)),
    h("td", {}, model ? h("a", { class: "quiet-link", href: modelPage(model) }, "model") : h("span", { class: "tag plain" }, "uploaded run")),
    h("td", {}, h("a", { class: "quiet-link", href: datasetPage(dataset) }, datasetName(dataset))),
    h("td", { class: "number" }, count(queries)),
    h("td", { class: "number" }, count(documents)),
    h("td", {}, timeElement(created)),
  );
}
