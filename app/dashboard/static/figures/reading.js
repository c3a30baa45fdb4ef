/** The values that a figure shows at the pointer, or at a position chosen with the arrow keys. @module */
import { positionsOf } from "./frame.js";
import { joined } from "../page/format.js";

/** @typedef {import("./frame.js").Frame} Frame */

/** @typedef {{series: Series, index: number, position: import("./shapes.js").Position}} Point */
/**
 * @typedef {object} Stop
 * @property {number} left in pixels
 * @property {number} right
 * @property {number | null} y null if all series are read at one x
 * @property {Point[]} points
 */

/** Maximum horizontal distance from a stop to the point of a series that is read there. */
const NEAR_PIXELS = 20;

/**
 * Return the stops, the positions where the pointer and the arrow keys read values, from left to right.
 * @param {Figure} figure @param {Series[]} shown @param {Frame} frame @returns {Stop[]}
 */
export function stopsOf({ reading = "all" }, shown, frame) {
  const points = shown
    .filter(({ quiet, kind }) => !quiet && kind !== "band" && kind !== "strokes")
    .map((series) => pointsOf(series, frame));
  const stops = reading === "all" ? stopsByX(points) : points.flat().map((point) => stopOf(point, frame));
  return stops.sort((one, other) => one.left - other.left);
}

/** @param {Series} series @param {Frame} frame @returns {Point[]} those within the frame */
function pointsOf(series, frame) {
  return positionsOf(series, frame).flatMap((position, index) => {
    const isSeen = position && position[0] >= frame.start && position[0] <= frame.end;
    return isSeen ? [{ series, index, position }] : [];
  });
}

/** @param {Point} point @param {Frame} frame @returns {Stop} */
function stopOf(point, frame) {
  const { series, index, position } = point;
  const end = series.end?.[index];
  return { left: position[0], right: end === undefined ? position[0] : frame.x(end), y: position[1], points: [point] };
}

/** @param {Point[][]} series @returns {Stop[]} one for each x of any series, with the nearest point of each series */
function stopsByX(series) {
  const positions = [...new Set(series.flatMap((points) => points.map(({ position }) => position[0])))].sort(
    (one, other) => one - other,
  );
  const next = series.map(() => 0);
  return positions.map((at) => ({
    left: at,
    right: at,
    y: null,
    points: series.flatMap((points, number) => {
      // Positions ascend, and so do the points of a series.
      while (distance(points[next[number] + 1], at) <= distance(points[next[number]], at)) next[number] += 1;
      const point = points[next[number]];
      return distance(point, at) <= NEAR_PIXELS ? [point] : [];
    }),
  }));
}

/** @param {Point | undefined} point @param {number} at */
const distance = (point, at) => (point ? Math.abs(point.position[0] - at) : Infinity);

/**
 * Return the index of the stop that is nearest to a position, or -1 if there are no stops.
 * @param {Stop[]} stops @param {import("./shapes.js").Position} position
 */
export function nearestStop(stops, [x, y]) {
  let [nearest, least] = [-1, Infinity];
  stops.forEach((stop, index) => {
    const across = Math.max(stop.left - x, x - stop.right, 0);
    const distance = stop.y === null ? across : Math.hypot(across, stop.y - y);
    if (distance < least) [nearest, least] = [index, distance];
  });
  return nearest;
}

/**
 * Return the readout of a stop: its x as the title, and the value of each series there.
 * @param {Stop} stop @param {Figure} figure @param {Frame} frame
 */
export function wordsOf({ points, left }, figure, frame) {
  const origin = points.find(({ position }) => position[0] === left) ?? points[0];
  const at = frame.formatX(origin.series.x[origin.index]);
  return {
    title: origin.series.words?.[origin.index] ?? joined([figure.x.absent === at ? "" : figure.x.title, at]),
    rows: points.map(({ series, index, position }) => {
      const axis = (series.right && figure.right) || figure.y;
      const value = Number(series.y[index]);
      const words = axis.read ? axis.read(value) : String(Number(value.toPrecision(5)));
      const aside = position[0] === left ? "" : ` at ${frame.formatX(series.x[index])}`;
      return { series, words: axis.hidden ? "" : words + aside };
    }),
  };
}
