/** Names of the estimators of counterfactual evaluations, and the options of a select for them. @module */
import { h } from "../page/dom.js";

/** @type {Record<Schemas["CounterfactualRequest"]["estimator"] & string, string>} */
const ESTIMATORS = {
  examination: "weights a click by 1 / mean examination of its document",
  item_position: "weights by 1 / logged propensity of a document at its rank",
  reward_interaction: "weights by 1 / propensities of a document and those above it",
  cascade_doubly_robust: "reward interaction with predicted clicks",
  slate: "weights by 1 / propensity of the whole list",
};

/** Return an option for each estimator. @param {string} chosen */
export function estimatorOptions(chosen) {
  return Object.entries(ESTIMATORS).map(([name, words]) =>
    h("option", { value: name, selected: name === chosen }, `${estimatorName(name)}: ${words}`),
  );
}

/** @param {string} estimator */
export const estimatorName = (estimator) => estimator.replaceAll("_", " ");
