/**
 * Fields for what is trained: trees, a linear scorer or a network, with the hyperparameters of the chosen one.
 * @module
 */
import { parameterField } from "./parameter_fields.js";
import { elementById, find, findAll, h, replace, setText } from "../page/dom.js";

/** @typedef {Schemas["ScorerDescription"]} Scorer */
/** @typedef {Schemas["ParameterDescription"]} Parameter */

export const TREES = "trees";
/** Kinds that the form offers, by what people call them. @type {Record<string, string>} */
const NAMES = { trees: "trees", linear: "a linear scorer", mlp: "a network" };
/** @type {Record<string, string>} */
const LABELS = {
  hidden: "Units of the hidden layers",
  epochs: "Epochs at most",
  batch_documents: "Documents per batch",
  learning_rate: "Learning rate",
  inputs: "Scaling of features",
  layer_norm: "Layer norm",
  decay_on_rise: "Decay on a rise",
  restart_epochs: "Restart after",
  training_cost: "Cost of the schedule",
  gradient_clip: "Bound of the gradient",
  log1p: "Logarithms first",
  missing_indicators: "Indicators of missing values",
};
const IN_SIGHT = ["hidden", "activation", "dropout", "epochs", "learning_rate", "batch_documents", "inputs"];
/** Parts of a training that only trees have. */
const OF_TREES = ["/init_model", "/categorical_feature"];

/**
 * Fill the form's part for the scorer, and keep the rest of the form to the choice.
 *
 * @param {HTMLFormElement} form
 * @param {Scorer[]} scorers
 */
export function offerScorers(form, scorers) {
  const offered = scorers.filter(({ kind }) => kind in NAMES);
  const choices = elementById("scorers");
  replace(choices, ...offered.map(({ kind }) => choice(kind)));
  const show = () => {
    const kind = chosenScorer(form);
    const scorer = offered.find((each) => each.kind === kind);
    if (scorer) showScorer(form, scorer);
  };
  choices.addEventListener("change", show);
  show();
}

/** Choose a kind of scorer; one that the form does not offer leaves the choice. @param {HTMLFormElement} form @param {string} kind */
export function chooseScorer(form, kind) {
  const box = form.querySelector(`[name="scorer"][value="${CSS.escape(kind)}"]`);
  if (!(box instanceof HTMLInputElement)) return;
  box.checked = true;
  box.dispatchEvent(new Event("change", { bubbles: true }));
}

/** Return the kind of scorer that the form is set to. @param {HTMLFormElement} form */
function chosenScorer(form) {
  return String(new FormData(form).get("scorer") ?? TREES);
}

/** @param {string} kind */
function choice(kind) {
  return h(
    "label",
    {},
    h("input", { type: "radio", name: "scorer", value: kind, checked: kind === TREES }),
    ` ${NAMES[kind]}`,
  );
}

/** @param {HTMLFormElement} form @param {Scorer} scorer */
function showScorer(form, { kind, summary, is_network: isNetwork, parameters }) {
  setText(elementById("scorer-words"), isNetwork ? `${summary}. ${NETWORK_WORDS}` : `${summary}.`);
  const inSight = IN_SIGHT.map((name) => parameters.find((each) => each.name === name)).filter((each) => !!each);
  const folded = parameters.filter((each) => !inSight.includes(each));
  /** @param {Parameter} parameter */
  const field = (parameter) => parameterField(`/scorer/${parameter.name}`, labelled(parameter));
  replace(
    elementById("scorer-parameters"),
    isNetwork && h("input", { type: "hidden", "data-pointer": "/scorer/kind", value: kind }),
    ...inSight.map(field),
  );
  replace(elementById("scorer-options"), ...folded.map(field));
  elementById("scorer-more").hidden = folded.length === 0;
  showTrees(form, !isNetwork);
}

const NETWORK_WORDS = "The loss above trains it by epochs, passes over all training queries.";

/** @param {Parameter} parameter @returns {import("./parameter_fields.js").Parameter} */
function labelled(parameter) {
  const { name, description } = parameter;
  const words =
    name === "hidden" ? `${description} Semicolons part several networks to try: 64, 32; 128.` : description;
  return { ...parameter, description: words, label: LABELS[name] };
}

/** Show or hide what only trees have. What is hidden is disabled, so it is not sent. @param {HTMLFormElement} form @param {boolean} on */
function showTrees(form, on) {
  const boosting = find(form, 'fieldset[data-pointer="/hyperparameters"]', HTMLFieldSetElement);
  boosting.hidden = !on;
  boosting.disabled = !on;
  for (const part of findAll(form, "fieldset[data-trees-only]", HTMLFieldSetElement)) {
    part.disabled = !on;
    find(part, "[data-trees-only-words]").hidden = on;
  }
  for (const pointer of OF_TREES)
    for (const control of findAll(form, `[data-pointer="${pointer}"]`, HTMLElement)) {
      control.toggleAttribute("disabled", !on);
      const field = control.closest(".field");
      if (field instanceof HTMLElement) field.hidden = !on;
    }
}
