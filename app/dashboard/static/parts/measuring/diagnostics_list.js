/**
 * What the papers say of a loss at the scores of a model, each value with what it is and where it comes from.
 * @module
 */
import { get } from "../page/api.js";
import { h } from "../page/dom.js";
import { lossValue, percent } from "../page/format.js";
import { loaded } from "../page/loaded.js";

/**
 * @typedef {{name: string, title: string, summary: string, source: string, unit: string}} Diagnostic
 */

/** @returns {Promise<Diagnostic[]>} */
export async function readDiagnostics() {
  return (await get("/v1/metrics")).diagnostics || [];
}

/** Whether it is a share of queries, 0 to 1; the others are costs. @param {Diagnostic} diagnostic */
export function isShare({ unit }) {
  return unit === "share";
}

/** @param {{loss: Record<string, any>, cutoff: number, values: Record<string, number | null>}} diagnostics */
export function diagnosticsPanel({ loss, cutoff, values }) {
  const place = h("div", {});
  loaded(place, async () => [list(values, await readDiagnostics())]);
  return h("section", { class: "panel diagnostics" }, h("h2", {}, "Diagnostics"), h("p", { class: "hint" }, `Of the loss ${loss.name} at these scores, with the top ${cutoff} looked at.`), place);
}

function list(values, catalogue) {
  const known = new Map(catalogue.map((each) => [each.name, each]));
  const entry = ([name, value]) => {
    const diagnostic = known.get(name) || { title: name, summary: "", source: "" };
    return h(
      "div",
      { class: "diagnostic" },
      h("dt", {}, diagnostic.title),
      h("dd", { class: "value" }, shown(value, diagnostic)),
      h("dd", { class: "hint" }, diagnostic.summary, diagnostic.source && h("small", {}, diagnostic.source)),
    );
  };
  return h("dl", {}, ...Object.entries(values).map(entry));
}

function shown(value, diagnostic) {
  if (typeof value !== "number") return "–";
  return isShare(diagnostic) ? percent(value, 1) : lossValue(value);
}
