/**
 * What each feature adds to a document's score, the most first, as bars to either side of nothing.
 * @module
 */
import { h, svg } from "../page/dom.js";
import { featureValue } from "../figures/feature_value.js";
import { count } from "../page/format.js";
import { signed } from "../measuring/verdict.js";

const FIRST = 8;

/** @param {{base: number, contributions: {feature: string, value: number | null, contribution: number}[]}} explanation */
export function contributions({ base, contributions: all }) {
  const most = Math.max(...all.map(({ contribution }) => Math.abs(contribution)), Number.MIN_VALUE);
  const [shown, rest] = [all.slice(0, FIRST), all.slice(FIRST)];
  const folded = rest.reduce((sum, { contribution }) => sum + contribution, 0);
  return h(
    "table",
    { class: "contributions" },
    h("caption", {}, "What each feature adds to its score"),
    h("thead", { class: "visually-hidden" }, h("tr", {}, ...["Feature", "Value", "Drawn", "Adds"].map((words) => h("th", { scope: "col" }, words)))),
    h(
      "tbody",
      {},
      ...shown.map(({ feature, value, contribution }) => row(feature, featureValue(value), contribution, most)),
      rest.length > 0 && row(`${count(rest.length)} more`, "", folded, Math.max(most, Math.abs(folded))),
      row("before anything is known", "", base, Math.max(most, Math.abs(base)), "base"),
    ),
  );
}

function row(name, value, contribution, most, kind) {
  return h(
    "tr",
    { class: kind },
    h("th", { scope: "row" }, h("span", { class: "name", title: name }, name)),
    h("td", { class: "number" }, value),
    h("td", { class: "bar-cell" }, balance(contribution / most)),
    h("td", { class: "number" }, signed(contribution)),
  );
}

/** A bar to the left of the middle, or to the right of it. @param {number} share −1 to 1 */
export function balance(share) {
  const width = 50 * Math.min(1, Math.abs(share));
  return svg(
    "svg",
    { class: "balance", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: share < 0 ? "lowers" : "raises", x: share < 0 ? 50 - width : 50, y: 1, width, height: 6 }),
    svg("line", { x1: 50, x2: 50, y1: 0, y2: 8 }),
  );
}
