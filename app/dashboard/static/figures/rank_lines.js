/** Values by rank or by count as dots with intervals and as lines, in a figure with a caption. @module */
import { h } from "../page/dom.js";
import { count } from "../page/format.js";
import { figureView } from "./figure.js";
import { lineStyle } from "./legend.js";
import { extent, linearScale } from "./scales.js";

/** @typedef {{x: number, y: number | null, lower?: number | null, upper?: number | null}} Point */
/** @typedef {{name: string, points: Point[], kind?: "dots" | "line" | "reference"}} Line kind: a reference is dashed */

const HEIGHT = 250;
const MAX_NAMED_TICKS = 12;
/** Distance between the dots of several lines at one rank, as a share of the width. */
const DOT_DISTANCE = 0.009;

/**
 * Return a figure of lines on one scale, with a legend if there are several lines.
 * @param {Line[]} lines those with dots come first
 * @param {object} words @param {string} words.caption
 * @param {string} words.axis name of the horizontal axis
 * @param {string} words.summary text alternative
 * @param {number[]} [words.include] values that the vertical axis must include
 * @param {(value: number) => string} [words.format] formats a value; the default is the format of the axis
 */
export function rankLines(lines, { caption, axis, summary, include = [], format }) {
  const points = lines.flatMap((line) => line.points);
  const scale = linearScale([...points.flatMap(({ y, lower, upper }) => [y, lower, upper]), ...include]);
  const margin = 0.04 * (scale.high - scale.low);
  const [first, last] = extent(points.map(({ x }) => x)) ?? [0, 0];
  const dotted = lines.filter(({ kind = "dots" }) => kind === "dots").length;
  const read = format ?? scale.format;
  const figure = figureView();

  /** @param {Line} line @param {number} index @returns {Series[]} */
  function seriesOf({ name, points, kind = "dots" }, index) {
    const line = { name, ...lineStyle(index), x: points.map(({ x }) => x), y: points.map(({ y }) => y) };
    if (kind === "line") return [line];
    if (kind === "reference") return [{ ...line, colour: "muted", dash: "4 4" }];
    const shift = (index - (dotted - 1) / 2) * DOT_DISTANCE * (last - first);
    const shifted = { ...line, x: line.x.map((x) => x + shift) };
    const words = points.map(({ x, lower, upper }) => {
      const interval = lower != null && upper != null ? `, ${read(lower)} to ${read(upper)}` : "";
      return `${axis} ${count(x)}${interval}`;
    });
    const [low, high] = [points.map(({ lower }) => lower ?? null), points.map(({ upper }) => upper ?? null)];
    return [
      { ...shifted, opacity: 0.55, width: 1.75, quiet: true, unnamed: true },
      { ...shifted, kind: "points", dash: null, low, high, words },
    ];
  }

  figure.draw({
    summary,
    height: HEIGHT,
    x: { title: axis, whole: true, ticks: namedTicks(first, last) },
    y: { range: [scale.low - margin, scale.high + margin], format, read },
    reading: dotted ? "nearest" : "all",
    series: lines.flatMap(seriesOf),
  });
  return h("figure.rank-lines", h("figcaption", caption), figure.node);
}

/**
 * Return a tick for each whole number of a range; undefined for more numbers than can be named, such as users.
 * @param {number} first @param {number} last @returns {[number, string][] | undefined}
 */
export function namedTicks(first, last) {
  if (last - first >= MAX_NAMED_TICKS) return undefined;
  return Array.from({ length: last - first + 1 }, (_, index) => [first + index, count(first + index)]);
}

/** @param {number[]} values @param {number[] | null} [lower] interval ends @param {number[] | null} [upper] */
export const byRank = (values, lower, upper) =>
  values.map((y, index) => ({ x: index + 1, y, lower: lower?.[index], upper: upper?.[index] }));
