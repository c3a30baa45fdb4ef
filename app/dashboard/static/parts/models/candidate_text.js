/**
 * Candidate documents as the JSON that asks for their ranking, to be pasted and edited.
 * @module
 */
import { Problem } from "../page/api.js";
import { h } from "../page/dom.js";

/**
 * @param {{feature_names: string[]}} model
 * @param {(candidates: import("./scored.js").Candidate[]) => void} take called with the documents of a changed text
 */
export function candidateText({ feature_names: names }, take) {
  const area = h("textarea", { class: "code", rows: 10, spellcheck: "false", "data-pointer": "/queries", "aria-label": "Documents as JSON" });
  const node = h("details", { class: "more" }, h("summary", {}, "As JSON"), h("p", { class: "hint" }, "What is sent. Paste documents of your own, as an object by feature name or an array in the model's order, and rank."), h("div", { class: "field" }, area));
  let shown = "";

  function show({ queries }) {
    shown = JSON.stringify({ queries }, null, 1);
    area.value = shown;
  }

  /** Takes over what was typed since. */
  function apply() {
    if (area.value === shown || !area.value.trim()) return;
    take(candidatesOf(area.value, names));
  }
  return { node, show, apply };
}

function candidatesOf(text, names) {
  let documents;
  try {
    documents = JSON.parse(text).queries[0].documents;
    return documents.map(({ id, features }) => ({ id: String(id), label: null, features: Array.isArray(features) ? byName(features, names) : { ...features } }));
  } catch {
    throw new Problem(422, { title: "Not sent", errors: [{ pointer: "/queries", detail: 'must be JSON such as {"queries": [{"id": "q1", "documents": [{"id": "d1", "features": {}}]}]}' }] });
  }
}

function byName(values, names) {
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? null]));
}
