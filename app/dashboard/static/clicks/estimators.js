/** Names of the estimators of counterfactual evaluations, and the options of a select for them. @module */
import { h } from "../page/dom.js";

/** @type {Record<Schemas["CounterfactualRequest"]["estimator"] & string, string>} */
const ESTIMATORS = {
  examination: "weights by how often each rank is examined",
  item_position: "weights by the logged propensity of a document at its rank",
  reward_interaction: "weights by the propensities of a document and those above it",
  cascade_doubly_robust: "reward interaction with predicted clicks",
  slate: "weights by the propensity of the whole list",
};

/** Condition (`data-when`) of the fields for estimators that can divide by the mean weight. */
export const NORMALISED_WHEN = "estimator=slate,item_position,reward_interaction";

/** Return an option for each estimator. @param {string} chosen */
export function estimatorOptions(chosen) {
  return Object.entries(ESTIMATORS).map(([name, words]) =>
    h("option", { value: name, selected: name === chosen }, `${estimatorName(name)}: ${words}`),
  );
}

/** @param {string} estimator */
export function estimatorName(estimator) {
  return estimator.replaceAll("_", " ");
}
