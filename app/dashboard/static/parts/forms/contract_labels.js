/**
 * The conventions behind a number, in words.
 * @module
 */
import { short } from "../page/format.js";

/** In the order in which they are said. */
const WORDS = {
  gain: (value) => `gain ${{ exp2: "2^y − 1", linear: "y" }[value] ?? `${value.map(short).join(", ")} by label`}`,
  discount: (value) => `discount ${{ log2: "log2(1 + rank)", letor: "log2(rank), none at ranks 1 and 2", reciprocal: "rank" }[value] ?? value}`,
  relevance_threshold: (value) => `relevant above label ${short(value)}`,
  max_label: (value) => `a perfect document has label ${short(value)}`,
  ties: (value) => ({ stable: "ties in input order", docid: "ties by document id, the larger first", average: "ties averaged over their orders" })[value] ?? value,
  queries_without_relevant: (value) => `queries without relevant documents ${value === "skip" ? "left out" : `count as ${value}`}`,
  short_lists: (value) => (value === "zero" ? "queries shorter than the cutoff count as 0" : ""),
  precision_sum_over: (value) => (value === "reachable" ? "precision over min(relevant, cutoff)" : "precision over all relevant documents"),
  max_documents: (value) => `first ${short(value)} documents of each ranking`,
  recall: (value) => `at recall ${short(value)}`,
  mean: (value) => `${value} mean over queries`,
};

/** @param {Record<string, any>} contract those conventions that matter, or all of them */
export function contractWords(contract) {
  const said = Object.entries(WORDS).filter(([name]) => contract?.[name] !== undefined && contract[name] !== null);
  return said.map(([name, words]) => words(contract[name])).filter(Boolean).join(" · ");
}

export const PRESET_WORDS = {
  default: "the papers' conventions",
  lightgbm: "as LightGBM reports",
  xgboost: "as XGBoost reports",
  sklearn: "as scikit-learn computes",
  trec_eval: "as trec_eval computes",
  letor: "as LETOR's scripts compute",
};

/** "preset default", or what is said of conventions that are no preset. */
export function presetWords(contract) {
  return contract?.preset ? `preset ${contract.preset}` : "conventions of its own";
}
