/** Values by rank or by count as dots, lines and intervals, drawn as SVG with positions in per cent. @module */
import { h, svg } from "../page/dom.js";
import { count } from "../page/format.js";
import { linearScale } from "./scales.js";

/** @typedef {import("./scales.js").Scale} Scale */
/** @typedef {{x: number, y: number | null, lower?: number | null, upper?: number | null}} Point */
/** @typedef {{name: string, points: Point[], kind?: "dots" | "line" | "reference"}} Line kind: a reference is dashed */

const MAX_NAMED_TICKS = 12;
/** Distance between the dots of several lines at one rank, in per cent of the width. */
const DOT_DISTANCE = 0.9;

/**
 * Return a figure of lines on one scale, with a legend if there are several lines.
 *
 * @param {Line[]} lines
 * @param {object} words
 * @param {string} words.caption
 * @param {string} words.axis name of the horizontal axis
 * @param {string} words.summary text alternative
 * @param {number[]} [words.include] values that the vertical axis must include
 * @param {(value: number) => string} [words.format] formats a value; the default is the format of the axis
 */
export function rankLines(lines, { caption, axis, summary, include = [], format }) {
  const points = lines.flatMap((line) => line.points);
  const y = linearScale([...points.flatMap((point) => [point.y, point.lower, point.upper]), ...include]);
  const x = horizontal(points.map((point) => point.x));
  const words = format ?? y.format;
  const dotted = lines.filter(({ kind = "dots" }) => kind === "dots").length;
  const ticks = y.ticks.map((tick) => svg("line.tick", { x1: 0, x2: "100%", ...height(y, tick) }));
  return h(
    "figure.rank-lines",
    h("figcaption", caption),
    lines.length > 1 && legend(lines),
    h(
      "div.rank-lines-plot",
      svg(
        "svg.rank-lines-values",
        { "aria-hidden": "true" },
        ...y.ticks.map((tick) =>
          svg("text", { x: "100%", y: at(1 - y.share(tick)), "text-anchor": "end" }, words(tick)),
        ),
      ),
      svg(
        "svg.rank-lines-area",
        { role: "img", "aria-label": summary },
        ...ticks,
        ...lines.map((line, index) => drawLine(line, index, dotted, x, y, words)),
      ),
      svg(
        "svg.rank-lines-places",
        { "aria-hidden": "true" },
        ...x.ticks.map((tick) => svg("text", { x: at(x.share(tick)), y: "1em", "text-anchor": "middle" }, count(tick))),
      ),
    ),
    h("p.histogram-axis", { "aria-hidden": "true" }, axis),
  );
}

/** Return the horizontal scale: a tick for each whole number if they are few, else round ticks. @param {number[]} values */
function horizontal(values) {
  const [first, last] = [Math.min(...values), Math.max(...values)];
  if (last - first < MAX_NAMED_TICKS) {
    const ticks = Array.from({ length: last - first + 1 }, (_, index) => first + index);
    return { ticks, share: (/** @type {number} */ value) => (value - first + 0.5) / (last - first + 1) };
  }
  const scale = linearScale([0, last], 5);
  return { ticks: scale.ticks.slice(1, -1), share: scale.share };
}

/** @param {number} share */
function at(share) {
  return `${(100 * share).toFixed(3)}%`;
}

/** @param {Scale} scale @param {number} value */
function height(scale, value) {
  const place = at(1 - scale.share(value));
  return { y1: place, y2: place };
}

/**
 * @param {Line} line
 * @param {number} index
 * @param {number} dotted number of lines with dots, which come first
 * @param {{share: (value: number) => number}} x
 * @param {Scale} y
 * @param {(value: number) => string} words
 */
function drawLine({ name, points, kind = "dots" }, index, dotted, x, y, words) {
  const shift = kind === "dots" ? (index - (dotted - 1) / 2) * (DOT_DISTANCE / 100) : 0;
  const known = points.flatMap((point) => (typeof point.y === "number" ? [{ ...point, y: point.y }] : []));
  /** @param {number} value */
  const place = (value) => at(x.share(value) + shift);
  const steps = known.slice(1).map((point, before) =>
    svg("line.step", {
      x1: place(known[before].x),
      x2: place(point.x),
      y1: at(1 - y.share(known[before].y)),
      y2: at(1 - y.share(point.y)),
    }),
  );
  const dots = known.map((point) => {
    const hasInterval = typeof point.lower === "number" && typeof point.upper === "number";
    const interval = hasInterval ? ` (${words(point.lower ?? 0)} to ${words(point.upper ?? 0)})` : "";
    return svg(
      "g",
      svg("title", `${name} at ${count(point.x)}: ${words(point.y)}${interval}`),
      hasInterval &&
        svg("line.range", {
          x1: place(point.x),
          x2: place(point.x),
          y1: at(1 - y.share(point.lower ?? 0)),
          y2: at(1 - y.share(point.upper ?? 0)),
        }),
      svg("line.dot", { x1: place(point.x), x2: place(point.x), ...height(y, point.y) }),
    );
  });
  return svg("g", { class: kind, "data-colour": colour(kind, index) }, ...steps, ...(kind === "dots" ? dots : []));
}

/** @param {Line["kind"]} kind @param {number} index */
function colour(kind, index) {
  return kind === "reference" ? "muted" : `hue-${(index % 10) + 1}`;
}

/** @param {Line[]} lines */
function legend(lines) {
  /** @param {Line} line @param {number} index */
  const entry = ({ name, kind }, index) =>
    h(
      "li",
      svg(
        "svg",
        { class: `swatch ${kind ?? ""}`, "data-colour": colour(kind, index), "aria-hidden": "true" },
        svg("line", { x1: 0, x2: "100%", y1: "50%", y2: "50%" }),
      ),
      name,
    );
  return h("ul.line-chips", ...lines.map(entry));
}
