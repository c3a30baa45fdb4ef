/** `/evaluations/{id}`: the metrics of a model or ranking compared with baselines, by segment and by query. @module */
import { headingOn } from "../datasets/dataset.js";
import { resultFindings } from "../datasets/findings.js";
import { queryName } from "../datasets/queries.js";
import { clickEstimates } from "../evaluation/click_estimates.js";
import { diagnosticsPanel } from "../evaluation/diagnostics.js";
import { cutoffPanel } from "../evaluation/cutoffs.js";
import { contractLabel, metricTabs, presetLabel } from "../evaluation/metrics.js";
import { queryTable } from "../evaluation/query_table.js";
import { intervalLabel, whiskers } from "../figures/whiskers.js";
import { deleteButton } from "../lifecycle/deletion.js";
import {
  comparisonFormPage,
  datasetApi,
  evaluationApi,
  hashValue,
  jobApi,
  jobPage,
  modelPage,
  pageObjectId,
  queryPage,
  rankingApi,
  rankingPage,
  setHashValues,
} from "../page/paths.js";
import { get } from "../page/api.js";
import { helpLink, openObject } from "../page/content.js";
import { elementById, h, replace } from "../page/dom.js";
import { dataTable, downloadMenu, factList, fileLink, hint, metaLine, numberHeads } from "../page/parts.js";
import { count, metric, timeElement, joined } from "../page/format.js";

/** @param {Evaluation} evaluation */
function evaluationActions(evaluation) {
  const { id, job_id: job, model_id: model, ranking_id: ranking, dataset_id: dataset } = evaluation;
  const files = h("div.menu-items", [
    fileLink(evaluationApi(id), "Evaluation (JSON)", `${id}.json`),
    fileLink(datasetApi(dataset, "/qrels"), "Judgments (TREC qrels)", `${dataset}.qrels`),
  ]);
  const compared = ranking || evaluation.system;
  if (ranking) offerRanking(files, ranking);
  else if (job) offerRankingOfJob(files, job);
  return h("div.actions", [
    h("a.button", { href: comparisonFormPage([compared], dataset) }, "Compare"),
    model && h("a.button.quiet", { href: modelPage(model) }, "Model"),
    job && h("a.button.quiet", { href: jobPage(job) }, "Job"),
    downloadMenu(files),
    deleteButton("evaluations", id),
  ]);
}

/** @param {HTMLElement} files @param {string} ranking */
function offerRanking(files, ranking) {
  const address = (/** @type {string} */ format) => rankingApi(ranking, `?format=${format}`);
  files.prepend(
    h("a", { href: rankingPage(ranking) }, "Open the ranking"),
    fileLink(address("trec"), "Ranking (TREC run)", `${ranking}.run`),
    fileLink(address("parquet"), "Ranking (Parquet)", `${ranking}.parquet`),
  );
}

/** Offer the ranking of the evaluated model, unless the job is gone. @param {HTMLElement} files @param {string} job */
async function offerRankingOfJob(files, job) {
  const evaluated = await get(jobApi(job)).catch(() => null);
  const ranking = evaluated?.result?.ranking_id;
  if (ranking) offerRanking(files, ranking);
}

const QUANTILES = [
  ["p05", "5%"],
  ["p25", "25%"],
  ["p50", "Median"],
  ["p75", "75%"],
  ["p95", "95%"],
];

/** @param {Evaluation} evaluation */
function metricNumbers({ metrics, contract }) {
  const numbers = numberHeads("Mean", "95% interval", ...QUANTILES.map(([, words]) => words), "Queries", "Left out");
  return h("section.panel.numbers", [
    h("div.panel-head", h("h2", "Numbers"), helpLink("concepts/metrics/", "Metrics")),
    dataTable("Numbers", ["Metric", numbers], Object.entries(metrics), ([name, summary]) => [
      [name, !summary.higher_is_better && h("span.tag.plain", "lower is better")],
      h("strong", metric(summary.mean)),
      intervalLabel(summary),
      ...QUANTILES.map(([key]) => metric(summary.quantiles?.[key])),
      count(summary.queries),
      count(summary.skipped),
    ]),
    h("h3", "Metric definitions ", contract && h("small", presetLabel(contract))),
    factList("conventions", conventionEntries(metrics)),
  ]);
}

/** Describe the conventions of metrics; metrics with the same conventions share an entry. @param {Evaluation["metrics"]} metrics */
function conventionEntries(metrics) {
  /** @type {Map<string, string[]>} */ const together = new Map();
  for (const [name, { contract }] of Object.entries(metrics)) {
    const words = contractLabel(contract) || "needs no convention";
    together.set(words, [...(together.get(words) || []), name]);
  }
  return [...together].map(([words, same]) => /** @type {const} */ ([same.join(", "), words]));
}

/** Show the metrics of each query, the worst first; the URL keeps the filters. @param {Evaluation} evaluation */
function queryValues({ id, dataset_id: dataset, metrics }) {
  /** @param {Schemas["QueryValues"]} row */
  const query = (row) => queryName(row, (words) => h("a", { href: queryPage(dataset, row.query_id) }, words));
  const columns = Object.entries(metrics).map(([name, { higher_is_better: higherIsBetter }]) => ({
    label: name,
    sort: name,
    higherIsBetter,
    value: (/** @type {Schemas["QueryValues"]} */ { values }) => values[name],
  }));
  const selection = Object.fromEntries(
    ["sort", "order", "min", "max", "segment"].map((name) => [name, hashValue(name) ?? ""]),
  );
  const table = queryTable({ path: evaluationApi(id, "/queries"), query, columns, selection, changed: setHashValues });
  return h("section.panel.query-values.rows", h("h2", "Queries"), ...table);
}

const id = pageObjectId();
const container = elementById("evaluation");

openObject(container, async () => draw(await get(evaluationApi(id))), { noun: "evaluation", id, list: "/evaluations" });

/** @param {Evaluation} evaluation */
function draw(evaluation) {
  const { system, dataset_id: dataset, created_at: created, metrics, diagnostics, findings } = evaluation;
  const names = Object.keys(metrics);
  document.title = `${system} · Rankery`;
  replace(container, [
    h("div.page-head", headingOn(system, "on", dataset), evaluationActions(evaluation)),
    metaLine("Evaluation", timeElement(created), h("code", id)),
    resultFindings(findings),
    ...byMetric(evaluation, names),
    byCutoff(evaluation),
    metricNumbers(evaluation),
    clickEstimates(evaluation),
    diagnostics && diagnosticsPanel(diagnostics),
    queryValues(evaluation),
  ]);
}

/** Draw the metrics against their cutoffs, with the baselines. @param {Evaluation} evaluation */
function byCutoff({ system, metrics, baselines }) {
  const panel = cutoffPanel("The band is the 95% interval; dashed lines are baselines.");
  const others = (baselines ?? []).map(({ name, metrics: means }) => ({ name, metrics: means, baseline: true }));
  panel.update([{ name: system, metrics }, ...others]);
  return panel.node;
}

/** @typedef {{title: string, draw: (metric: string) => Child[]}} Figure */

/** Return the panels of figures that show one metric, which the user chooses for all of them. @param {Evaluation} evaluation @param {string[]} names */
function byMetric(evaluation, names) {
  const { slices } = evaluation;
  const figures = [againstBaselines(evaluation), ...(slices?.length ? [bySegment(evaluation, slices)] : [])];
  const panels = figures.map(({ title, draw }) => {
    const tabs = metricTabs(names, choose, `Metric of ${title}`);
    const body = h("div");
    return { tabs, body, draw, node: h("section.panel", h("div.panel-head", h("h2", title), tabs.node), body) };
  });
  /** @param {string} name */
  function choose(name) {
    for (const { tabs, body, draw } of panels) {
      tabs.show(name);
      replace(body, ...draw(name));
    }
  }
  choose(names[0]);
  return panels.map(({ node }) => node);
}

/** @param {Evaluation} evaluation @returns {Figure} */
function againstBaselines({ system, metrics, baselines }) {
  /** @param {string} name @param {MeanInterval} interval @param {{main?: boolean, detail?: string}} rest */
  const row = (name, interval, rest) => ({ name, interval, ...rest });
  return {
    title: baselines?.length ? "Compared with baselines" : "Mean over the queries",
    draw: (metric) => [
      whiskers(`${metric} with 95% intervals`, [
        {
          rows: [
            row(system, metrics[metric], { main: true }),
            ...[...(baselines || [])]
              .sort(byMean(metric, metrics[metric]))
              .map((each) => row(each.name, each.metrics[metric], { detail: each.detail })),
          ],
        },
      ]),
      hint(
        joined(
          [!metrics[metric].higher_is_better && "lower is better", contractLabel(metrics[metric].contract)],
          " · ",
        ),
      ),
    ],
  };
}

/**
 * Return a sort function that puts the best baseline first.
 * @param {string} metric @param {{higher_is_better: boolean}} summary
 */
function byMean(metric, { higher_is_better: higher }) {
  /** @param {Schemas["Baseline"]} baseline */
  const worth = ({ metrics }) => (higher ? 1 : -1) * (metrics[metric]?.mean ?? Number.NaN);
  return (/** @type {Schemas["Baseline"]} */ one, /** @type {Schemas["Baseline"]} */ other) =>
    worth(other) - worth(one);
}

/** @param {Evaluation} evaluation @param {Schemas["Slice"][]} slices @returns {Figure} */
function bySegment({ metrics }, slices) {
  const kinds = [...new Set(slices.map(({ by }) => by))];
  /** @param {string} by @param {string} metric */
  const rows = (by, metric) =>
    slices
      .filter((slice) => slice.by === by)
      .map((slice) => ({ name: slice.value || "(empty)", queries: slice.queries, interval: slice.metrics[metric] }));
  return {
    title: "By segment",
    draw: (metric) => [
      whiskers(
        `${metric} by segment`,
        kinds.map((by) => ({ name: by, rows: rows(by, metric) })),
        { reference: metrics[metric].mean, counted: true },
      ),
      hint("The dashed line is the mean over all queries."),
    ],
  };
}
