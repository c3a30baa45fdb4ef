/**
 * A field for one system: the newest models and runs are offered, any other is typed.
 * @module
 */
import { h, replace } from "../page/dom.js";
import { asSystem, readOffered } from "../measuring/systems.js";

/**
 * @param {HTMLInputElement} input with a list of its own
 * @param {{runs: boolean}} options runs: whether rankings from elsewhere are offered, too
 * @returns {Promise<() => {model?: string, ranking_id?: string}>} what is chosen
 */
export async function offerSystems(input, { runs }) {
  const offered = (await readOffered()).filter(({ reference, name }) => runs || reference === name);
  replace(input.list, ...offered.map(({ reference, name, detail }) => h("option", { value: reference }, reference === name ? detail : `${name}, ${detail}`)));
  if (!input.value) input.value = new URLSearchParams(location.search).get("model") ?? "";
  return () => {
    const reference = input.value.trim();
    return reference ? asSystem(reference) : {};
  };
}
