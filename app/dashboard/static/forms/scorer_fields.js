/** Fields for the scorer to train: trees, a linear scorer, a network or a sum, with its hyperparameters. @module */
import { parameterField } from "./parameter_fields.js";
import { elementById, h, replace, setAttribute, setText } from "../page/dom.js";
import { joined } from "../page/format.js";

export const TREES = "trees";
/** @type {Record<string, string>} */
const NAMES = { trees: "trees", linear: "a linear scorer", mlp: "a network", sum: "a sum of models" };
/** @type {Record<string, string>} */ const LABELS = {
  hidden: "Units of the hidden layers",
  epochs: "Epochs at most",
  batch_documents: "Documents per batch",
  learning_rate: "Learning rate",
  inputs: "Scaling of features",
  layer_norm: "Layer norm",
  decay_on_rise: "Decay after a cost increase",
  restart_epochs: "Restart after stalled epochs",
  training_cost: "Monitored training cost",
  gradient_clip: "Gradient clipping",
  log1p: "Log transform",
  missing_indicators: "Indicators of missing values",
};
const FIRST_PARAMETERS = ["hidden", "activation", "dropout", "epochs", "learning_rate", "batch_documents", "inputs"];

/** Offer the kinds of scorers, with the fields of the chosen one. @param {Schemas["ScorerDescription"][]} scorers */
export function offerScorers(scorers) {
  const select = elementById("scorer", HTMLSelectElement);
  replace(select, ...scorers.map(({ kind }) => h("option", { value: kind }, NAMES[kind] ?? kind)));
  const show = () => {
    // The service trains trees if the request names no scorer.
    setAttribute(select, "data-pointer", select.value !== TREES && "/scorer/kind");
    const scorer = scorers.find(({ kind }) => kind === select.value);
    if (scorer) showScorer(scorer);
  };
  select.addEventListener("change", show);
  show();
}

/** Choose a kind of scorer; a kind that the form does not offer is ignored. @param {string} kind */
export function chooseScorer(kind) {
  const select = elementById("scorer", HTMLSelectElement);
  if (![...select.options].some(({ value }) => value === kind)) return;
  select.value = kind;
  select.dispatchEvent(new Event("change", { bubbles: true }));
}

/** @type {Record<string, string>} */ const TRAINING_HINTS = {
  linear: "The loss is minimised in epochs, passes over all training queries.",
  mlp: "The loss is minimised in epochs, passes over all training queries.",
  sum: "Only weights are fitted: unless they are given, they maximise the first metric on the validation data.",
};

/** @param {Schemas["ScorerDescription"]} scorer */
function showScorer({ kind, summary, parameters }) {
  setText(elementById("scorer-words"), joined([`${summary}.`, TRAINING_HINTS[kind]]));
  const first = FIRST_PARAMETERS.flatMap((name) => parameters.find((each) => each.name === name) ?? []);
  const others = parameters.filter((each) => !first.includes(each));
  replace(
    elementById("scorer-parameters"),
    [...first, ...others].map((each) => parameterField(`/scorer/${each.name}`, labelled(each))),
  );
}

/** @param {Schemas["ParameterDescription"]} parameter @returns {import("./parameter_fields.js").Parameter} */
function labelled(parameter) {
  const { name, description } = parameter;
  const words =
    name === "hidden" ? `${description} Separate several networks to try with semicolons: 64, 32; 128.` : description;
  const placeholder = name === "models" ? "web:3, web:4" : undefined;
  return { ...parameter, description: words, label: LABELS[name], placeholder };
}
