/** Labels of metric contracts, and tabs that select a metric. @module */
import { changeDetector, findAll, h, replace, setAttribute } from "../page/dom.js";
import { short, joined } from "../page/format.js";

/** @type {Record<string, string>} */ const GAIN_LABELS = { exp2: "2^y − 1", linear: "y" };
/** @type {Record<string, string>} */
const DISCOUNT_LABELS = { log2: "log2(1 + rank)", letor: "log2(rank), none at ranks 1 and 2", reciprocal: "rank" };
/** @type {Record<string, string>} */ const TIE_LABELS = {
  stable: "ties in input order",
  docid: "ties by document id, the larger first",
  average: "ties averaged over their orders",
};

/** Labels of conventions, in display order. @type {Record<string, (value: unknown) => string>} */
const CONVENTION_LABELS = {
  gain: (value) =>
    `gain ${Array.isArray(value) ? `${value.map(short).join(", ")} by label` : GAIN_LABELS[String(value)]}`,
  discount: (value) => `discount ${DISCOUNT_LABELS[String(value)] ?? value}`,
  relevance_threshold: (value) => `relevant above label ${short(value)}`,
  max_label: (value) => `a perfect document has label ${short(value)}`,
  ties: (value) => TIE_LABELS[String(value)] ?? String(value),
  queries_without_relevant: (value) =>
    `queries without relevant documents ${value === "skip" ? "left out" : `count as ${value}`}`,
  short_lists: (value) => (value === "zero" ? "queries shorter than the cutoff count as 0" : ""),
  precision_sum_over: (value) =>
    value === "reachable" ? "precision over min(relevant, cutoff)" : "precision over all relevant documents",
  max_documents: (value) => `first ${short(value)} documents of each ranking`,
  judged_only: (value) => (value ? "unjudged documents left out" : ""),
  recall: (value) => `at recall ${short(value)}`,
  mean: (value) => `${value} mean over queries`,
};

/**
 * Return the conventions of a metric in one line.
 * @param {Record<string, unknown> | null | undefined} contract all conventions, or only those that affect the metric
 */
export function contractLabel(contract) {
  const conventions = Object.entries(CONVENTION_LABELS).filter(
    ([name]) => contract?.[name] !== undefined && contract[name] !== null,
  );
  return joined(
    conventions.map(([name, words]) => words(contract?.[name])),
    " · ",
  );
}

/** @type {Record<string, string>} */ export const PRESET_WORDS = {
  default: "the papers' conventions",
  lightgbm: "as LightGBM reports",
  xgboost: "as XGBoost reports",
  sklearn: "as scikit-learn computes",
  trec_eval: "as trec_eval computes",
  letor: "as LETOR's scripts compute",
};

/** Return "preset default", or "custom conventions". @param {Contract | null | undefined} contract */
export const presetLabel = (contract) => (contract?.preset ? `preset ${contract.preset}` : "custom conventions");

/**
 * Tabs that select one of several metrics; hidden for a single one.
 * @param {string[]} names @param {(name: string) => void} choose @param {string} [label]
 * @returns {{node: HTMLElement, show: (name: string, among?: string[]) => void}} show: mark a name as selected; `among`
 *   replaces the names
 */
export function metricTabs(names, choose, label = "Metric") {
  const node = h("div.tabs.small", { role: "group", "aria-label": label });
  const hasChanged = changeDetector();
  /** @param {string} current */
  function show(current, among = names) {
    node.hidden = among.length < 2;
    if (hasChanged(among))
      replace(node, ...among.map((name) => h("button", { value: name, click: () => choose(name) }, name)));
    for (const button of findAll(node, "button", HTMLButtonElement))
      setAttribute(button, "aria-pressed", String(button.value === current));
  }
  return { node, show };
}
