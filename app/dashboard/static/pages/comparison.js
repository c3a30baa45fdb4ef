/**
 * `/comparisons/{id}`: which system is better, how sure that is, on which queries, and what moved in them.
 * The address keeps what is looked at: #pair=0-1&metric=map&query=q7.
 * @module
 */
import { get, Problem } from "../parts/page/api.js";
import { compareWith, comparisonApi, datasetPage, decoded, modelPage } from "../parts/page/addresses.js";
import { contractWords, presetWords } from "../parts/forms/contract_labels.js";
import { differenceTable } from "../parts/measuring/difference_table.js";
import { h, replace } from "../parts/page/dom.js";
import { count, timeElement } from "../parts/page/format.js";
import { resultFindings } from "../parts/datasets/findings.js";
import { failureBox } from "../parts/page/loaded.js";
import { metricTabs } from "../parts/measuring/metric_tabs.js";
import { showMissing } from "../parts/page/missing_page.js";
import { datasetName } from "../parts/page/names.js";
import { pairView } from "../parts/measuring/pair_view.js";
import { verdictChip } from "../parts/measuring/verdict.js";
import { verdictMatrix } from "../parts/measuring/verdict_matrix.js";
import { whiskers } from "../parts/figures/whiskers.js";

const id = decoded(location.pathname.split("/")[2]);
const place = document.getElementById("comparison");

open();

async function open() {
  try {
    draw(await get(comparisonApi(id)));
  } catch (error) {
    if (error instanceof Problem && error.status < 500) {
      showMissing(place, error, { title: "There is no such comparison", sentence: `No comparison has the id ${id}.`, href: "/comparisons", action: "All comparisons" });
    } else replace(place, failureBox(error, open));
  } finally {
    place.removeAttribute("aria-busy");
  }
}

function draw(comparison) {
  const { systems, pairs, dataset_id: dataset, job_id: job, created_at: created } = comparison;
  const title = systems.length === 2 ? `${systems[1].name} against ${systems[0].name}` : `${systems.length} systems`;
  const below = h("div", { class: "pair" });
  const matrix = pairs.length > 1 ? verdictMatrix(comparison, choosePair) : null;
  const means = meansOf(comparison, (metric) => matrix?.show(metric, current.pair));
  const current = chosen(comparison);
  document.title = `${title} · Rankery`;

  /** Shows a pair anew; what is looked at in it stays where it can. */
  function choosePair(pair) {
    if (pair !== current.pair) current.query = "";
    current.pair = pair;
    remember(current);
    if (matrix) matrix.show(means.metric(), pair);
    const told = {
      choose: (metric) => remember(Object.assign(current, { metric })),
      open: (query) => remember(Object.assign(current, { query })),
    };
    replace(below, pairs.length > 1 && pairHead(comparison, pair), ...pairView(comparison, pair, current, told));
  }

  const again = compareWith(systems.map((system) => (system.model_id ? system.name : system.ranking_id)), dataset);
  replace(
    place,
    h(
      "div",
      { class: "page-head" },
      h("h1", {}, title, h("span", { class: "kind" }, " on "), h("a", { class: "quiet-link", href: datasetPage(dataset) }, datasetName(dataset))),
      h("div", { class: "actions" }, h("a", { class: "button quiet", href: again }, "Compare anew"), h("a", { class: "button quiet", href: `/jobs/${encodeURIComponent(job)}` }, "Job")),
    ),
    h("p", { class: "job-meta" }, "Comparison · ", timeElement(created), " · ", h("code", {}, id)),
    finding(comparison),
    resultFindings(systems.flatMap((system) => system.findings || [])),
    means.node,
    matrix && h("section", { class: "panel" }, h("div", { class: "panel-head" }, h("h2", {}, "Every pair"), h("p", { class: "hint" }, "Press one to see it below.")), matrix.node, allTests(comparison)),
    below,
  );
  choosePair(current.pair);
}

/** The sentence that a reader came for, and what it rests on. */
function finding({ sentence, pairs, metrics, permutations, seed, contract }) {
  const verdict = pairs.length === 1 ? pairs[0].verdict : undefined;
  return h(
    "section",
    { class: "finding-panel", "data-verdict": verdict || "several", "aria-label": "What was found" },
    verdict && verdictChip(verdict),
    h("p", { class: "sentence" }, sentence),
    h("p", { class: "hint" }, `Decided by ${metrics[0]}: Fisher's randomisation test with ${count(permutations)} permutations, seed ${seed}, at 0.05 after Holm's correction${pairs.length > 1 || metrics.length > 1 ? " over all pairs and metrics" : ""}.`),
    h("p", { class: "hint" }, `${presetWords(contract).replace(/^./, (letter) => letter.toUpperCase())}: ${contractWords(contract)}.`),
  );
}

function pairHead({ systems }, pair) {
  return h(
    "section",
    { class: "finding-panel", "data-verdict": pair.verdict, "aria-label": "What was found of the pair", "aria-live": "polite" },
    h("h2", {}, `${systems[pair.b].name} against ${systems[pair.a].name} `, verdictChip(pair.verdict)),
    h("p", { class: "sentence" }, pair.sentence),
  );
}

/** The systems' means by one metric, chosen here. */
function meansOf({ systems, metrics }, chosen) {
  const tabs = metricTabs(metrics, show, "Metric of the means");
  const body = h("div", {});
  let current = metrics[0];
  const name = (system) => (system.model_id ? h("a", { class: "quiet-link", href: modelPage(system.model_id) }, system.name) : system.name);

  function show(metric) {
    current = metric;
    tabs.show(metric);
    const rows = systems.map((system) => ({ name: name(system), interval: system.metrics[metric] }));
    const { higher_is_better: higher, skipped, queries } = systems[0].metrics[metric];
    const words = [`Means over ${count(queries)} queries${skipped ? `, ${count(skipped)} left out` : ""}, 95% intervals of each by itself.`, !higher && "Lower is better.", "Whether two differ is told by the tests, which set query against query."];
    replace(body, whiskers(`${metric} with 95% intervals`, [{ rows }]), h("p", { class: "hint" }, words.filter(Boolean).join(" ")));
    chosen(metric);
  }

  tabs.show(current);
  queueMicrotask(() => show(current));
  return { node: h("section", { class: "panel" }, h("div", { class: "panel-head" }, h("h2", {}, "Systems"), tabs.node), body), metric: () => current };
}

function allTests(comparison) {
  const place = h("div", {});
  const folded = h("details", { class: "more" }, h("summary", {}, "Tests of all pairs and metrics"), place);
  folded.addEventListener("toggle", () => folded.open && !place.hasChildNodes() && place.append(differenceTable(comparison, comparison.pairs)));
  return folded;
}

/** What the address asks for, where there is such a thing. */
function chosen({ pairs, metrics }) {
  const asked = new URLSearchParams(location.hash.slice(1));
  const metric = asked.get("metric");
  return {
    pair: pairs.find(({ a, b }) => `${a}-${b}` === asked.get("pair")) || pairs[0],
    metric: metrics.includes(metric) ? metric : metrics[0],
    query: asked.get("query") || "",
  };
}

/** Keeps it in the address without a step in the history. */
function remember({ pair, metric, query }) {
  const values = new URLSearchParams({ pair: `${pair.a}-${pair.b}`, metric });
  if (query) values.set("query", query);
  history.replaceState(null, "", `#${values}`);
}
