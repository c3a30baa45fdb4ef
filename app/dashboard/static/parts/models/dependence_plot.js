/**
 * What Plotly draws of a partial dependence.
 * @module
 */
import { percent, short } from "../page/format.js";
import { baseAxis, baseLayout, literal } from "../figures/plotly.js";

const MISSING_WIDTH = 0.07; // of the plot's width, left of the others
const RUG_HEIGHT = 0.06; // of its height, below the others
const MOST_TICKS = 6;

/**
 * The values without the outermost hundredths, where these would take most of the axis; else undefined.
 * @param {number[]} percentiles
 */
export function middleOf(percentiles) {
  const [low, high] = [percentiles[1], percentiles.at(-2)];
  if (!(high > low) || 2 * (high - low) > percentiles.at(-1) - percentiles[0]) return undefined;
  return [low - 0.03 * (high - low), high + 0.03 * (high - low)];
}

/** The least and the largest score of any feature. @param {any[]} all */
export function scoresOf(all) {
  const responses = all.flatMap(({ points, missing }) => [...points, ...(missing ? [missing] : [])]);
  const least = Math.min(...responses.map(({ lower }) => lower));
  const largest = Math.max(...responses.map(({ upper }) => upper));
  const margin = 0.04 * (largest - least) || 0.5;
  return [least - margin, largest + margin];
}

/** A value as people know it: a category by its text. @param {{value: number, text?: string | null}} point */
export function valueOf({ value, text }) {
  return text ?? short(value);
}

/** @param {any} found @param {"values" | "ranks"} axis */
export function dependenceTraces({ feature, points, missing, percentiles }, axis, colours) {
  const x = points.map(({ value, share }) => (axis === "ranks" ? share : value));
  const words = points.map((point) => `${literal(feature)} ${literal(valueOf(point))}, ${percent(point.share, 1)} up to it`);
  const edge = (name) => ({ x, y: points.map((point) => point[name]), mode: "lines", line: { width: 0 }, hoverinfo: "skip", showlegend: false });
  const single = points.length === 1;
  return [
    edge("lower"),
    { ...edge("upper"), fill: "tonexty", fillcolor: soft(colours.accent), name: "most documents", showlegend: !single },
    { x, y: points.map(({ mean }) => mean), text: words, name: "mean", mode: single ? "markers" : "lines+markers", line: { color: colours.accent, width: 2.25 }, marker: { size: 5, color: colours.accent }, hovertemplate: "%{text}<br>%{y:.4f}<extra></extra>" },
    missing && absent(missing, colours),
    axis === "values" && rug(percentiles, colours),
  ].filter(Boolean);
}

function absent({ mean, lower, upper, share }, { best, surface }) {
  return {
    x: ["missing"],
    y: [mean],
    xaxis: "x2",
    name: `missing, ${percent(share, 1)}`,
    mode: "markers",
    marker: { color: best, size: 9, symbol: "diamond", line: { color: surface, width: 1.5 } },
    error_y: { type: "data", symmetric: false, array: [upper - mean], arrayminus: [mean - lower], color: best, thickness: 1.5, width: 4 },
    hovertemplate: "missing<br>%{y:.4f}<extra></extra>",
  };
}

/** One stroke a hundredth of the data; where values repeat, one stroke for all of them. */
function rug(percentiles, { muted }) {
  const x = [...new Set(percentiles)];
  return { x, y: x.map(() => 0), yaxis: "y2", mode: "markers", marker: { symbol: "line-ns-open", size: 10, color: muted }, hoverinfo: "skip", showlegend: false };
}

/** @param {[number, number]} scores the range of all features */
export function dependenceLayout({ feature, points, missing, percentiles }, axis, scores, colours) {
  const plain = baseAxis(colours);
  const along = axis === "ranks" ? { ...ranked(points), title: { text: `${literal(feature)}, by the share of the documents`, standoff: 8 } } : { range: middleOf(percentiles), title: { text: literal(feature), standoff: 8 } };
  return {
    ...baseLayout(colours, 340),
    uirevision: `${feature} ${axis}`,
    hovermode: "closest",
    xaxis: { ...plain, ...along, domain: [missing ? MISSING_WIDTH + 0.03 : 0, 1], anchor: "y2", showgrid: false },
    xaxis2: { ...plain, domain: [0, MISSING_WIDTH], anchor: "y2", type: "category", fixedrange: true, showgrid: false, visible: Boolean(missing) },
    yaxis: { ...plain, domain: [RUG_HEIGHT + 0.03, 1], range: scores, nticks: 6, title: { text: "score", standoff: 10 }, anchor: "free", position: 0 },
    yaxis2: { domain: [0, RUG_HEIGHT], range: [-1, 1], fixedrange: true, visible: false, anchor: "x" },
  };
}

/** Even places for uneven values, told by some of them. */
function ranked(points) {
  const step = Math.max(1, Math.ceil(points.length / MOST_TICKS));
  const told = points.filter((_, index) => index % step === 0);
  return { tickvals: told.map(({ share }) => share), ticktext: told.map((point) => literal(valueOf(point))) };
}

/** A colour of the style sheets, as #rrggbb, made transparent. */
function soft(colour) {
  return `${colour}2e`;
}
