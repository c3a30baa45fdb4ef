/**
 * What each feature adds to a document's score, the most first, as bars of one scale to either side of nothing.
 * @module
 */
import { h, svg } from "../page/dom.js";
import { featureValue } from "../figures/feature_value.js";
import { count } from "../page/format.js";
import { signed } from "../measuring/verdict.js";

const FIRST = 8;

/** @param {{base: number, contributions: {feature: string, value: number | null, contribution: number}[]}} explanation */
export function contributions({ base, contributions: all }) {
  const [shown, rest] = [all.slice(0, FIRST), all.slice(FIRST)];
  const rows = [
    ...shown.map(({ feature, value, contribution }) => ({ name: feature, value: featureValue(value), adds: contribution })),
    rest.length > 0 && { name: `${count(rest.length)} more`, adds: rest.reduce((sum, { contribution }) => sum + contribution, 0) },
    { name: "Base score", adds: base, kind: "base" },
  ].filter(Boolean);
  const scale = Math.max(...rows.map(({ adds }) => Math.abs(adds)), Number.MIN_VALUE);
  return h(
    "table",
    { class: "contributions" },
    h("caption", {}, "What each feature adds to its score"),
    h("thead", { class: "visually-hidden" }, h("tr", {}, ...["Feature", "Value", "Drawn", "Adds"].map((words) => h("th", { scope: "col" }, words)))),
    h("tbody", {}, ...rows.map((each) => row(each, scale))),
  );
}

function row({ name, value = "", adds, kind }, scale) {
  return h(
    "tr",
    { class: kind },
    h("th", { scope: "row" }, h("span", { class: "name", title: name }, name)),
    h("td", { class: "number" }, value),
    h("td", { class: "bar-cell" }, balance(adds / scale)),
    h("td", { class: "number" }, signed(adds)),
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
