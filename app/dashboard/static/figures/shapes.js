/** Outlines of lines, bands and symbols as data of SVG paths, in pixels. @module */

/** @typedef {[x: number, y: number]} Position */

/** @param {number} value */
const pixel = (value) => String(Math.round(value * 10) / 10);

/** @param {Position} position */
const at = ([x, y]) => `${pixel(x)} ${pixel(y)}`;

/**
 * Return a line through positions, broken where one is absent.
 * @param {(Position | null)[]} positions
 * @param {boolean} [stepped] whether each value holds until the next
 */
export function linePath(positions, stepped = false) {
  let before = /** @type {Position | null} */ (null);
  let path = "";
  for (const position of positions) {
    if (position)
      path += !before
        ? `M${at(position)}`
        : stepped
          ? `H${pixel(position[0])}V${pixel(position[1])}`
          : `L${at(position)}`;
    before = position;
  }
  return path;
}

/** Return the outline between two lines. @param {Position[]} upper @param {Position[]} lower */
export const bandPath = (upper, lower) => (upper.length ? `${linePath([...upper, ...[...lower].reverse()])}Z` : "");

/** Return the positions of a line whose neighbours are absent: only a dot shows them. @param {(Position | null)[]} positions */
export const isolated = (positions) =>
  positions.filter((position, index) => position && !positions[index - 1] && !positions[index + 1]);

/**
 * Return the first, lowest, highest and last position of each column of pixels: they draw the same line as all
 * positions.
 * @param {(Position | null)[]} positions ascending by x
 */
export function thinned(positions) {
  /** @type {(Position | null)[]} */ const kept = [];
  for (let start = 0; start < positions.length;) {
    const first = positions[start];
    let [end, low, high] = [start + 1, start, start];
    for (
      let next = positions[end];
      first && next && Math.round(next[0]) === Math.round(first[0]);
      next = positions[++end]
    ) {
      if (next[1] < /** @type {Position} */ (positions[low])[1]) low = end;
      if (next[1] > /** @type {Position} */ (positions[high])[1]) high = end;
    }
    const indices = [...new Set([start, low, high, end - 1])].sort((one, other) => one - other);
    kept.push(...indices.map((index) => positions[index]));
    start = end;
  }
  return kept;
}

/**
 * Return the outline of a symbol around a position.
 * @param {"circle" | "diamond" | "cross"} kind @param {Position} position @param {number} radius
 */
export function symbolPath(kind, [x, y], radius) {
  const [left, right, top, bottom] = [x - radius, x + radius, y - radius, y + radius].map(pixel);
  if (kind === "diamond") return `M${pixel(x)} ${top}L${right} ${pixel(y)}L${pixel(x)} ${bottom}L${left} ${pixel(y)}Z`;
  if (kind === "cross") return `M${left} ${top}L${right} ${bottom}M${left} ${bottom}L${right} ${top}`;
  const arc = `A${radius} ${radius} 0 1 1`;
  return `M${left} ${pixel(y)}${arc} ${right} ${pixel(y)}${arc} ${left} ${pixel(y)}Z`;
}
