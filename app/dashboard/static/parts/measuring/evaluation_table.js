/**
 * Evaluations in a list: what ranks, on what, how well by the metrics asked for first.
 * @module
 */
import { datasetPage } from "../page/addresses.js";
import { h } from "../page/dom.js";
import { metric, timeElement } from "../page/format.js";
import { datasetName } from "../page/names.js";
import { intervalWords } from "../figures/whiskers.js";

const SHOWN = 3;

/** @param {any[]} evaluations */
export function evaluationTable(evaluations) {
  const heads = ["What ranks", "On", "Mean, 95% interval", "Measured"];
  return h(
    "div",
    { class: "panel" },
    h(
      "div",
      { class: "scroll", role: "region", "aria-label": "Evaluations", tabindex: "0" },
      h("table", { class: "results" }, h("thead", {}, h("tr", {}, ...heads.map((words) => h("th", { scope: "col" }, words)))), h("tbody", {}, ...evaluations.map(row))),
    ),
  );
}

function row({ id, system, model_id: model, dataset_id: dataset, metrics, created_at: created }) {
  const entries = Object.entries(metrics);
  const rest = entries.length - SHOWN;
  return h(
    "tr",
    { "data-evaluation": id },
    h("th", { scope: "row" }, h("a", { class: "name", href: `/evaluations/${encodeURIComponent(id)}`, title: system }, system), !model && h("span", { class: "tag plain" }, "run")),
    h("td", {}, h("a", { class: "quiet-link", href: datasetPage(dataset) }, datasetName(dataset))),
    h("td", {}, h("span", { class: "means" }, ...entries.slice(0, SHOWN).map(mean), rest > 0 && h("small", {}, `and ${rest} more`))),
    h("td", {}, timeElement(created)),
  );
}

function mean([name, interval]) {
  return h("span", {}, h("small", {}, name), " ", h("strong", {}, metric(interval.mean)), " ", h("small", {}, intervalWords(interval)));
}
