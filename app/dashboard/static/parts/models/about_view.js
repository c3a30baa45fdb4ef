/**
 * What is said of a model, how it was trained, and what it was made of.
 * @module
 */
import { h } from "../page/dom.js";
import { short } from "../page/format.js";
import { lineagePanel } from "./lineage_panel.js";
import { saidPanel } from "./said_panel.js";

/** @param {any} model @returns {Promise<Node[]>} */
export async function aboutView(model) {
  return [saidPanel(model), settings(model), lineagePanel(model)].filter(Boolean);
}

function settings({ loss, hyperparameters }) {
  if (!loss) return null;
  const fact = ([name, value]) => value !== null && h("div", {}, h("dt", {}, name.replaceAll("_", " ")), h("dd", {}, short(value)));
  const facts = (values) => h("dl", { class: "facts" }, ...Object.entries(values || {}).map(fact));
  return h("section", { class: "panel" }, h("h2", {}, `Loss: ${loss.name}`), facts(loss), h("details", { class: "more" }, h("summary", {}, "Hyperparameters"), facts(hyperparameters)));
}
