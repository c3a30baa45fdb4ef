/** Verdict of an interleaving: conclusions, credit, and the share of preferences so far. @module */
import { rankLines } from "../figures/rank_lines.js";
import { whiskers } from "../figures/whiskers.js";
import { dataTable, numberHeads, statusBadge } from "../page/parts.js";
import { count, counted, fixed, percent } from "../page/format.js";

/** @typedef {Schemas["PairVerdict"]} Pair */

/** @type {Record<Pair["conclusion"], string>} job status whose colour a conclusion takes */
const STATES = { first: "succeeded", second: "succeeded", equal: "cancelled", undecided: "running" };

/**
 * Return the number of decided units that a test with a fixed sample size needs: (z(error / 2) + z(miss))² / 4d².
 * Here z(p) is the normal quantile of 1 − p.
 * @param {number} error probability to declare a difference between equal rankers
 * @param {number} miss probability not to detect the difference d
 * @param {number} difference d, the share of preferences above one half
 * @param {number} [rankers] number of rankers; their pairs share the error (Bonferroni)
 */
export function sampleSize(error, miss, difference, rankers = 2) {
  const pairs = (rankers * (rankers - 1)) / 2;
  const z = normalQuantile(1 - error / pairs / 2) + normalQuantile(1 - miss);
  return Math.ceil(z ** 2 / (4 * difference ** 2));
}

/** Return the quantile of the normal distribution, by bisection. @param {number} share above one half */
function normalQuantile(share) {
  let [low, high] = [0, 10];
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2;
    if (normalShare(middle) < share) low = middle;
    else high = middle;
  }
  return low;
}

/** Number of intervals of Simpson's rule. */
const STEPS = 400;

/** Return the share of the normal distribution below a value, by Simpson's rule. @param {number} value at least 0 */
function normalShare(value) {
  const density = (/** @type {number} */ x) => Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
  const width = value / STEPS;
  let sum = density(0) + density(value);
  for (let step = 1; step < STEPS; step += 1) sum += (step % 2 ? 4 : 2) * density(step * width);
  return 0.5 + (sum * width) / 3;
}

/** Return a conclusion that does not begin with a ranker's name: badges begin with a capital. @param {Pair} pair */
function conclusionLabel({ conclusion, first, second }) {
  if (conclusion === "first") return `better: ${first}`;
  if (conclusion === "second") return `better: ${second}`;
  return conclusion;
}

/** Check whether the test of a pair compares credits, not numbers of units. @param {Pair} pair */
const comparesCredits = (pair) => pair.sign_p === null;

/**
 * Draw the share of the first ranker by the number of decided units, and the limits at which a test of signs ends.
 * There is no figure before the second value.
 * @param {Pair} pair @param {Interleaving["unit"]} unit
 */
export function preferenceFigure(pair, unit) {
  const { first, second, path, decided, first_share: firstShare } = pair;
  if (path.length < 2) return null;
  const byCredit = comparesCredits(pair);
  const looksWithLimit = path.filter((look) => look.winning_share !== null);
  /** @param {string} name @param {(share: number) => number} limit */
  const limits = (name, limit) => ({
    name,
    kind: /** @type {const} */ ("reference"),
    points: looksWithLimit.map(({ decided: x, winning_share: share }) => ({ x, y: limit(share ?? 1) })),
  });
  const share = {
    name: byCredit ? `credit of ${first}` : `preferring ${first}`,
    kind: /** @type {const} */ ("line"),
    points: path.map((look) => ({ x: look.decided, y: look.first_share })),
  };
  const limitLines = looksWithLimit.length
    ? [
        limits(`above: ${first} is better`, (limit) => limit),
        limits(`below: ${second} is better`, (limit) => 1 - limit),
      ]
    : [];
  return rankLines([share, ...limitLines], {
    caption: byCredit
      ? `Share of the credit of decided ${unit}s for ${first}`
      : `Share of decided ${unit}s that prefer ${first}, and the limits at which the test ends`,
    axis: `Decided ${unit}s`,
    summary: byCredit
      ? `${first} has ${percent(firstShare ?? 0, 1)} of the credit of ${count(decided)} decided ${unit}s.`
      : `${percent(firstShare ?? 0, 1)} of ${count(decided)} decided ${unit}s prefer ${first}.`,
    include: [0.3, 0.5, 0.7],
    format: (value) => `${Math.round(100 * value)}%`,
  });
}

/** @param {Pair[]} pairs */
export function creditTable(pairs) {
  const numbers = numberHeads("Wins", "Losses", "Ties", "Decided", "Share of the first ranker", "Anytime-valid p");
  return dataTable("Credit by pair", ["Pair", numbers, "Conclusion"], pairs, (pair) => [
    `${pair.first} against ${pair.second}`,
    ...[pair.wins, pair.losses, pair.ties, pair.decided].map(count),
    pair.first_share === null ? "–" : percent(pair.first_share, 1),
    Number(pair.sequential_p.toPrecision(2)),
    statusBadge(STATES[pair.conclusion], conclusionLabel(pair)),
  ]);
}

/** Draw Δ, the share above one half, with its interval, one row for each pair with clicks. @param {Pair[]} pairs */
export function deltaFigure(pairs) {
  const rows = pairs
    .filter(({ delta }) => delta !== null)
    .map(({ first, second, delta, delta_lower: lower, delta_upper: upper }) => ({
      name: first,
      detail: `against ${second}`,
      interval: { mean: delta, lower, upper },
    }));
  return rows.length > 0 && whiskers("Share of the first ranker above one half", [{ rows }], { reference: 0 });
}

/** "about 340 more users needed" @param {Pair[]} pairs @param {Interleaving["unit"]} unit */
export function neededLabel(pairs, unit) {
  const needed = Math.max(0, ...pairs.map((pair) => pair.needed ?? 0));
  return needed > 0 ? `about ${counted(needed, `more ${unit}`)} needed` : "";
}

/** "55% of the decisions prefer one ranker" @param {number} difference share above one half @param {Pair[]} pairs */
export function differenceLabel(difference, pairs) {
  if (pairs.some(comparesCredits)) return `credits differ by ${fixed(2 * difference, 2)} standard deviations`;
  return `${fixed(100 * (0.5 + difference), 0)}% of the decisions prefer one ranker`;
}
