/** The frame of a figure: the scales of its axes, its margins, and the positions of values in pixels. @module */
import { exactScale, extent, linearScale } from "./scales.js";

/** @typedef {import("./scales.js").Scale} Scale */
/** @typedef {[low: number, high: number]} Range */

/**
 * @typedef {object} Axis
 * @property {string} [title]
 * @property {Range} [range] ends of the axis; values beyond them are clipped
 * @property {boolean} [zero] whether the axis includes 0
 * @property {boolean} [whole] whether only integers have ticks
 * @property {boolean} [log]
 * @property {boolean} [reversed]
 * @property {boolean} [hidden] whether the axis has no ticks, as in figures with vertical axes inside
 * @property {[value: number, label: string][]} [ticks] explicit ticks; as many as fit are shown
 * @property {boolean} [named] whether all of `ticks` are shown, slanted if they do not fit
 * @property {string} [absent] label of the position for points without x, at the left of a horizontal axis
 * @property {(value: number) => string} [format] formats a tick
 * @property {(value: number) => string} [read] formats a value for the readout
 */

/**
 * @typedef {object} Series
 * @property {string} name
 * @property {string} [group] name in the legend, which several series can share; default: `name`
 * @property {"line" | "step" | "points" | "band" | "spans" | "strokes"} [kind] line by default; a band is between `low`
 *   and `high`, spans are bars from `x` to `end`, strokes are short lines on the horizontal axis
 * @property {string} colour `accent`, `train`, `best`, `muted`, `line`, `ink` or `hue-1` to `hue-10`
 * @property {(number | null)[]} x ascending for lines; null only if the axis has `absent`
 * @property {(number | null)[]} y
 * @property {(number | null)[]} [low] lower ends of intervals
 * @property {(number | null)[]} [high]
 * @property {(number | null)[]} [end] right ends of spans
 * @property {boolean} [dots] whether the points of a line have dots
 * @property {"circle" | "diamond" | "cross"} [symbol]
 * @property {number} [size] radius of dots and symbols in pixels
 * @property {number} [width] of the line in pixels
 * @property {string | null} [dash] as `stroke-dasharray`
 * @property {number} [opacity]
 * @property {number[]} [opacities] of each point
 * @property {boolean} [right] whether the series belongs to the right axis
 * @property {boolean} [upright] whether a dotted line goes through its points from top to bottom
 * @property {boolean} [quiet] whether the readout skips the series
 * @property {boolean} [unnamed] whether the legend omits the series
 * @property {string[]} [words] readout text of each point
 */

/**
 * @typedef {object} Figure
 * @property {string} summary text alternative
 * @property {string} [key] when the key changes, the zoom is reset and the figure is shown whole
 * @property {number} [height] in pixels
 * @property {Axis} x
 * @property {Axis} y
 * @property {Axis} [right]
 * @property {Series[]} series later ones are drawn over earlier ones
 * @property {InnerAxis[]} [innerAxes] vertical axes within the figure
 * @property {"all" | "nearest"} [reading] `all` reads all series at one x, `nearest` reads one point
 */

/** @typedef {{x: number, ticks: [value: number, label: string][]}} InnerAxis */
/** Ranges to show instead of all values, as the user selected them. @typedef {{x?: Range, y?: Range, right?: Range}} View */
/** @typedef {{at: number, label: string}} Tick at: in pixels */

export const HEIGHT = 280;
export const FONT_PIXELS = 12;
export const CHARACTER_PIXELS = 6.6;
const TITLE_PIXELS = 20;
const INSET_PIXELS = 6;
const ABSENT_PIXELS = 64;
const EDGE_PIXELS = 14;
const LABEL_GAP_PIXELS = 12;
const X_TICK_PIXELS = 66;
const Y_TICK_PIXELS = 48;
const MAX_CHARACTERS = 22;
export const SLANT_DEGREES = 32;
const SLANT_RADIANS = (SLANT_DEGREES * Math.PI) / 180;

/** @typedef {ReturnType<typeof frameWithMargin>} Frame */

/**
 * Return the frame of a figure.
 * @param {Figure} figure
 * @param {Series[]} shown series that are not hidden
 * @param {number} width in pixels
 * @param {View} view
 */
export function frameOf(figure, shown, width, view) {
  const frame = frameWithMargin(figure, shown, width, view, 0);
  const [first] = frame.slanted ? frame.ticks.x : [];
  const overhang = first ? first.label.length * CHARACTER_PIXELS * Math.cos(SLANT_RADIANS) - first.at : 0;
  return overhang > 0 ? frameWithMargin(figure, shown, width, view, overhang) : frame;
}

/** @param {Figure} figure @param {Series[]} shown @param {number} width @param {View} view @param {number} margin additional space on the left */
function frameWithMargin(figure, shown, width, view, margin) {
  const { height = HEIGHT } = figure;
  const left = shown.filter((series) => !series.right);
  const right = shown.filter((series) => series.right);
  const most = Math.max(2, Math.floor(height / Y_TICK_PIXELS));
  const y = yScale(figure.y, left, view, view.y, most);
  const secondary = figure.right && right.length ? yScale(figure.right, right, view, view.right, most - 1) : null;
  const top = figure.y.title || secondary ? TITLE_PIXELS + 6 : 10;
  const start = margin + (figure.y.hidden ? EDGE_PIXELS : longest(labels(figure.y, y)) * CHARACTER_PIXELS + 12);
  const end =
    width - (secondary ? longest(labels(figure.right ?? {}, secondary)) * CHARACTER_PIXELS + 12 : EDGE_PIXELS);
  const x = xScale(figure.x, shown, view.x, Math.max(2, Math.floor((end - start) / X_TICK_PIXELS)));
  const first = start + (figure.x.absent ? ABSENT_PIXELS : 0) + INSET_PIXELS;
  const atX = (/** @type {number | null} */ value) =>
    value === null ? start + ABSENT_PIXELS / 2 : first + x.share(value) * (end - INSET_PIXELS - first);
  const { ticks, slanted } = xTicks(figure.x, x, atX, end - first);
  const below = slanted ? longest(ticks) * CHARACTER_PIXELS * Math.sin(SLANT_RADIANS) + 14 : TITLE_PIXELS;
  const bottom = height - below - (figure.x.title ? TITLE_PIXELS : 0);
  /** @param {number} value @param {boolean} [ofRight] */
  const atY = (value, ofRight = false) => {
    const share = (ofRight && secondary ? secondary : y).share(value);
    return figure.y.reversed ? top + share * (bottom - top) : bottom - share * (bottom - top);
  };
  const area = { top, bottom, start, end, slanted };
  return {
    width,
    height,
    ...area,
    x: atX,
    y: atY,
    ticks: {
      x: figure.x.absent ? [{ at: atX(null), label: figure.x.absent }, ...ticks] : ticks,
      y: figure.y.hidden ? [] : labels(figure.y, y).map(({ value, label }) => ({ at: atY(value), label })),
      right: secondary
        ? labels(figure.right ?? {}, secondary).map(({ value, label }) => ({ at: atY(value, true), label }))
        : [],
    },
    /** Format a value of the horizontal axis. @param {number | null} value */
    formatX(value) {
      if (value === null) return figure.x.absent ?? "";
      const tick = figure.x.ticks?.find(([at]) => at === value);
      return tick ? tick[1] : (figure.x.read ?? figure.x.format ?? x.format)(value);
    },
    /** Return half of the horizontal range, centred on a position. @param {number} at in pixels @returns {View} */
    around(at) {
      const quarter = (end - first) / 4;
      const ends = [at - quarter, at + quarter].map((pixel) => clipped((pixel - first) / (end - INSET_PIXELS - first)));
      return { x: rangeOf(x, ends) };
    },
    /** Return the ranges that a rectangle selects. @param {{left: number, right: number, top: number, bottom: number}} box in pixels @returns {View} */
    within(box) {
      const across = [box.left, box.right].map((pixel) => clipped((pixel - first) / (end - INSET_PIXELS - first)));
      const upwards = [box.bottom, box.top].map((pixel) => clipped((bottom - pixel) / (bottom - top)));
      const along = figure.y.reversed ? upwards.map((share) => 1 - share).reverse() : upwards;
      if (along[1] - along[0] === 1) return { x: rangeOf(x, across) };
      return { x: rangeOf(x, across), y: rangeOf(y, along), right: secondary ? rangeOf(secondary, along) : undefined };
    },
  };
}

/** Return the positions of the points in pixels, null for a point without a value. @param {Series} series @param {Frame} frame @returns {(import("./shapes.js").Position | null)[]} */
export function positionsOf({ x, y, right }, frame) {
  return x.map((value, index) => {
    const height = y[index];
    return height === null || height === undefined ? null : [frame.x(value), frame.y(height, right)];
  });
}

/** @param {number} share */
const clipped = (share) => Math.min(1, Math.max(0, share));

/** @param {Scale} scale @param {number[]} shares @returns {Range} */
const rangeOf = (scale, [low, high]) => [scale.value(low), scale.value(high)];

/** Return the range of all horizontal values. @param {Series[]} shown @returns {Range | null} */
export const wholeRange = (shown) => extent(valuesOf(shown, ["x", "end"]));

/** @param {Series[]} shown @param {("x" | "y" | "low" | "high" | "end")[]} keys @param {Range} [within] of the horizontal axis */
function* valuesOf(shown, keys, within) {
  for (const { x, ...series } of shown) {
    for (const key of keys) {
      const values = key === "x" ? x : (series[key] ?? []);
      if (!within) yield* values;
      else yield* values.filter((_, index) => isWithin(x[index], within));
    }
  }
}

/** @param {number | null} value @param {Range} range */
const isWithin = (value, [low, high]) => value === null || (value >= low && value <= high);

/** @param {Axis} axis @param {Series[]} shown @param {Range | undefined} selected @param {number} most */
function xScale(axis, shown, selected, most) {
  const range = selected ?? axis.range ?? wholeRange(shown) ?? [0, 1];
  const low = axis.zero && !selected && !axis.range ? Math.min(0, range[0]) : range[0];
  return exactScale(low, range[1], { most, whole: axis.whole, log: axis.log });
}

/**
 * Return a vertical scale: with the ends of a selected or declared range, else with round ends around the visible values.
 * @param {Axis} axis @param {Series[]} shown @param {View} view @param {Range | undefined} selected
 * @param {number} most
 */
function yScale(axis, shown, view, selected, most) {
  const range = selected ?? axis.range;
  if (range) return exactScale(...range, { most, whole: axis.whole });
  const drawn = shown.filter(({ kind }) => kind !== "strokes");
  const values = valuesOf(drawn, ["y", "low", "high"], view.x);
  return linearScale(axis.zero ? [0, ...values] : values, most);
}

/** @param {Axis} axis @param {Scale} scale */
function labels({ ticks, format }, scale) {
  if (!ticks) return scale.ticks.map((value) => ({ value, label: (format ?? scale.format)(value) }));
  const [low, high] = [scale.low - 1e-9, scale.high + 1e-9];
  return ticks.filter(([value]) => value >= low && value <= high).map(([value, label]) => ({ value, label }));
}

/** @param {{label: string}[]} ticks */
const longest = (ticks) => Math.max(0, ...ticks.map(({ label }) => label.length));

/** @param {Axis} axis @param {Scale} scale @param {(value: number) => number} at @param {number} length */
function xTicks(axis, scale, at, length) {
  const ticks = labels(axis, scale).map(({ value, label }) => ({ at: at(value), label: shortened(label) }));
  const slanted = Boolean(axis.named) && longest(ticks) * CHARACTER_PIXELS > length / Math.max(1, ticks.length) - 8;
  return { ticks: axis.named ? ticks : nonOverlapping(ticks), slanted };
}

/** Return the ticks whose labels do not overlap the label of an earlier tick. @param {Tick[]} ticks */
function nonOverlapping(ticks) {
  /** @type {Tick[]} */ const separated = [];
  let free = -Infinity;
  for (const tick of ticks) {
    const half = (tick.label.length * CHARACTER_PIXELS) / 2;
    if (tick.at - half < free) continue;
    separated.push(tick);
    free = tick.at + half + LABEL_GAP_PIXELS;
  }
  return separated;
}

/** @param {string} label */
export const shortened = (label, most = MAX_CHARACTERS) =>
  label.length > most ? `${label.slice(0, most - 1)}…` : label;
