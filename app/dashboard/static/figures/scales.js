/** Scales of axes: from values to shares of a length and back, with round ticks. @module */
import { count, fixed, short, withMinus } from "../page/format.js";

const STEPS = [1, 2, 2.5, 5, 10];
const MAX_DIGITS = 6;
const MIN_TICKS = 3;
/** Numbers from here have no compact name. */
const QUADRILLION = 1e15;

/**
 * @typedef {object} Scale
 * @property {number} low
 * @property {number} high
 * @property {number[]} ticks
 * @property {(value: number) => number} share position of a value between the ends, 0 to 1
 * @property {(share: number) => number} value at a position, the inverse of `share`
 * @property {(value: number) => string} format
 */

/** Return a share as a tick: "2.5%". @param {number} value */
export const shareLabel = (value) => `${short(100 * value)}%`;

/**
 * Return the least and the largest of the values that are numbers.
 * @param {Iterable<number | null | undefined>} values
 * @returns {[low: number, high: number] | null} null if no value is a number
 */
export function extent(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (typeof value !== "number" || !Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : null;
}

/**
 * Return a linear scale with round ends and round ticks.
 * @param {Iterable<number | null | undefined>} values that the scale must include
 * @param {number} [most] maximum number of ticks
 */
export function linearScale(values, most = 5) {
  const [smallest, largest] = extent(values) ?? [0, 1];
  const width = largest - smallest || Math.abs(largest) || 1;
  const step = roundStep(width / most);
  const first = Math.floor(smallest / step + 1e-9);
  const last = Math.max(first + 1, Math.ceil(largest / step - 1e-9));
  return between(first * step, last * step, step);
}

/**
 * Return a scale with exact ends and round ticks between them.
 * @param {number} low @param {number} high
 * @param {{most?: number, whole?: boolean, log?: boolean}} [options] most: maximum number of
 *   ticks; whole: ticks at integers only; log: a logarithmic scale, where both ends are above 0
 * @returns {Scale}
 */
export function exactScale(low, high, { most = 5, whole = false, log = false } = {}) {
  if (!(high > low)) {
    const margin = Math.max(0.5, Math.abs(low) / 10);
    [low, high] = log && low > 0 ? [low / 2, low * 2] : [low - margin, low + margin];
  }
  if (log && low > 0) return logScale(low, high, most);
  const withTicks = (/** @type {number} */ number) => {
    const step = roundStep((high - low) / number);
    return between(low, high, whole ? Math.max(1, Number.isInteger(step) ? step : 2 * step) : step);
  };
  const scale = withTicks(most);
  return scale.ticks.length < MIN_TICKS ? withTicks(2 * most) : scale;
}

/** @param {number} low @param {number} high @param {number} step @returns {Scale} */
function between(low, high, step) {
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return {
    low,
    high,
    ticks: Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) * step),
    share: (value) => (value - low) / (high - low),
    value: (share) => low + share * (high - low),
    format: tickFormat(step, Math.max(Math.abs(low), Math.abs(high))),
  };
}

/**
 * Return a function that labels ticks with as many digits as neighbours need to differ.
 * @param {number} step
 * @param {number} largest of the scale
 * @returns {(value: number) => string}
 */
function tickFormat(step, largest) {
  const decimals = digitsOf(step);
  const power = Math.floor(Math.log10(largest)) - Math.floor(Math.log10(step));
  if (largest >= QUADRILLION || decimals > MAX_DIGITS)
    return (value) => (value ? withMinus(value.toExponential(Math.max(1, power))) : "0");
  if (largest >= 1e5) {
    const compact = new Intl.NumberFormat("en", {
      notation: "compact",
      maximumSignificantDigits: Math.max(4, power + 2),
    });
    return (value) => withMinus(compact.format(value));
  }
  return (value) => (decimals || largest < 1000 ? fixed(value, decimals) : count(Math.round(value)));
}

/**
 * Return a logarithmic scale with ticks at 1, 2 and 5 times each power of ten, or only at the powers if fewer ticks fit.
 * A range with fewer than two of them has the ticks of a linear scale.
 * @param {number} low @param {number} high @param {number} most @returns {Scale}
 */
function logScale(low, high, most) {
  const width = Math.log(high / low);
  const ticksAt = (/** @type {number[]} */ steps) => {
    const powers = Array.from(
      { length: Math.ceil(Math.log10(high)) - Math.floor(Math.log10(low)) + 1 },
      (_, index) => Math.floor(Math.log10(low)) + index,
    );
    return powers
      .flatMap((power) => steps.map((step) => Number(`${step}e${power}`)))
      .filter((tick) => tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9));
  };
  const fine = ticksAt([1, 2, 5]);
  const few = fine.length <= most ? fine : ticksAt([1]);
  const ticks = few.length > 1 ? few : fine;
  const format = (/** @type {number} */ value) => short(Number(value.toPrecision(3)));
  const labelled = ticks.length > 1 ? { ticks, format } : exactScale(low, high, { most });
  return {
    low,
    high,
    ticks: labelled.ticks,
    share: (value) => Math.log(value / low) / width,
    value: (share) => low * Math.exp(share * width),
    format: labelled.format,
  };
}

/** @param {number} rough */
function roundStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * (STEPS.find((step) => step * power >= rough * (1 - 1e-9)) ?? 10);
}

/** Return the number of decimals that distinguishes neighbouring ticks. @param {number} step */
function digitsOf(step) {
  for (let digits = 0; digits <= MAX_DIGITS; digits += 1) {
    if (Math.abs(step - Number(step.toFixed(digits))) < 1e-9 * step) return digits;
  }
  return MAX_DIGITS + 1;
}
