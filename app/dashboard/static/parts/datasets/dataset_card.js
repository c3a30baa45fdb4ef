/**
 * One dataset in the list: whether it can be trained on, what is in it, what was found, or why not.
 * @module
 */
import { datasetPage } from "../page/addresses.js";
import { datasetActions } from "./dataset_actions.js";
import { rangeWords, sourceWords } from "./dataset_labels.js";
import { labelCounts } from "./distributions.js";
import { h, problemBox } from "../page/dom.js";
import { count, counted, short, timeElement } from "../page/format.js";
import { severityCounts } from "../figures/severity_counts.js";

/**
 * @param {any} dataset
 * @param {() => void} deleted
 */
export function datasetCard(dataset, deleted) {
  const { id, name, status, statistics, problem, findings } = dataset;
  return h(
    "article",
    { class: "panel dataset", "data-dataset": id, "data-status": status },
    h(
      "div",
      { class: "dataset-head" },
      h("h2", {}, h("a", { class: "quiet-link", href: datasetPage(id) }, name), " ", h("span", { class: "status", "data-status": status }, status)),
      h("p", { class: "job-meta" }, sourceWords(dataset), " · ", timeElement(dataset.created_at)),
      findings && h("p", {}, severityCounts(findings)),
    ),
    datasetActions(dataset, deleted),
    status === "pending" && h("progress", { "aria-label": `Reading ${name}` }),
    statistics && contents(statistics),
    problem && problemBox(problem),
    problem?.errors?.length > 1 && h("p", {}, h("a", { href: datasetPage(id) }, `All ${counted(problem.errors.length, "problem")}`)),
  );
}

function contents(statistics) {
  const perQuery = statistics.documents_per_query || {};
  const facts = [
    ["queries", count(statistics.queries)],
    ["documents", count(statistics.documents)],
    ["features", count(statistics.features)],
    ["documents a query", perQuery.min === perQuery.max ? count(perQuery.min) : `${rangeWords(perQuery.min, perQuery.max)}, median ${short(perQuery.median)}`],
    ["queries without relevant", count(statistics.queries_without_relevant)],
  ];
  return h(
    "div",
    { class: "dataset-contents" },
    h("dl", { class: "figures" }, ...facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
    statistics.labels && labelCounts(statistics),
  );
}
