/** Counterfactual evaluations: estimators, estimates, verdicts, and support by the log. @module */
import { whiskers } from "../figures/whiskers.js";
import { modelPage, rankingPage } from "../page/paths.js";
import { h } from "../page/dom.js";
import { dataTable, hint, numberHeads, statusBadge } from "../page/parts.js";
import { count, counted, percent } from "../page/format.js";

/** @param {CounterfactualResult} result @param {Job} job */
export function counterfactualResult(result, { spec }) {
  const requested = /** @type {{system: string, model_id?: string | null, ranking_id?: string | null}[]} */ (
    /** @type {unknown} */ (spec.systems ?? [])
  );
  const pageOf = (/** @type {string} */ name) => {
    const system = requested.find((each) => each.system === name);
    return system?.model_id ? modelPage(name) : system?.ranking_id && rankingPage(system.ranking_id);
  };
  return estimates(result, pageOf);
}

/**
 * Show the estimates with their verdicts, and how far the log supports them.
 * @param {CounterfactualResult} result
 * @param {(name: string) => string | null | undefined} pageOf returns the URL of the page of a model or ranking
 */
export function estimates({ metric, estimator, lists, clusters, systems, differences }, pageOf) {
  const named = (/** @type {string} */ name) => {
    const href = pageOf(name);
    return href ? h("a", { href }, name) : h("span", name);
  };
  const rows = systems.map(({ name, value, lower, upper }, index) => ({
    name: named(name),
    detail: index === 0 ? "what users saw" : undefined,
    main: index === 0,
    interval: { mean: value, lower, upper },
  }));
  return [
    h("ul.click-verdicts", ...differences.map(verdict)),
    whiskers(`Estimated ${metric}`, [{ rows }]),
    hint(
      `${metric} estimated by ${estimatorName(estimator)}: mean over ${counted(lists, "list")}; ${intervalsLabel(clusters, lists)}.`,
    ),
    supportTable(systems, named),
  ];
}

/** Maximum number of clusters: if there are more users or lists, the service draws this number of groups of lists. */
const MAX_CLUSTERS = 20_000;

/** Minimum number of users, or of lists in a log without users, for intervals and verdicts. */
const MIN_CLUSTERS = 8;

/** Return "intervals by bootstrap over 1,204 users". @param {number} clusters @param {number} lists */
export function intervalsLabel(clusters, lists) {
  const label = clustersLabel(clusters, lists);
  return clusters < MIN_CLUSTERS
    ? `no intervals from ${label}, because they need at least ${MIN_CLUSTERS}`
    : `intervals by bootstrap over ${label}`;
}

/** Return what the bootstrap draws: "1,204 users". @param {number} clusters @param {number} lists */
export function clustersLabel(clusters, lists) {
  const noun = clusters === lists ? "lists" : clusters < MAX_CLUSTERS ? "users" : "groups of lists";
  return `${count(clusters)} ${noun}`;
}

/** @param {CounterfactualResult["differences"][number]} difference */
function verdict({ better, sentence }) {
  // The styles of the badge are those of job statuses.
  const style = better ? "succeeded" : sentence.startsWith("No verdict") ? "refused" : "cancelled";
  const words = better ? "better" : style === "refused" ? "no verdict" : "no difference";
  return h("li", statusBadge(style, words), h("p", sentence));
}

/** Return "supported", or the reason why the log does not support an estimate. @param {string | null} missing */
export const supportLabel = (missing) => (missing ? h("span.missing-support", `none: ${missing}`) : "supported");

/** @param {SystemEstimate[]} systems @param {(name: string) => Node} named */
function supportTable(systems, named) {
  const numbers = numberHeads("Effective sample size", "Largest weight", "Clipped", "Unsupported");
  /** @param {SystemEstimate} system */
  const cells = ({ name, effective_sample_size: effective, largest_weight: largest, ...system }) => [
    named(name),
    count(Math.round(effective)),
    ...[largest, system.clipped, system.unsupported].map((share) => percent(share, 1)),
    supportLabel(system.missing),
  ];
  return h("section.rows", { "aria-label": "Support by the log" }, [
    h("h3", "Support by the log"),
    dataTable("Support of each ranking", ["Ranking", numbers, "Verdict"], systems, cells, { class: "click-table" }),
    hint(
      `A verdict needs at least ${MIN_CLUSTERS} users, or lists in a log without users, and an effective sample size of at least 100. At most 20% of the metric's weight may be unsupported: on documents that were never shown or, for estimators by propensity, never shown at that rank. No single weight may exceed 10% of the total.`,
    ),
  ]);
}

/** @type {Record<Schemas["CounterfactualRequest"]["estimator"] & string, string>} */
const ESTIMATORS = {
  examination: "weights a click by 1 / mean examination of its document",
  item_position: "weights by 1 / logged propensity of a document at its rank",
  reward_interaction: "weights by 1 / propensities of a document and those above it",
  cascade_doubly_robust: "reward interaction with predicted clicks",
  slate: "weights by 1 / propensity of the whole list",
};

/** Return an option for each estimator. @param {string} chosen */
export function estimatorOptions(chosen) {
  return Object.entries(ESTIMATORS).map(([name, words]) =>
    h("option", { value: name, selected: name === chosen }, `${estimatorName(name)}: ${words}`),
  );
}

/** @param {string} estimator */
export const estimatorName = (estimator) => estimator.replaceAll("_", " ");
