/** Means with their intervals, one row per system or segment, all on one linear scale. @module */
import { h, svg } from "../page/dom.js";
import { columnHead, numberHeads, rowHead } from "../page/parts.js";
import { count, metric } from "../page/format.js";
import { linearScale } from "./scales.js";

/** @typedef {import("./scales.js").Scale} Scale */

/**
 * @typedef {object} Row
 * @property {Node | string} name
 * @property {string} [detail] text below the name
 * @property {boolean} [main] whether to highlight the row
 * @property {number} [queries]
 * @property {MeanInterval | null | undefined} interval
 */

/**
 * Return a table of means with their intervals, one row per system or segment, all on one scale: a dot and whiskers next
 * to the numbers.
 * @param {string} caption @param {{name?: string, rows: Row[]}[]} groups
 * @param {{reference?: number | null, counted?: boolean}} [options]
 *   reference: a value to compare with, drawn as a line; counted: whether to show the number of queries
 */
export function whiskers(caption, groups, { reference = null, counted = false } = {}) {
  const intervals = groups
    .flatMap(({ rows }) => rows.map(({ interval }) => interval))
    .filter((interval) => interval != null);
  const scale = linearScale([...intervals.flatMap(({ mean, lower, upper }) => [mean, lower, upper]), reference]);
  return h("table.whiskers", [
    h("caption.visually-hidden", caption),
    heading(counted),
    ...groups.map((group) => body(group, scale, reference, counted)),
    axis(scale, counted),
  ]);
}

/** @param {boolean} counted */
function heading(counted) {
  return h("thead", { class: !counted && "visually-hidden" }, [
    h("tr", [
      h("td"),
      h("td"),
      counted && columnHead("queries", { class: "number queries" }),
      numberHeads("mean, 95% interval"),
    ]),
  ]);
}

/**
 * @param {{name?: string, rows: Row[]}} group @param {Scale} scale @param {number | null} reference
 * @param {boolean} counted
 */
function body({ name, rows }, scale, reference, counted) {
  const title = name && h("tr.group", h("th", { scope: "rowgroup", colspan: counted ? 4 : 3 }, name));
  return h("tbody", title, ...rows.map((each) => row(each, scale, reference, counted)));
}

/** @param {Row} row @param {Scale} scale @param {number | null} reference @param {boolean} counted */
function row({ name, detail, main, queries, interval }, scale, reference, counted) {
  return h("tr", { class: main && "main" }, [
    rowHead(h("span.name", name), detail && h("small", detail)),
    h("td.whisker-cell", whisker(interval, scale, [reference])),
    counted && h("td.number.queries", count(queries)),
    h("td.number", [
      h("strong", metric(interval?.mean)),
      " ",
      h("small", interval && (intervalLabel(interval) || "no interval")),
    ]),
  ]);
}

/** Return "0.8123 – 0.8422", or "" without an interval. @param {MeanInterval | null | undefined} interval */
export function intervalLabel(interval) {
  return interval?.lower != null && interval.upper != null
    ? `${metric(interval.lower)} – ${metric(interval.upper)}`
    : "";
}

/**
 * Draw one row. Positions are in per cent of the width, so that the dot stays round at any width.
 * @param {MeanInterval | null | undefined} interval @param {Scale} scale
 * @param {(number | null)[]} references values to compare with, drawn as lines
 */
export function whisker(interval, scale, references) {
  const at = (/** @type {number} */ value) => `${(100 * scale.share(value)).toFixed(3)}%`;
  /** @param {number} value @param {string} kind */
  const upright = (value, kind) => svg("line", { class: kind, x1: at(value), x2: at(value), y1: 0, y2: "100%" });
  const known = references.filter((reference) => reference !== null);
  const { mean, lower, upper } = interval ?? { mean: null, lower: null, upper: null };
  return svg("svg.whisker", { "aria-hidden": "true" }, [
    ...scale.ticks.map((tick) => upright(tick, "tick")),
    ...known.map((reference) => upright(reference, "reference")),
    typeof lower === "number" &&
      typeof upper === "number" &&
      svg("line.range", { x1: at(lower), x2: at(upper), y1: "50%", y2: "50%" }),
    typeof mean === "number" && svg("circle.dot", { cx: at(mean), cy: "50%", r: 4.5 }),
  ]);
}

/** @param {Scale} scale @param {boolean} counted */
function axis(scale, counted) {
  return h("tfoot", { "aria-hidden": "true" }, [
    h("tr", h("td"), h("td.whisker-cell", whiskerAxis(scale)), counted && h("td"), h("td")),
  ]);
}

/** Return the ticks of a scale as text, below the rows that are drawn by it. @param {Scale} scale */
export function whiskerAxis(scale) {
  /** @param {number} tick @param {number} index */
  const words = (tick, index) => {
    const anchor = index === 0 ? "start" : index === scale.ticks.length - 1 ? "end" : "middle";
    return svg("text", { x: `${100 * scale.share(tick)}%`, y: "1em", "text-anchor": anchor }, scale.format(tick));
  };
  return svg("svg.whisker-axis", { "aria-hidden": "true" }, ...scale.ticks.map(words));
}
