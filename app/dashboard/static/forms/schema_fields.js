/**
 * Fields for properties of a request, with names, bounds, defaults and descriptions from the OpenAPI document. Some
 * elements of a template list the properties that they show; another element shows the remaining properties. @module
 */
import { parameterField } from "./parameter_fields.js";
import { findAll, replace } from "../page/dom.js";

/** Labels of fields; a field without one has its name as its label. @type {Record<string, string>} */
export const LABELS = {
  num_iterations: "Iterations",
  learning_rate: "Learning rate",
  num_leaves: "Leaves per tree",
  max_depth: "Depth",
  min_data_in_leaf: "Documents per leaf",
  min_sum_hessian_in_leaf: "Minimum Hessian per leaf",
  bagging_fraction: "Share of documents",
  bagging_freq: "Bagging interval",
  query_fraction: "Share of queries",
  feature_fraction: "Share of features per tree",
  feature_fraction_bynode: "Share of features per split",
  extra_trees: "Random thresholds",
  lambda_l1: "L1 penalty",
  lambda_l2: "L2 penalty",
  min_gain_to_split: "Minimum split gain",
  max_delta_step: "Leaf value limit",
  path_smooth: "Smoothing",
  data_sample_strategy: "Sampling of documents",
  top_rate: "Share of large gradients",
  other_rate: "Share of other gradients",
  boosting: "Boosting",
  drop_rate: "Share of trees dropped",
  max_drop: "Maximum dropped trees",
  skip_drop: "Probability of dropping no trees",
  uniform_drop: "Uniform selection of dropped trees",
  xgboost_dart_mode: "Rescale as XGBoost",
  linear_tree: "Linear leaves",
  linear_lambda: "L2 penalty of linear leaves",
  use_quantized_grad: "Quantised gradients",
  num_grad_quant_bins: "Bins per gradient",
  quant_train_renew_leaf: "Exact leaf values",
  stochastic_rounding: "Stochastic rounding",
  monotone_constraints: "Monotone features",
  monotone_constraints_method: "Monotone method",
  monotone_penalty: "Monotone penalty",
  interaction_constraints: "Interacting features",
  feature_contri: "Factors of features",
  max_bin: "Bins per feature",
  min_data_in_bin: "Documents per bin",
  cat_smooth: "Smoothing of categories",
  cat_l2: "L2 penalty of categories",
  max_cat_threshold: "Categories per split",
  max_cat_to_onehot: "Maximum categories for one-hot splits",
  min_data_per_group: "Documents per category",
  metric_interval: "Measure every",
  interval: "Diagnose every",
  rounds: "Patience",
  metric: "Watched metric",
};
const SIMPLE = new Set(["number", "integer", "boolean", "string", "object", "array"]);
/** @type {Record<string, string>} */ const TYPES = { string: "text" };
/** Examples of fields that are typed as JSON. @type {Record<string, string>} */
const PLACEHOLDERS = {
  monotone_constraints: '{"bm25": 1, "age": -1}',
  interaction_constraints: '[["bm25", "age"], ["clicks"]]',
  feature_contri: '{"bm25": 0.5}',
};

/**
 * Fill each `[data-schema]` of a form with fields: for the properties that its `data-only` lists, else for all simple ones
 * that have no field yet. `data-at` is their path in the request. With `data-examples`, required properties begin with
 * their examples.
 * @param {HTMLFormElement} form
 * @param {SchemasByName} schemas by name
 */
export function fillFields(form, schemas) {
  const containers = findAll(form, "[data-schema]", HTMLElement);
  // Fill the containers that name their fields first; the others take the remaining fields.
  containers.sort((one, other) => Number("only" in other.dataset) - Number("only" in one.dataset));
  for (const container of containers) {
    const { schema = "", at, only } = container.dataset;
    const { properties = {}, required = [] } = schemas[schema];
    const names = only
      ? only.split(" ")
      : Object.keys(properties).filter(
          (name) => isSimple(properties[name]) && !form.querySelector(`[data-pointer="${at}/${name}"]`),
        );
    const fields = names.map((name) => {
      const parameter = parameterOf(name, properties[name]);
      const example = required.includes(name) ? properties[name].examples?.[0] : undefined;
      return parameterField(`${at}/${name}`, {
        ...parameter,
        value: container.dataset.examples === undefined ? undefined : example,
      });
    });
    replace(container, ...fields);
  }
}

/** Check whether a property is optional and has a simple type, so that one field can hold it. @param {Schema} property */
function isSimple(property) {
  return (
    !("const" in property) &&
    SIMPLE.has(withoutNull(property).type ?? "") &&
    ("default" in property || property.anyOf !== undefined)
  );
}

/** Return the schema of a property without the alternative null. @param {Schema} property @returns {Schema} */
const withoutNull = (property) => property.anyOf?.find(({ type }) => type !== "null") || property;

/**
 * Convert a property to a declaration of a parameter, as the catalogue of losses has them.
 * @param {string} name @param {Schema} property @returns {import("./parameter_fields.js").Parameter}
 */
export function parameterOf(name, property) {
  const { type, enum: choices, minimum, exclusiveMinimum, maximum } = withoutNull(property);
  return {
    name,
    type: TYPES[type ?? ""] || type || "",
    default: property.default ?? null,
    minimum: minimum ?? exclusiveMinimum ?? null,
    exclusive_minimum: exclusiveMinimum !== undefined,
    maximum: maximum ?? null,
    choices: choices || [],
    description: property.description || "",
    label: LABELS[name],
    placeholder: PLACEHOLDERS[name],
    single: name === "priority",
  };
}
