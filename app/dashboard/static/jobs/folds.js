/** Table of the folds of a cross-validation, with the means over all queries and over the folds. @module */
import { foldsOf } from "./curves.js";
import { iterationsHeading, LOSS } from "./labels.js";
import { intervalLabel } from "../figures/whiskers.js";
import { rankingPage } from "../page/paths.js";
import { h, replace } from "../page/dom.js";
import { bodyRows, hint, livePart, numberHeads, scrollRegion, tableHead } from "../page/parts.js";
import { count, metric } from "../page/format.js";

/** @typedef {{fold: string, queries?: number, best_iteration?: number, metrics: Metrics}} Fold */

/** Return the table of folds, hidden while no fold was measured. */
export function foldsTable() {
  const body = h("div");
  const node = h("section.folds", { "aria-label": "Folds", hidden: true }, h("h3", "Folds"), body);
  const stateOf = (/** @type {Job} */ { result, metrics }) => {
    const crossValidation = result?.cross_validation ?? null;
    const latest = metrics ?? {};
    const measuredSoFar = foldsOf(latest).map((fold) => ({ fold, metrics: latest[fold] }));
    return { folds: crossValidation?.cross_validation.folds ?? measuredSoFar, crossValidation };
  };
  return livePart(node, stateOf, ({ folds, crossValidation }, job) => {
    node.hidden = folds.length === 0;
    replace(body, ...content(folds, crossValidation, iterationsHeading(job)));
  });
}

/**
 * @param {Fold[]} folds @param {CrossValidation | null} crossValidation
 * @param {string} word heading of the column of best iterations
 */
function content(folds, crossValidation, word) {
  const names = [...new Set(folds.flatMap(({ metrics }) => Object.keys(metrics)))].filter((name) => name !== LOSS);
  const heads = ["Fold", numberHeads("Queries", word, ...names)];
  return [
    scrollRegion("Metrics by fold", [
      h("table", [
        tableHead(...heads),
        h("tbody", ...bodyRows(heads, folds, (fold) => cells(fold, names))),
        crossValidation && h("tfoot", ...bodyRows(heads, summaryCells(crossValidation, names), (row) => row)),
      ]),
    ]),
    hint(...notes(crossValidation, word.toLowerCase())),
  ];
}

/** @param {Fold} fold @param {string[]} names */
function cells({ fold: name, queries, best_iteration: bestIteration, metrics }, names) {
  return [
    h("span.name", { title: name }, name),
    count(queries),
    count(bestIteration),
    ...names.map((each) => metric(metrics[each])),
  ];
}

/** Return the contents of the rows of means. @param {CrossValidation} crossValidation @param {string[]} names */
function summaryCells({ metrics, queries, cross_validation: folds }, names) {
  const { best_iteration: bestIteration, over_folds: overFolds } = folds;
  /** @param {MeanInterval | null | undefined} summary */
  const mean = (summary) => [h("strong", metric(summary?.mean)), " ", h("small", intervalLabel(summary))];
  return [
    ["All queries", count(queries), count(bestIteration), ...names.map((name) => mean(metrics[name]))],
    ["Mean over folds", "", "", ...names.map((name) => mean(overFolds[name]))],
  ];
}

/** @param {CrossValidation | null} crossValidation @param {string} word of several iterations @returns {Child[]} */
function notes(crossValidation, word) {
  if (!crossValidation) return ["Latest values. Each fold is evaluated by a model that was not trained on it."];
  const ranking = crossValidation.cross_validation.ranking_id;
  return [
    "Each query is evaluated by a model that was not trained on it. 95% intervals over queries, and over folds by Student's t.",
    ` The number of ${word} was chosen on the same fold, so the values are slightly optimistic. The final model has the median number of ${word}.`,
    ranking && " ",
    ranking && h("a", { href: rankingPage(ranking) }, "Ranking by folds"),
  ];
}
