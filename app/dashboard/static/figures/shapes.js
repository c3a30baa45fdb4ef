/** Outlines of lines, bands and symbols as data of SVG paths, in pixels. @module */

/** @typedef {[x: number, y: number]} Place */

/** @param {number} value */
const pixel = (value) => String(Math.round(value * 10) / 10);

/** @param {Place} place */
const at = ([x, y]) => `${pixel(x)} ${pixel(y)}`;

/**
 * Return a line through places, broken where one is absent.
 *
 * @param {(Place | null)[]} places
 * @param {boolean} [stepped] whether each value holds until the next
 */
export function linePath(places, stepped = false) {
  let before = /** @type {Place | null} */ (null);
  let path = "";
  for (const place of places) {
    if (place) path += !before ? `M${at(place)}` : stepped ? `H${pixel(place[0])}V${pixel(place[1])}` : `L${at(place)}`;
    before = place;
  }
  return path;
}

/** Return the outline between two lines. @param {Place[]} upper @param {Place[]} lower */
export const bandPath = (upper, lower) => (upper.length ? `${linePath([...upper, ...[...lower].reverse()])}Z` : "");

/** Return the places of a line whose neighbours are absent: only a dot shows them. @param {(Place | null)[]} places */
export const isolated = (places) => places.filter((place, index) => place && !places[index - 1] && !places[index + 1]);

/** Keep the places per column of pixels that draw the same line. @param {(Place | null)[]} places ascending by x */
export function thinned(places) {
  /** @type {(Place | null)[]} */
  const kept = [];
  for (let start = 0; start < places.length;) {
    const first = places[start];
    let [end, low, high] = [start + 1, start, start];
    for (let next = places[end]; first && next && Math.round(next[0]) === Math.round(first[0]); next = places[++end]) {
      if (next[1] < /** @type {Place} */ (places[low])[1]) low = end;
      if (next[1] > /** @type {Place} */ (places[high])[1]) high = end;
    }
    const indices = [...new Set([start, low, high, end - 1])].sort((one, other) => one - other);
    kept.push(...indices.map((index) => places[index]));
    start = end;
  }
  return kept;
}

/** @param {"circle" | "diamond" | "cross"} kind @param {Place} place of the middle @param {number} radius */
export function symbolPath(kind, [x, y], radius) {
  const [left, right, top, bottom] = [x - radius, x + radius, y - radius, y + radius].map(pixel);
  if (kind === "diamond") return `M${pixel(x)} ${top}L${right} ${pixel(y)}L${pixel(x)} ${bottom}L${left} ${pixel(y)}Z`;
  if (kind === "cross") return `M${left} ${top}L${right} ${bottom}M${left} ${bottom}L${right} ${top}`;
  const arc = `A${radius} ${radius} 0 1 1`;
  return `M${left} ${pixel(y)}${arc} ${right} ${pixel(y)}${arc} ${left} ${pixel(y)}Z`;
}
