/** A figure as SVG: its axes and the marks of its series. @module */
import { svg } from "../page/dom.js";
import { CHARACTER_PIXELS, FONT_PIXELS, positionsOf, shortened, SLANT_DEGREES } from "./frame.js";
import { groupOf } from "./legend.js";
import { bandPath, isolated, linePath, symbolPath, thinned } from "./shapes.js";

/** @typedef {import("./frame.js").Frame} Frame */
/** @typedef {import("./frame.js").InnerAxis} InnerAxis */
/** @typedef {import("./shapes.js").Position} Position */

const STROKE_PIXELS = 10;
const CAP_PIXELS = 4;
const DOT_PIXELS = 2.5;
const SYMBOL_PIXELS = 4;
const EDGE_PIXELS = SYMBOL_PIXELS + 2;
/** Height of a span's bar, as a share of the distance between two rows. */
const BAR_SHARE = 0.75;

/** @param {Figure} figure @param {Series[]} shown @param {Frame} frame */
export function drawing(figure, shown, frame) {
  const { width, height, start, end, top, bottom } = frame;
  // The nested SVG element clips marks beyond its edges, but not those at its edges.
  const [x, y] = [start - EDGE_PIXELS, top - EDGE_PIXELS];
  const size = { width: end - start + 2 * EDGE_PIXELS, height: bottom - top + 2 * EDGE_PIXELS };
  const area = svg(
    "svg.area",
    { x, y, ...size, viewBox: `${x} ${y} ${size.width} ${size.height}` },
    shown.map((series) => mark(series, frame)),
  );
  return svg("svg.drawing", { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" }, [
    ...axes(figure, frame),
    area,
    ...(figure.innerAxes ?? []).flatMap((axis) => innerTicks(axis, frame)),
  ]);
}

/** Return the tick labels to the right of a vertical axis within the figure. @param {InnerAxis} axis @param {Frame} frame */
function innerTicks({ x, ticks }, frame) {
  const most = Math.floor((frame.x(1) - frame.x(0) - 10) / CHARACTER_PIXELS);
  return ticks.map(([value, label]) =>
    svg("text.inside", { x: frame.x(x) + 5, y: frame.y(value), dy: "0.35em" }, shortened(label, most)),
  );
}

/** @param {Figure} figure @param {Frame} frame */
function axes({ x, y, right, innerAxes = [] }, { start, end, top, bottom, slanted, ticks, x: at, height }) {
  /** @param {string} kind @param {{x1: number, x2: number, y1: number, y2: number}} ends */
  const line = (kind, ends) => svg("line", { class: kind, ...ends });
  /** @param {string} words @param {Attributes} attributes */
  const text = (words, attributes) => svg("text", attributes, words);
  return [
    ...ticks.y.map((tick) => line("grid", { x1: start, x2: end, y1: tick.at, y2: tick.at })),
    !innerAxes.length && line("axis", { x1: start, x2: end, y1: bottom, y2: bottom }),
    ...innerAxes.map((each) => line("axis", { x1: at(each.x), x2: at(each.x), y1: top, y2: bottom })),
    ...(innerAxes.length ? [] : ticks.x).map((tick) =>
      line("axis", { x1: tick.at, x2: tick.at, y1: bottom, y2: bottom + 4 }),
    ),
    ...ticks.y.map(({ at: position, label }) =>
      text(label, { x: start - 7, y: position, dy: "0.35em", "text-anchor": "end" }),
    ),
    ...ticks.right.map(({ at: position, label }) => text(label, { x: end + 7, y: position, dy: "0.35em" })),
    ...ticks.x.map(({ at: position, label }) =>
      slanted
        ? text(label, {
            "text-anchor": "end",
            transform: `translate(${position + 4} ${bottom + 14}) rotate(-${SLANT_DEGREES})`,
          })
        : text(label, { x: position, y: bottom + 17, "text-anchor": "middle" }),
    ),
    y.title && text(y.title, { class: "title y-title", x: 0, y: FONT_PIXELS - 2 }),
    right?.title &&
      ticks.right.length > 0 &&
      text(right.title, { class: "title", x: end + 7, y: FONT_PIXELS - 2, "text-anchor": "end" }),
    x.title && text(x.title, { class: "title x-title", x: (start + end) / 2, y: height - 5, "text-anchor": "middle" }),
  ].filter((node) => node instanceof Node);
}

/** @param {Series} series @param {Frame} frame */
function mark(series, frame) {
  const { kind = "line", colour, width = 2, dash, opacity, opacities, symbol = "circle", upright } = series;
  const positions = positionsOf(series, frame);
  const definedPositions = positions.filter((position) => position !== null);
  /** @type {Record<string, () => (Node | false)[]>} */
  const marks = {
    line: () => lines(series, positions),
    step: () => [svg("path.line", { d: linePath(positions, true), "stroke-width": width })],
    points: () => [
      ...(upright
        ? definedPositions.map(([x]) => svg("line.ruler", { x1: x, x2: x, y1: frame.top, y2: frame.bottom }))
        : []),
      svg("path.whisker", { d: intervals(series, frame) }),
      ...definedPositions.map((position, index) =>
        svg("path", {
          class: symbol,
          d: symbolPath(symbol, position, series.size ?? SYMBOL_PIXELS),
          opacity: opacities?.[index],
        }),
      ),
    ],
    band: () => [svg("path.band", { d: bandPath(side(series, "high", frame), side(series, "low", frame)) })],
    spans: () => spans(series, definedPositions, frame),
    strokes: () => [
      svg("path.whisker", {
        d: series.x.map((x) => `M${frame.x(x).toFixed(1)} ${frame.bottom}v-${STROKE_PIXELS}`).join(""),
      }),
    ],
  };
  return svg(
    "g.series",
    { "data-series": groupOf(series), "data-colour": colour, "stroke-dasharray": dash, opacity },
    marks[kind]().filter((node) => node instanceof Node),
  );
}

/** @param {Series} series @param {(Position | null)[]} positions */
function lines({ width = 2, dots, size = DOT_PIXELS }, positions) {
  const thinnedPositions = thinned(positions);
  const marked = dots ? thinnedPositions : isolated(thinnedPositions);
  return [
    svg("path.line", { d: linePath(thinnedPositions), "stroke-width": width }),
    marked.length > 0 &&
      svg("path.circle", { d: marked.map((position) => position && symbolPath("circle", position, size)).join("") }),
  ];
}

/** Return the lower or the upper ends of the intervals. @param {Series} series @param {"low" | "high"} key @param {Frame} frame @returns {Position[]} */
function side({ x, right, low = [], high = [], ...series }, key, frame) {
  const positions = positionsOf({ ...series, x, right, y: key === "low" ? low : high }, frame);
  return positions.filter((position) => position !== null);
}

/** @param {Series} series @param {Frame} frame */
function intervals(series, frame) {
  const lower = side(series, "low", frame);
  const cap = `h${2 * CAP_PIXELS}`;
  return side(series, "high", frame)
    .map(([x, high], index) => {
      const low = lower[index][1];
      return `M${x} ${high}V${low}M${x - CAP_PIXELS} ${high}${cap}M${x - CAP_PIXELS} ${low}${cap}`;
    })
    .join("");
}

/** @param {Series} series @param {Position[]} positions @param {Frame} frame */
function spans({ end = [] }, positions, frame) {
  const height = Math.max(2, BAR_SHARE * Math.abs(frame.y(1) - frame.y(0)));
  return positions.map(([x, y], index) =>
    svg("rect", {
      x,
      y: y - height / 2,
      width: Math.max(1, frame.x(end[index] ?? null) - x),
      height,
      rx: Math.min(2, height / 3),
    }),
  );
}
