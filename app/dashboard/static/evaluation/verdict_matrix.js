/** Matrix of the verdicts of all pairs of compared systems. @module */
import { findAll, h, replace } from "../page/dom.js";
import { columnHead, rowHead, scrollRegion, tableHead } from "../page/parts.js";
import { opposite, signed } from "./verdict.js";

/** @type {Record<string, string>} */ const MARKS = { better: "▲", worse: "▼", "no evidence": "○" };

/**
 * Return the matrix of systems: each cell shows the verdict of its row against its column, and selects the pair.
 * @param {Schemas["Comparison"]} comparison @param {(pair: Schemas["Pair"]) => void} choose
 * @returns {{node: HTMLElement, show: (metric: string, pair: Schemas["Pair"]) => void}}
 */
export function verdictMatrix({ systems, pairs }, choose) {
  const node = scrollRegion("Verdicts of all pairs");
  /** @param {number} one @param {number} other */
  const pairOf = (one, other) => pairs.find(({ a, b }) => (a === one && b === other) || (a === other && b === one));
  /** @param {Schemas["ComparedSystem"]} system */
  const name = (system) => h("span.name", { title: system.name }, system.name);

  /** @param {string} metric @param {Schemas["Pair"]} chosen */
  function show(metric, chosen) {
    const { activeElement } = document;
    const focused = activeElement instanceof HTMLElement ? activeElement.dataset.place : undefined;
    /** @param {Schemas["ComparedSystem"]} system @param {number} index */
    const row = (system, index) =>
      h("tr", rowHead(name(system)), ...systems.map((_, other) => cell(index, other, metric, chosen)));
    replace(node, [
      h("table.matrix", [
        tableHead(h("td.hint", "row against column"), ...systems.map((system) => columnHead(name(system)))),
        h("tbody", ...systems.map(row)),
      ]),
    ]);
    if (focused) findAll(node, `[data-place="${focused}"]`, HTMLElement)[0]?.focus();
  }

  /** @param {number} row @param {number} column @param {string} metric @param {Schemas["Pair"]} chosen */
  function cell(row, column, metric, chosen) {
    if (row === column) return h("td.same", { "aria-hidden": "true" });
    const pair = pairOf(row, column);
    const outcome = pair?.metrics[metric];
    const turned = pair?.b !== row;
    const verdict = outcome && (turned ? opposite(outcome.verdict) : outcome.verdict);
    const difference = outcome && (turned && outcome.difference !== null ? -outcome.difference : outcome.difference);
    const label = `${systems[row].name} against ${systems[column].name}: ${verdict || "not defined"}, ${signed(difference)}`;
    const attributes = {
      "data-verdict": verdict || "none",
      "data-place": `${row}-${column}`,
      "aria-pressed": String(pair === chosen),
      "aria-label": label,
      title: label,
    };
    return h("td", [
      h("button", { ...attributes, click: () => pair && choose(pair) }, [
        h("span", { "aria-hidden": "true" }, MARKS[verdict ?? ""] || "–"),
        ` ${signed(difference)}`,
      ]),
    ]);
  }

  return { node, show };
}
