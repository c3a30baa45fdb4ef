/**
 * The fields of the options that an export format takes.
 * @module
 */
import { h } from "../page/dom.js";

const text = (pointer, placeholder) => h("input", { type: "text", autocomplete: "off", spellcheck: "false", "data-pointer": pointer, placeholder });

/** What to tick is sent as true, and left out otherwise. */
function tick(name, words, hint) {
  const box = h("select", { "data-pointer": `/${name}`, "data-type": "boolean" }, h("option", { value: "" }, "no (default)"), h("option", { value: "true" }, "yes"));
  return h("label", { class: "field" }, words, box, h("small", { class: "below" }, hint));
}

const FIELDS = {
  target_version: () => h("label", { class: "field" }, "Engine's version", text("/target_version", "the newest"), h("small", { class: "below" }, "What missing values do depends on it.")),
  model_name: () => h("label", { class: "field" }, "Name in the engine", text("/model_name", "the model's own")),
  feature_set: () => h("label", { class: "field" }, "Feature set or store", text("/feature_set", "rankery")),
  score_shift: () => tick("score_shift", "Raise scores above 0", "All by one number, as Lucene demands; the order stays."),
  never_missing: () => tick("never_missing", "Nothing is ever missing", "Every document has every feature, so that it does not matter where missing values go."),
};

/** @param {string[]} options those that the format takes @param {string[]} features of the model @returns {Node[]} */
export function optionFields(options, features) {
  const fields = options.filter((name) => FIELDS[name]).map((name) => FIELDS[name]());
  return options.includes("feature_names") ? [...fields, names(features)] : fields;
}

function names(features) {
  const control = h("textarea", { class: "code", rows: 4, spellcheck: "false", "data-pointer": "/feature_names", "data-type": "lines", placeholder: `${features[0]} = bm25(title)` });
  return h("label", { class: "field wide" }, "What the engine calls features ", h("small", {}, `one a line, “${features[0]} = its name there”; others keep theirs`), control);
}
