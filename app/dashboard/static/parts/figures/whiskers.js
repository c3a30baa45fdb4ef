/**
 * Means with their intervals, one row a system or a slice, all on one scale: a dot and whiskers beside the numbers.
 * It is a table, so it reads the same without seeing it.
 * @module
 */
import { h, svg } from "../page/dom.js";
import { count, metric } from "../page/format.js";
import { linearScale } from "./scale.js";

/**
 * @typedef {object} Row
 * @property {Node | string} name
 * @property {string} [detail] said below the name
 * @property {boolean} [main] what the table is about
 * @property {number} [queries]
 * @property {{mean: number | null, lower: number | null, upper: number | null} | undefined} interval
 */

/**
 * @param {string} caption
 * @param {{name?: string, rows: Row[]}[]} groups
 * @param {{reference?: number | null, counted?: boolean}} [options]
 *   reference: a value to be told from, drawn as a line; counted: whether to tell the number of queries
 */
export function whiskers(caption, groups, { reference = null, counted = false } = {}) {
  const intervals = groups.flatMap(({ rows }) => rows.map(({ interval }) => interval)).filter(Boolean);
  const scale = linearScale([...intervals.flatMap(({ mean, lower, upper }) => [mean, lower, upper]), reference]);
  return h(
    "table",
    { class: "whiskers" },
    h("caption", { class: "visually-hidden" }, caption),
    heading(counted),
    ...groups.map((group) => body(group, scale, reference, counted)),
    axis(scale, counted),
  );
}

function heading(counted) {
  const column = (words, attributes = {}) => h("th", { scope: "col", ...attributes }, words);
  return h("thead", { class: !counted && "visually-hidden" }, h("tr", {}, h("td", {}), h("td", {}), counted && column("queries", { class: "number queries" }), column("mean, 95% interval", { class: "number" })));
}

function body({ name, rows }, scale, reference, counted) {
  const title = name && h("tr", { class: "group" }, h("th", { scope: "rowgroup", colspan: counted ? 4 : 3 }, name));
  return h("tbody", {}, title, ...rows.map((each) => row(each, scale, reference, counted)));
}

function row({ name, detail, main, queries, interval }, scale, reference, counted) {
  return h(
    "tr",
    { class: main && "main" },
    h("th", { scope: "row" }, h("span", { class: "name" }, name), detail && h("small", {}, detail)),
    h("td", { class: "whisker-cell" }, drawing(interval, scale, reference)),
    counted && h("td", { class: "number queries" }, count(queries)),
    h("td", { class: "number" }, h("strong", {}, metric(interval?.mean)), " ", h("small", {}, intervalWords(interval))),
  );
}

/** "0.8123 – 0.8422", or nothing where there is no interval. */
export function intervalWords(interval) {
  const known = typeof interval?.lower === "number" && typeof interval?.upper === "number";
  return known ? `${metric(interval.lower)} – ${metric(interval.upper)}` : "";
}

/** Places are in per cent of the width, so that the dot stays round in any. */
function drawing(interval, scale, reference) {
  const at = (value) => `${(100 * scale.share(value)).toFixed(3)}%`;
  const upright = (value, kind) => svg("line", { class: kind, x1: at(value), x2: at(value), y1: 0, y2: "100%" });
  const { mean, lower, upper } = interval || {};
  return svg(
    "svg",
    { class: "whisker", "aria-hidden": "true" },
    ...scale.ticks.map((tick) => upright(tick, "tick")),
    typeof reference === "number" && upright(reference, "reference"),
    typeof lower === "number" && typeof upper === "number" && svg("line", { class: "range", x1: at(lower), x2: at(upper), y1: "50%", y2: "50%" }),
    typeof mean === "number" && svg("circle", { class: "dot", cx: at(mean), cy: "50%", r: 4.5 }),
  );
}

function axis(scale, counted) {
  const words = (tick, index) => {
    const anchor = index === 0 ? "start" : index === scale.ticks.length - 1 ? "end" : "middle";
    return svg("text", { x: `${100 * scale.share(tick)}%`, y: "1em", "text-anchor": anchor }, scale.words(tick));
  };
  const ticks = svg("svg", { class: "whisker-axis" }, ...scale.ticks.map(words));
  return h("tfoot", { "aria-hidden": "true" }, h("tr", {}, h("td", {}), h("td", { class: "whisker-cell" }, ticks), counted && h("td", {}), h("td", {})));
}
