/** The part of a job's page that shows a result about clicks, by kind of job. @module */
import { bars, tileList } from "../figures/marks.js";
import { byRank, rankLines } from "../figures/rank_lines.js";
import { whiskers } from "../figures/whiskers.js";
import { clickLogPage, datasetPage } from "../page/paths.js";
import { h, replace } from "../page/dom.js";
import { dataTable, hint, livePart, numberHeads } from "../page/parts.js";
import { count, counted, fixed, percent } from "../page/format.js";
import { clickModelResult, fittedModel } from "./click_models.js";
import { counterfactualResult } from "./counterfactual.js";

/** @typedef {(result: any, job: Job) => Child[]} ResultView */

/** @type {Record<string, ResultView>} */ const RESULTS = {
  "click-model": clickModelResult,
  judge: judgmentResult,
  propensity: propensityResult,
  "simulate-clicks": simulationResult,
  counterfactual: counterfactualResult,
};

/** Return the result of a job about clicks, hidden until there is one. */
export function clickResult() {
  const node = h("div.click-result", { hidden: true });
  const resultOf = (/** @type {Job} */ { result }) => result;
  return livePart(node, resultOf, (result, job) => {
    const show = RESULTS[job.kind] ?? naiveComparison;
    const content = result ? show(result, job) : [];
    node.hidden = content.length === 0;
    replace(node, ...content, logLink(job));
  });
}

/** @param {Job} job */
function logLink({ spec, result }) {
  const createdLog = /** @type {{click_log_id?: string} | null} */ (result)?.click_log_id;
  const clicks = /** @type {{log?: string} | null | undefined} */ (spec.clicks);
  const id = createdLog ?? spec.click_log_id ?? clicks?.log;
  return id && h("p", h("a", { href: clickLogPage(String(id)) }, "Click log"));
}

/** @param {JudgmentResult} result @returns {Child[]} */
function judgmentResult({ dataset_id: dataset, judgments, click_model: model, agreement }) {
  const { judged, left_out: leftOut, cuts, by_grade: grades, certain_share: certain } = judgments;
  /** @param {number} grade @returns {Child} */
  const gradeLabel = (grade) =>
    h("span", [
      `Grade ${grade}`,
      h("small", grade ? ` above ${fixed(cuts[grade - 1], 4)}` : " up to the first threshold"),
    ]);
  return [
    h("p.sentence", [
      `${counted(judged, "query-document pair")} judged; for ${percent(certain, 1)}, both ends of the relevance interval have the same grade.`,
    ]),
    leftOut > 0 && hint(`${counted(leftOut, "pair")} with too few impressions were not graded.`),
    h("p", h("a.button.primary", { href: datasetPage(dataset) }, "Dataset of the judgments")),
    bars(
      "Pairs by grade, with the relevance threshold of each grade",
      grades.map((number, grade) => [gradeLabel(grade), number]),
    ),
    agreement && agreementPart(agreement),
    fittedModel(model),
  ];
}

/** @param {Agreement} agreement */
function agreementPart({ pairs, kappa, weighted_kappa: weighted, queries, ...tau }) {
  const { kendall_tau: kendall, kendall_lower: lower, kendall_upper: upper } = tau;
  const interval = lower === null || upper === null ? "" : `${fixed(lower, 3)} to ${fixed(upper, 3)}`;
  const number = (/** @type {number | null} */ value) => (value === null ? "–" : fixed(value, 3));
  return h("section.rows", { "aria-label": "Agreement with judgments" }, [
    h("h3", "Agreement with the judged dataset"),
    tileList([
      ["Pairs in both", count(pairs)],
      ["Cohen's kappa", number(kappa), "1 means identical grades"],
      ["Weighted kappa", number(weighted), "quadratic weights"],
      ["Kendall's tau", number(kendall), interval || `over ${counted(queries, "query", "queries")}`],
    ]),
  ]);
}

/** @param {PropensityResult} result @returns {Child[]} */
function propensityResult({ method, propensities, lower, upper, impressions, pairs, units, sentence, ...rest }) {
  const { intercepts, intercepts_lower: interceptLower, intercepts_upper: interceptUpper } = rest;
  /** @param {number} index @param {number[] | null} [from] @param {number[] | null} [to] */
  const interval = (index, from = lower, to = upper) =>
    from && to ? `${fixed(from[index], 3)} to ${fixed(to[index], 3)}` : "–";
  const interceptHeads = intercepts ? ["Click on irrelevant document", "95% interval"] : [];
  const heads = numberHeads("Rank", "Propensity", "95% interval", ...interceptHeads, "Impressions used");
  /** @param {number} value @param {number} index */
  const cells = (value, index) => [
    h("td.number", count(index + 1)),
    fixed(value, 4),
    interval(index),
    ...(intercepts ? [fixed(intercepts[index], 4), interval(index, interceptLower, interceptUpper)] : []),
    count(impressions[index]),
  ];
  return [
    h("p.sentence", sentence),
    rankLines([{ name: method, points: byRank(propensities, lower, upper) }], {
      caption: intercepts
        ? `Increase in clicks due to relevance at each rank, relative to rank 1, by ${method}`
        : `How often each rank is examined, relative to rank 1, by ${method}`,
      axis: "Rank",
      summary: `Propensities: ${rankSummary(propensities)}.`,
      include: [0, 1],
    }),
    intercepts &&
      rankLines([{ name: "intercept", points: byRank(intercepts, interceptLower, interceptUpper) }], {
        caption: "Probability of a click on an irrelevant document",
        axis: "Rank",
        summary: `Intercepts: ${rankSummary(intercepts)}.`,
        include: [0],
      }),
    dataTable("Propensities", heads, propensities, cells, { class: "click-table" }),
    hint(
      `Estimated from ${counted(pairs, "query-document pair")}. Intervals are bootstrapped over ${units}.`,
      rest.failed_resamples > 0 && ` ${counted(rest.failed_resamples, "resample")} had too few clicks.`,
    ),
  ];
}

/** @param {{truth: {propensities: number[], examination: number[]}}} result @returns {Child[]} */
function simulationResult({ truth: { propensities } }) {
  return [
    propensityLine("True propensities", propensities),
    hint("Compare propensities estimated from this log with these true values."),
  ];
}

/** @param {string} name @param {number[]} propensities by rank */
function propensityLine(name, propensities) {
  return rankLines([{ name, points: byRank(propensities) }], {
    caption: `${name}: how often each rank is examined, relative to rank 1`,
    axis: "Rank",
    summary: `${name}: ${rankSummary(propensities)}.`,
    include: [0, 1],
  });
}

/** @param {number[]} values by rank */
const rankSummary = (values) => values.map((value, index) => `rank ${index + 1} ${fixed(value, 3)}`).join(", ");

/** @typedef {{metric: string, data: string | null, corrected: number | null, naive: number | null, sentence: string}} NaiveComparison */

/**
 * Compare the corrected model with the naive model of a training on clicks, and show the learnt propensities.
 * @param {{naive?: NaiveComparison, propensities?: number[]}} result @returns {Child[]}
 */
function naiveComparison({ naive, propensities }) {
  if (!naive) return [];
  const withoutInterval = (/** @type {number | null} */ mean) => ({ mean, lower: null, upper: null });
  return [
    h("h3", "Correction of position bias"),
    h("p.sentence", naive.sentence),
    naive.corrected !== null &&
      whiskers(`${naive.metric}, corrected and naive`, [
        {
          rows: [
            { name: "corrected", detail: "this model", main: true, interval: withoutInterval(naive.corrected) },
            { name: "naive", detail: "the same clicks, without correction", interval: withoutInterval(naive.naive) },
          ],
        },
      ]),
    propensities && propensityLine("Learnt propensities", propensities),
    propensities &&
      hint(
        "Values at the end of the training. Without randomised ranks, only judgments or live experiments can confirm them.",
      ),
  ];
}
