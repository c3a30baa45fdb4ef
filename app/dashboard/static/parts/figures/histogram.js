/**
 * A distribution as columns, with the number on hover and the whole in words for those who cannot see it.
 * @module
 */
import { h, svg } from "../page/dom.js";
import { count } from "../page/format.js";

const HEIGHT = 100;
const GAP = 0.12;
const MOST_TICKS = 6;

/**
 * @param {{label: string, count: number, title: string}[]} columns in the order of the axis; label stands below
 * @param {{caption: string, axis: string, summary: string}} words
 */
export function histogram(columns, { caption, axis, summary }) {
  const largest = Math.max(1, ...columns.map((each) => each.count));
  const chart = svg(
    "svg",
    { class: "histogram-columns", viewBox: `0 0 ${columns.length} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": summary },
    ...columns.map((each, index) => column(each, index, largest)),
  );
  return h(
    "figure",
    { class: "histogram" },
    h("figcaption", {}, caption),
    h("div", { class: "histogram-scale", "aria-hidden": "true" }, h("span", {}, `up to ${count(largest)}`)),
    chart,
    ticks(columns),
    h("p", { class: "histogram-axis", "aria-hidden": "true" }, axis),
  );
}

/** The full height answers the pointer, so that a column of one query can be asked too. */
function column({ count: number, title }, index, largest) {
  const height = number ? Math.max(1, (HEIGHT * number) / largest) : 0;
  return svg(
    "g",
    {},
    svg("title", {}, title),
    svg("rect", { class: "back", x: index, y: 0, width: 1, height: HEIGHT }),
    svg("rect", { class: "column", x: index + GAP / 2, y: HEIGHT - height, width: 1 - GAP, height }),
  );
}

/** Labels below their columns, as many as have room; the others' places stay empty. */
function ticks(columns) {
  const step = Math.ceil(columns.length / MOST_TICKS);
  return h("div", { class: "histogram-ticks", "aria-hidden": "true" }, ...columns.map(({ label }, index) => h("span", {}, index % step === 0 && label)));
}
