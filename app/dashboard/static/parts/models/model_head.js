/**
 * What is known of a model at first sight: what it is called, where it comes from, how large and how good it is.
 * @module
 */
import { compareWith, datasetPage, modelPage } from "../page/addresses.js";
import { h } from "../page/dom.js";
import { count, metric, size, timeElement } from "../page/format.js";
import { datasetName } from "../page/names.js";
import { tileList } from "../figures/tiles.js";

/** @param {any} model @returns {Node[]} */
export function modelHead(model) {
  const { id, name, version, aliases, job_id: job, dataset_id: dataset, loss, source, metrics, created_at: created } = model;
  const reference = `${name}:${version}`;
  return [
    h(
      "div",
      { class: "page-head" },
      h("h1", {}, reference, ...aliases.map((alias) => h("span", { class: "tag" }, `@${alias}`))),
      h(
        "div",
        { class: "actions" },
        h("a", { class: "button", href: compareWith([reference]) }, "Compare"),
        h("a", { class: "button quiet", href: `/evaluations?${new URLSearchParams({ model_id: id, model: reference })}` }, "Evaluations"),
        h("a", { class: "button quiet", href: `/jobs/${encodeURIComponent(job)}` }, "Job"),
      ),
    ),
    h(
      "p",
      { class: "job-meta" },
      loss?.name || source,
      dataset && [" on ", h("a", { href: datasetPage(dataset) }, datasetName(dataset))],
      " · ",
      timeElement(created),
      version > 1 && [" · after ", h("a", { href: modelPage(`${name}:${version - 1}`) }, `${name}:${version - 1}`)],
      " · ",
      h("code", {}, id),
    ),
    tileList([
      ["Trees", count(model.best_iteration)],
      ["Features", count(model.feature_names.length)],
      ["Size", size(model.size_bytes)],
      ...Object.entries(metrics || {}).map(([spelling, value]) => [spelling, metric(value), "on the test data"]),
    ]),
  ];
}
