/**
 * What documents add to the DCG by the papers' conventions: gain 2^y − 1, discount log2(1 + rank).
 * @module
 */

/**
 * @param {number[]} labels in the order of the ranking
 * @param {number} cutoff of the sums
 * @returns {{gains: number[], dcg: number, ndcg: number | null}} ndcg: null where no document is relevant
 */
export function discountedGains(labels, cutoff) {
  const gains = discounted(labels);
  const ideal = sum(discounted([...labels].sort((one, other) => other - one)), cutoff);
  const dcg = sum(gains, cutoff);
  return { gains, dcg, ndcg: ideal > 0 ? dcg / ideal : null };
}

function discounted(labels) {
  return labels.map((label, index) => (2 ** Math.max(0, label) - 1) / Math.log2(2 + index));
}

function sum(gains, cutoff) {
  return gains.slice(0, cutoff).reduce((total, gain) => total + gain, 0);
}
