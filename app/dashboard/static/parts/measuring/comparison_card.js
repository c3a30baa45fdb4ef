/**
 * One comparison in the list: what was found, between which systems, on what.
 * @module
 */
import { h } from "../page/dom.js";
import { timeElement } from "../page/format.js";
import { datasetName } from "../page/names.js";

/** @param {any} comparison */
export function comparisonCard({ id, sentence, systems, dataset_id: dataset, created_at: created }) {
  return h(
    "article",
    { class: "panel comparison-card", "data-comparison": id },
    h("h2", {}, h("a", { class: "quiet-link", href: `/comparisons/${encodeURIComponent(id)}` }, sentence)),
    h("p", { class: "job-meta" }, systems.join(", "), " · ", datasetName(dataset), " · ", timeElement(created)),
  );
}
