/**
 * Contributions to scores made comparable between models. Scores mean something within a query alone, and each
 * model has a scale of its own: so the mean over the documents is taken off, and the spread of the scores made 1.
 * @module
 */

/**
 * @param {{id: string, score: number, explanation: {contributions: {feature: string, contribution: number}[]}}[]} ranking
 * @returns {Map<string, Map<string, number>>} by document, then by feature; those of a document add up to how many
 *   standard deviations its score is above the mean
 */
export function standardized(ranking) {
  const raw = new Map(ranking.map(({ id, explanation }) => [id, new Map(explanation.contributions.map(({ feature, contribution }) => [feature, contribution]))]));
  const features = [...new Set([...raw.values()].flatMap((parts) => [...parts.keys()]))];
  const means = new Map(features.map((feature) => [feature, mean([...raw.values()].map((parts) => parts.get(feature) ?? 0))]));
  const spread = deviation(ranking.map(({ score }) => score)) || 1;
  const scaled = (parts) => new Map(features.map((feature) => [feature, ((parts.get(feature) ?? 0) - means.get(feature)) / spread]));
  return new Map([...raw].map(([id, parts]) => [id, scaled(parts)]));
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function deviation(values) {
  const middle = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2)));
}
