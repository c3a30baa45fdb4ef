/**
 * What is known of a model before one looks inside: where it comes from, how large it is, how good it was.
 * @module
 */
import { compareWith, datasetPage } from "./addresses.js";
import { h } from "./dom.js";
import { count, metric, short, size, timeElement } from "./format.js";
import { datasetName } from "./names.js";
import { tileList } from "./tiles.js";

/** @param {any} model @param {{features: {split: number}[]}} importance @returns {Node[]} */
export function modelHead(model, { features, trees }) {
  const { id, name, version, aliases, job_id: job, dataset_id: dataset, loss, metrics, created_at: created } = model;
  const reference = `${name}:${version}`;
  const jobPage = job && `/jobs/${encodeURIComponent(job)}`;
  const used = features.filter(({ split }) => split > 0).length;
  return [
    h(
      "div",
      { class: "page-head" },
      h("h1", {}, reference, ...aliases.map((alias) => h("span", { class: "tag" }, `@${alias}`))),
      h(
        "div",
        { class: "actions" },
        h("a", { class: "button", href: compareWith([reference]) }, "Compare"),
        job && metrics && h("a", { class: "button quiet", href: `${jobPage}#result` }, "Evaluation"),
        job && h("a", { class: "button quiet", href: jobPage }, "Job"),
        h("a", { class: "button quiet", href: `/v1/models/${encodeURIComponent(id)}/export?format=lightgbm`, download: "" }, "Model file"),
      ),
    ),
    h(
      "p",
      { class: "job-meta" },
      loss?.name,
      dataset && [" on ", h("a", { href: datasetPage(dataset) }, datasetName(dataset))],
      " · ",
      timeElement(created),
      " · ",
      h("code", {}, id),
    ),
    tileList([
      ["Trees", count(trees)],
      ["Features", count(features.length), used < features.length && `${count(used)} of them used`],
      ["Size", size(model.size_bytes)],
      ...Object.entries(metrics || {}).map(([spelling, value]) => [spelling, metric(value), "on the test data"]),
    ]),
    settings(model),
  ];
}

function settings({ loss, hyperparameters }) {
  const fact = ([name, value]) => value !== null && h("div", {}, h("dt", {}, name.replaceAll("_", " ")), h("dd", {}, short(value)));
  const facts = (values) => h("dl", { class: "facts" }, ...Object.entries(values || {}).map(fact));
  return h("details", { class: "more model-settings" }, h("summary", {}, "Loss and hyperparameters"), facts(loss), facts(hyperparameters));
}
