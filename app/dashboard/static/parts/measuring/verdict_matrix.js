/**
 * Every system against every other: what may be said of the row's against the column's, and the choice of a pair.
 * @module
 */
import { h, replace } from "../page/dom.js";
import { opposite, signed } from "./verdict.js";

const MARKS = { better: "▲", worse: "▼", "no evidence": "○" };

/**
 * @param {any} comparison
 * @param {(pair: any) => void} choose
 * @returns {{node: HTMLElement, show: (metric: string, pair: any) => void}}
 */
export function verdictMatrix({ systems, pairs }, choose) {
  const node = h("div", { class: "scroll", role: "region", "aria-label": "Verdicts of all pairs", tabindex: "0" });
  const pairOf = (one, other) => pairs.find(({ a, b }) => (a === one && b === other) || (a === other && b === one));
  const name = (system) => h("span", { class: "name", title: system.name }, system.name);

  function show(metric, chosen) {
    const focused = document.activeElement?.dataset.place;
    const column = (system) => h("th", { scope: "col" }, name(system));
    const row = (system, index) => h("tr", {}, h("th", { scope: "row" }, name(system)), ...systems.map((_, other) => cell(index, other, metric, chosen)));
    replace(
      node,
      h("table", { class: "matrix" }, h("thead", {}, h("tr", {}, h("td", { class: "hint" }, "row against column"), ...systems.map(column))), h("tbody", {}, ...systems.map(row))),
    );
    if (focused) node.querySelector(`[data-place="${focused}"]`)?.focus();
  }

  function cell(row, column, metric, chosen) {
    if (row === column) return h("td", { class: "same", "aria-hidden": "true" });
    const pair = pairOf(row, column);
    const found = pair.metrics[metric];
    const turned = pair.b !== row;
    const verdict = found && (turned ? opposite(found.verdict) : found.verdict);
    const difference = found && (turned ? -found.difference : found.difference);
    const label = `${systems[row].name} against ${systems[column].name}: ${verdict || "not defined"}, ${signed(difference)}`;
    const attributes = { type: "button", "data-verdict": verdict || "none", "data-place": `${row}-${column}`, "aria-pressed": String(pair === chosen), "aria-label": label, title: label };
    return h("td", {}, h("button", { ...attributes, click: () => choose(pair) }, h("span", { "aria-hidden": "true" }, MARKS[verdict] || "–"), ` ${signed(difference)}`));
  }

  return { node, show };
}
