/**
 * Counts as a small table of bars, which reads the same without seeing them.
 * @module
 */
import { h, svg } from "../page/dom.js";
import { count } from "../page/format.js";

/**
 * @param {string} caption
 * @param {[Node | string, number][]} entries what is counted, and how often
 * @param {(number: number) => string} [words] of a number
 */
export function bars(caption, entries, words = count) {
  const largest = Math.max(0, ...entries.map(([, number]) => number)) || 1;
  return h(
    "table",
    { class: "bars" },
    h("caption", {}, caption),
    h("tbody", {}, ...entries.map(([name, number]) => row(name, words(number), number / largest))),
  );
}

function row(name, words, share) {
  return h("tr", {}, h("th", { scope: "row" }, name), h("td", { class: "bar-cell" }, bar(share)), h("td", { class: "number" }, words));
}

/** @param {number} share of the full width, 0 to 1 */
export function bar(share) {
  return svg(
    "svg",
    { class: "bar-line", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { x: 0, y: 0, width: share > 0 ? Math.max(0.5, 100 * Math.min(share, 1)) : 0, height: 6, rx: 1 }),
  );
}
