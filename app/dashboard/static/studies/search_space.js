/** The editor of a search space: a row for each parameter, with its bounds or choices. @module */
import { checkBox, field, textInput } from "../forms/controls.js";
import { parameterOf } from "../forms/schema_fields.js";
import { findAll, h, replace } from "../page/dom.js";
import { hint } from "../page/parts.js";
import { numberText } from "../page/format.js";
import { parameterName } from "./labels.js";

/**
 * @typedef {object} Proposal
 * @property {string} pointer
 * @property {"int" | "float" | "choice"} type
 * @property {number} [low]
 * @property {number} [high]
 * @property {boolean} [log]
 * @property {string[]} [choices]
 * @property {string[]} [selected] choices that are selected initially
 * @property {boolean} [unselected] whether it is not selected initially
 * @property {string} words description
 */

// Small data needs few leaves with many documents; the bounds also allow values for large data.
/** @type {Record<string, {low: number, high: number, log: boolean}>} */
const BOUNDS = {
  num_leaves: { low: 4, high: 64, log: true },
  min_data_in_leaf: { low: 5, high: 200, log: true },
  learning_rate: { low: 0.02, high: 0.3, log: true },
  feature_fraction: { low: 0.3, high: 1, log: false },
  feature_fraction_bynode: { low: 0.3, high: 1, log: false },
  bagging_fraction: { low: 0.4, high: 1, log: false },
  query_fraction: { low: 0.4, high: 1, log: false },
  lambda_l1: { low: 0.001, high: 10, log: true },
  lambda_l2: { low: 0.001, high: 100, log: true },
  min_sum_hessian_in_leaf: { low: 0.0001, high: 10, log: true },
  min_gain_to_split: { low: 0, high: 1, log: false },
  path_smooth: { low: 0.1, high: 100, log: true },
  max_depth: { low: 2, high: 12, log: false },
  max_bin: { low: 31, high: 255, log: true },
  num_iterations: { low: 50, high: 1000, log: true },
};
/** Bounds of the parameters of linear scorers and networks. @type {typeof BOUNDS} */
const NETWORK_BOUNDS = {
  learning_rate: { low: 0.0005, high: 0.1, log: true },
  weight_decay: { low: 0.00001, high: 0.1, log: true },
  dropout: { low: 0, high: 0.5, log: false },
  epochs: { low: 20, high: 200, log: true },
  batch_documents: { low: 64, high: 4096, log: true },
};
/** Pointer of a network's hidden layers; one choice is a list of layer sizes. */
const HIDDEN = "/scorer/hidden";
/** Layer sizes that are proposed, from small to large. */
const LAYERS = ["16", "32", "64, 32", "128, 64", "128, 64, 32"];
/** Schema of the parameters of each scorer, their path, and those that are selected initially. @type {Record<string, {schema: string, path: string, first: string[]}>} */
const SCORERS = {
  trees: {
    schema: "Hyperparameters",
    path: "/hyperparameters",
    first: ["num_leaves", "min_data_in_leaf", "learning_rate"],
  },
  linear: { schema: "LinearScorer", path: "/scorer", first: ["learning_rate", "weight_decay"] },
  mlp: { schema: "MlpScorer", path: "/scorer", first: ["learning_rate", "hidden", "dropout", "weight_decay"] },
};
const LOSSES = ["lambdarank", "ndcg-loss2++", "xe-ndcg"];

/**
 * @param {HTMLElement} container
 * @param {HTMLSelectElement} more the parameters that can be added
 * @param {HTMLElement} add @param {SchemasByName} schemas @param {Schemas["LossDescription"][]} losses
 * @returns {{value: () => Record<string, Json>, offer: (scorer: string) => void}} value: the search space as it is
 *   sent; offer: proposes the parameters of another scorer
 */
export function searchSpace(container, more, add, schemas, losses) {
  /** @type {Proposal[]} */ let known = [];
  /** @type {Proposal} */ const loss = {
    pointer: "/loss",
    type: "choice",
    choices: losses.map(({ name }) => name),
    selected: LOSSES,
    unselected: true,
    words: "The loss, with its default parameters.",
  };
  offer("trees");

  add.addEventListener("click", () => {
    const proposal = known.find(({ pointer }) => pointer === more.value);
    if (!proposal) return;
    const newRow = row(proposal);
    container.append(newRow);
    offerMore();
    newRow.querySelector("input")?.focus();
  });

  /** @param {string} scorer */
  function offer(scorer) {
    const { schema, path, first } = SCORERS[scorer];
    const { properties = {} } = schemas[schema];
    known = Object.entries(properties)
      .filter(([name]) => name !== "auto" && name !== "kind")
      .map(([name, property]) => proposalOf(parameterOf(name, property), path))
      .filter((proposal) => proposal !== null);
    const searched = first.flatMap((name) => known.find(({ pointer }) => pointer === `${path}/${name}`) ?? []);
    replace(container, ...[...searched, loss].map(row));
    offerMore();
  }

  function offerMore() {
    const shown = new Set(findAll(container, "fieldset", HTMLFieldSetElement).map(({ dataset }) => dataset.parameter));
    const remaining = known.filter(({ pointer }) => !shown.has(pointer));
    replace(more, ...remaining.map(({ pointer }) => h("option", { value: pointer }, parameterName(pointer))));
  }

  return {
    offer,
    value: () =>
      Object.fromEntries(
        findAll(container, "fieldset", HTMLFieldSetElement)
          .filter((each) => each.querySelector('[name="searched"]:checked'))
          .map((each) => [each.dataset.parameter ?? "", dimensionOf(each)]),
      ),
  };
}

/**
 * Return the proposed search range of a declared parameter, null where it has none.
 * @param {import("../forms/parameter_fields.js").Parameter} parameter
 * @param {string} path of the parameters
 * @returns {Proposal | null}
 */
function proposalOf({ name, type, minimum, maximum, choices, default: standard, description }, path) {
  const pointer = `${path}/${name}`;
  const words = description.replaceAll("`", "");
  if (pointer === HIDDEN) return { pointer, type: "choice", choices: LAYERS, words };
  if (type === "boolean") return { pointer, type: "choice", choices: ["true", "false"], words };
  if (choices?.length) return { pointer, type: "choice", choices: choices.map(String), words };
  if (type !== "integer" && type !== "number") return null;
  const usual = typeof standard === "number" && standard > 0 ? standard : 1;
  const bounds = (path === "/scorer" ? NETWORK_BOUNDS : BOUNDS)[name] ?? {
    low: Math.max(minimum ?? 0, usual / 4),
    high: Math.min(maximum ?? Infinity, usual * 4),
    log: false,
  };
  const whole = type === "integer";
  return {
    pointer,
    type: whole ? "int" : "float",
    ...bounds,
    ...(whole && { low: Math.ceil(bounds.low), high: Math.ceil(bounds.high) }),
    words,
  };
}

/** @param {Proposal} proposal */
function row({ pointer, type, low, high, log, choices, selected, unselected, words }) {
  const name = parameterName(pointer);
  const searched = h("input", { type: "checkbox", name: "searched", checked: !unselected });
  /** @param {string} part @param {number | undefined} value */
  const bound = (part, value) =>
    field(
      part === "low" ? "from" : "to",
      textInput({
        inputmode: "decimal",
        "data-part": part,
        value: value === undefined ? "" : numberText(value),
        "aria-label": `${name}, ${part === "low" ? "from" : "to"}`,
      }),
    );
  const choice = (/** @type {string} */ value) =>
    checkBox({ "data-choice": value, checked: !selected || selected.includes(value) }, value);
  const inside =
    type === "choice"
      ? h("div.choices", ...(choices ?? []).map(choice))
      : h("div.search-bounds", [
          bound("low", low),
          bound("high", high),
          checkBox({ "data-part": "log", checked: Boolean(log) }, "log scale"),
        ]);
  const node = h(
    "fieldset.inner.search-parameter",
    { "data-parameter": pointer, "data-kind": type, "data-pointer": `/search_space/${pointer.replaceAll("/", "~1")}` },
    [h("legend.visually-hidden", name), h("label.check.search-name", searched, h("strong", name)), inside, hint(words)],
  );
  const showIfSearched = () => {
    for (const part of findAll(node, ".search-bounds, .choices", HTMLElement)) part.hidden = !searched.checked;
  };
  searched.addEventListener("change", showIfSearched);
  showIfSearched();
  return node;
}

/** @param {string} value @param {string | undefined} parameter pointer @returns {Json} */
function typedChoice(value, parameter) {
  if (parameter === HIDDEN) return value.split(",").map(Number);
  return value === "true" ? true : value === "false" ? false : value;
}

/** Read one row. An invalid bound is sent as typed, and the server's response explains why. @param {HTMLElement} row @returns {Json} */
function dimensionOf(row) {
  const { kind = "", parameter } = row.dataset;
  if (kind === "choice") {
    const values = findAll(row, "[data-choice]:checked", HTMLInputElement).map(({ dataset }) => dataset.choice ?? "");
    const typed = values.map((value) => typedChoice(value, parameter));
    return { type: kind, choices: parameter === "/loss" ? values.map((name) => ({ name })) : typed };
  }
  const input = (/** @type {string} */ part) => findAll(row, `[data-part="${part}"]`, HTMLInputElement)[0];
  const number = (/** @type {string} */ part) => {
    const text = input(part).value.trim();
    return text === "" || Number.isNaN(Number(text)) ? text : Number(text);
  };
  return { type: kind, low: number("low"), high: number("high"), log: input("log").checked };
}
