/**
 * One pair of a comparison: what may be said, the tests, the queries that changed, and what moved in one of them.
 * @module
 */
import { get } from "../page/api.js";
import { comparisonApi } from "../page/addresses.js";
import { changedQueries } from "./changed_queries.js";
import { comparedQuery } from "./compared_query.js";
import { differencePlot } from "./difference_plot.js";
import { differenceTable } from "./difference_table.js";
import { h } from "../page/dom.js";
import { loaded } from "../page/loaded.js";
import { metricTabs } from "./metric_tabs.js";

/**
 * @param {any} comparison
 * @param {any} pair
 * @param {{metric: string, query: string}} shown
 * @param {{choose: (metric: string) => void, open: (queryId: string) => void}} told when the user chooses
 * @returns {Node[]}
 */
export function pairView(comparison, pair, { metric, query }, { choose, open }) {
  const names = [comparison.systems[pair.a].name, comparison.systems[pair.b].name];
  const plot = h("div", { class: "plot-place" });
  const tabs = metricTabs(comparison.metrics, showPlot, "Metric of the differences");
  const changed = changedQueries(pair, names, showQuery);
  const both = comparedQuery(comparison, showQuery);
  let current = metric;

  function showPlot(name) {
    current = name;
    tabs.show(name);
    choose(name);
    loaded(plot, async () => [await drawn(comparison, pair, name, names)]);
  }

  function showQuery(queryId, byUser = true) {
    changed.show(queryId);
    open(queryId);
    both.show(queryId, pair, current).then(() => byUser && both.node.scrollIntoView({ block: "nearest", behavior: "smooth" }));
  }

  showPlot(metric);
  if (query) showQuery(query, false);
  return [
    h("section", { class: "panel" }, h("h2", {}, "Tests"), differenceTable(comparison, [pair])),
    h("section", { class: "panel" }, h("div", { class: "panel-head" }, h("h2", {}, "Query by query"), tabs.node), plot),
    h("section", { class: "panel" }, h("h2", {}, "Queries that changed most ", h("small", {}, `by ${comparison.metrics[0]}`)), changed.node, both.node),
  ];
}

async function drawn({ id, systems }, pair, metric, names) {
  const found = pair.metrics[metric];
  if (!found) return h("p", { class: "hint" }, `No query defines ${metric} for both.`);
  const values = new URLSearchParams({ a: pair.a, b: pair.b, metric });
  const { differences } = await get(comparisonApi(id, `/differences?${values}`));
  return differencePlot(differences, found, { metric, higherIsBetter: systems[pair.a].metrics[metric].higher_is_better, names });
}
