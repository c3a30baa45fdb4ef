/**
 * The estimators of a metric from clicks on other rankings, as forms offer them.
 * @module
 */
import { h } from "../page/dom.js";

/** @type {Record<Schemas["CounterfactualRequest"]["estimator"] & string, string>} */
const ESTIMATORS = {
  examination: "by how often ranks are examined",
  item_position: "logged propensities at ranks",
  reward_interaction: "and of the documents above",
  cascade_doubly_robust: "and predicted clicks",
  slate: "of whole lists",
};

/** The estimators that can divide by the mean weight, as a condition of a part of a form. */
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
