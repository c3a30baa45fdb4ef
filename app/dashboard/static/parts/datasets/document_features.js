/**
 * The features of single documents of a query, read once they are asked for.
 * @module
 */
import { h } from "../page/dom.js";
import { featureValue } from "../figures/feature_value.js";
import { loaded } from "../page/loaded.js";
import { readCandidates } from "../models/scored.js";

/** @param {string} datasetId @param {string} queryId @returns {{fill: (place: HTMLElement, documentId: string) => void}} */
export function documentFeatures(datasetId, queryId) {
  return {
    fill(place, documentId) {
      loaded(place, async () => {
        const { candidates } = await readCandidates(datasetId, queryId, { wanted: new Set([documentId]) });
        const [found] = candidates;
        if (!found) return [h("p", { class: "hint" }, "The dataset has no such document.")];
        return [h("dl", { class: "feature-list" }, ...Object.entries(found.features).map(([name, value]) => h("div", {}, h("dt", { title: name }, name), h("dd", {}, featureValue(value)))))];
      });
    },
  };
}
