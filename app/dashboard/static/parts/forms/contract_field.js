/**
 * The choice of a metric contract among the presets, with what the chosen one means.
 * @module
 */
import { contractWords, PRESET_WORDS } from "./contract_labels.js";
import { h, replace, setText } from "../page/dom.js";

/**
 * @param {HTMLSelectElement} select
 * @param {HTMLElement} words what the choice means is said here
 * @param {Record<string, Record<string, any>>} presets by name
 */
export function offerContracts(select, words, presets) {
  const label = (name) => (PRESET_WORDS[name] ? `${name}: ${PRESET_WORDS[name]}` : name);
  replace(select, ...Object.keys(presets).map((name) => h("option", { value: name === "default" ? "" : name }, label(name))));
  const show = () => setText(words, contractWords(presets[select.value || "default"]));
  select.addEventListener("change", show);
  show();
}
