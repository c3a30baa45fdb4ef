/**
 * A linear scale from data: round ends, round ticks.
 * @module
 */
import { fixed } from "../page/format.js";

const STEPS = [1, 2, 2.5, 5, 10];

/**
 * @param {(number | null | undefined)[]} values what must have room
 * @param {number} [most] ticks
 * @returns {{low: number, high: number, ticks: number[], share: (value: number) => number, words: (value: number) => string}}
 *   share: where a value is between the ends, 0 to 1
 */
export function linearScale(values, most = 5) {
  const known = values.filter((value) => typeof value === "number");
  const [smallest, largest] = known.length ? [Math.min(...known), Math.max(...known)] : [0, 1];
  const width = largest - smallest || Math.abs(largest) || 1;
  const step = roundStep(width / most);
  const first = Math.floor(smallest / step + 1e-9);
  const last = Math.max(first + 1, Math.ceil(largest / step - 1e-9));
  const digits = digitsOf(step);
  const [low, high] = [first * step, last * step];
  return {
    low,
    high,
    ticks: Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step),
    share: (value) => (value - low) / (high - low),
    words: (value) => fixed(value, digits),
  };
}

function roundStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * STEPS.find((step) => step * power >= rough * (1 - 1e-9));
}

/** Decimals that tell one tick from the next. */
function digitsOf(step) {
  for (let digits = 0; digits < 6; digits += 1) {
    if (Math.abs(step - Number(step.toFixed(digits))) < 1e-9 * step) return digits;
  }
  return 6;
}
