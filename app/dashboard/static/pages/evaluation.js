/**
 * `/evaluations/{id}`: how good a model or ranking is, beside what needs no training, by segment and by query.
 * @module
 */
import { get, Problem } from "../parts/page/api.js";
import { datasetPage, decoded, evaluationApi } from "../parts/page/addresses.js";
import { contractWords } from "../parts/forms/contract_labels.js";
import { cutoffPanel } from "../parts/measuring/cutoff_panel.js";
import { diagnosticsPanel } from "../parts/measuring/diagnostics_list.js";
import { h, replace } from "../parts/page/dom.js";
import { evaluationActions } from "../parts/measuring/evaluation_actions.js";
import { resultFindings } from "../parts/datasets/findings.js";
import { timeElement } from "../parts/page/format.js";
import { failureBox } from "../parts/page/loaded.js";
import { metricNumbers } from "../parts/measuring/metric_numbers.js";
import { metricTabs } from "../parts/measuring/metric_tabs.js";
import { showMissing } from "../parts/page/missing_page.js";
import { datasetName } from "../parts/page/names.js";
import { queryValues } from "../parts/measuring/query_values.js";
import { whiskers } from "../parts/figures/whiskers.js";

const id = decoded(location.pathname.split("/")[2]);
const place = document.getElementById("evaluation");

open();

async function open() {
  try {
    draw(await get(evaluationApi(id)));
  } catch (error) {
    if (error instanceof Problem && error.status < 500) {
      showMissing(place, error, { title: "There is no such evaluation", sentence: `No evaluation has the id ${id}.`, href: "/evaluations", action: "All evaluations" });
    } else replace(place, failureBox(error, open));
  } finally {
    place.removeAttribute("aria-busy");
  }
}

function draw(evaluation) {
  const { system, dataset_id: dataset, created_at: created, metrics, diagnostics, findings } = evaluation;
  const names = Object.keys(metrics);
  document.title = `${system} · Rankery`;
  replace(
    place,
    h("div", { class: "page-head" }, h("h1", {}, system, h("span", { class: "kind" }, " on "), h("a", { class: "quiet-link", href: datasetPage(dataset) }, datasetName(dataset))), evaluationActions(evaluation)),
    h("p", { class: "job-meta" }, "Evaluation · ", timeElement(created), " · ", h("code", {}, id)),
    resultFindings(findings),
    ...byMetric(evaluation, names),
    cutoffPanel(evaluation),
    metricNumbers(evaluation),
    diagnostics && diagnosticsPanel(diagnostics),
    queryValues(evaluationApi(id, "/queries"), dataset, names),
  );
}

/** The figures that show one metric, chosen for all of them. */
function byMetric(evaluation, names) {
  const figures = [againstBaselines(evaluation), evaluation.slices?.length && bySlice(evaluation)].filter(Boolean);
  const panels = figures.map(({ title, draw }) => {
    const tabs = metricTabs(names, choose, `Metric of ${title}`);
    const body = h("div", {});
    return { tabs, body, draw, node: h("section", { class: "panel" }, h("div", { class: "panel-head" }, h("h2", {}, title), tabs.node), body) };
  });
  function choose(name) {
    for (const { tabs, body, draw } of panels) {
      tabs.show(name);
      replace(body, ...draw(name));
    }
  }
  choose(names[0]);
  return panels.map(({ node }) => node);
}

function againstBaselines({ system, metrics, baselines }) {
  const row = (name, interval, rest) => ({ name, interval, ...rest });
  return {
    title: baselines?.length ? "Compared with baselines" : "Mean over the queries",
    draw: (metric) => [
      whiskers(`${metric} with 95% intervals`, [
        {
          rows: [
            row(system, metrics[metric], { main: true }),
            ...[...(baselines || [])].sort(byMean(metric, metrics[metric])).map((each) => row(each.name, each.metrics[metric], { detail: each.detail })),
          ],
        },
      ]),
      h("p", { class: "hint" }, [!metrics[metric].higher_is_better && "lower is better", contractWords(metrics[metric].contract)].filter(Boolean).join(" · ")),
    ],
  };
}

/** The best first. */
function byMean(metric, { higher_is_better: higher }) {
  const worth = ({ metrics }) => (higher ? 1 : -1) * (metrics[metric]?.mean ?? Number.NaN);
  return (one, other) => worth(other) - worth(one);
}

function bySlice({ metrics, slices }) {
  const kinds = [...new Set(slices.map(({ by }) => by))];
  const rows = (by, metric) => slices.filter((slice) => slice.by === by).map((slice) => ({ name: slice.value || "(empty)", queries: slice.queries, interval: slice.metrics[metric] }));
  return {
    title: "By segment",
    draw: (metric) => [
      whiskers(`${metric} by segment`, kinds.map((by) => ({ name: by, rows: rows(by, metric) })), { reference: metrics[metric].mean, counted: true }),
      h("p", { class: "hint" }, "The dashed line is the mean over all queries."),
    ],
  };
}
