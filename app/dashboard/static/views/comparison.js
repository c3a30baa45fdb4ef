/**
 * `/comparisons/{id}`: verdicts of all pairs of systems, the queries that changed, and both rankings of a query.
 * @module
 */
import { headingOn } from "../datasets/dataset.js";
import { resultFindings } from "../datasets/findings.js";
import { queryName } from "../datasets/queries.js";
import { comparedQuery } from "../evaluation/compared_documents.js";
import { cutoffPanel } from "../evaluation/cutoffs.js";
import { MAX_BANDS } from "../jobs/labels.js";
import { contractLabel, metricTabs, presetLabel } from "../evaluation/metrics.js";
import { queryTable } from "../evaluation/query_table.js";
import { differencePlot, differenceTable, signed, verdictChip } from "../evaluation/verdict.js";
import { verdictMatrix } from "../evaluation/verdict_matrix.js";
import { whiskers } from "../figures/whiskers.js";
import { deleteButton } from "../lifecycle/deletion.js";
import {
  comparisonFormPage,
  comparisonApi,
  hashValue,
  jobPage,
  modelPage,
  pageObjectId,
  setHashValues,
} from "../page/paths.js";
import { get } from "../page/api.js";
import { helpLink, loadInto, openObject } from "../page/content.js";
import { elementById, findAll, h, replace, setAttribute } from "../page/dom.js";
import { dataTable, disclosure, hint, metaLine, numberHeads } from "../page/parts.js";
import { count, counted, metric as fourDigits, timeElement, joined } from "../page/format.js";

/** @typedef {Schemas["Comparison"]} Comparison */
/** @typedef {Schemas["Pair"]} Pair */
/** @typedef {{pair: Pair, metric: string, query: string}} Chosen */

/**
 * Show the queries that gain and lose most; each opens its two rankings.
 * @param {Pair} pair @param {[string, string]} names @param {(queryId: string) => void} open
 * @returns {{node: HTMLElement, show: (queryId: string) => void}}
 */
function changedQueries({ most_improved: improved, most_harmed: harmed }, names, open) {
  const node = h("div.columns.changed", [
    changedTable("Most improved", improved, names, open),
    changedTable("Most harmed", harmed, names, open),
  ]);
  return {
    node,
    show(queryId) {
      for (const button of findAll(node, "button[value]", HTMLButtonElement))
        setAttribute(button, "aria-pressed", String(button.value === queryId));
    },
  };
}

/**
 * @param {string} title @param {Schemas["ChangedQuery"][]} queries @param {[string, string]} names
 * @param {(queryId: string) => void} open
 */
function changedTable(title, queries, names, open) {
  if (!queries.length) return h("section", h("h3", title), hint("No query."));
  const systems = names.map((name) => h("span.name", { title: name }, name));
  const heads = ["Query", numberHeads(...systems, "Difference")];
  const kind = title === "Most improved" ? "gained" : "lost";
  const table = dataTable(`Queries: ${title.toLowerCase()}`, heads, queries, ({ a, b, difference, ...query }) => [
    queryButton(query, open),
    fourDigits(a),
    fourDigits(b),
    h("td.number", { "data-kind": kind }, signed(difference)),
  ]);
  return h("section", h("h3", title), table);
}

/** @param {{query_id: string, query_text?: string | null}} query @param {(queryId: string) => void} open */
function queryButton(query, open) {
  const { query_id: id } = query;
  return queryName(query, (words) => h("button.link", { value: id, click: () => open(id) }, words));
}

/**
 * Return all queries by their difference, the worst for B first.
 * @param {Comparison} comparison @param {Pair} pair @param {string} metric @param {(queryId: string) => void} open
 */
function everyQuery({ id, systems }, pair, metric, open) {
  const higherIsBetter = systems[pair.a].metrics[metric].higher_is_better;
  /** @param {Schemas["ComparedQuery"]} row */
  const values = (row) => [pair.a, pair.b].map((system) => row.values[metric][system]);
  const difference = (/** @type {Schemas["ComparedQuery"]} */ row) => {
    const [a, b] = values(row);
    return a === null || b === null ? null : b - a;
  };
  const words = (/** @type {number | null} */ value) => (value === null ? "–" : signed(value));
  /** @param {number} index @returns {(row: Schemas["ComparedQuery"]) => number | null} */
  const valueAt = (index) => (row) => values(row)[index];
  const columns = [
    { label: "Difference", sort: "difference", higherIsBetter, value: difference, words },
    { label: systems[pair.a].name, sort: "a", higherIsBetter, value: valueAt(0) },
    { label: systems[pair.b].name, sort: "b", higherIsBetter, value: valueAt(1) },
  ];
  const parameters = { a: String(pair.a), b: String(pair.b), metric };
  const query = (/** @type {Schemas["ComparedQuery"]} */ row) => queryButton(row, open);
  return queryTable({ path: comparisonApi(id, "/queries"), parameters, query, columns });
}

/**
 * One pair of a comparison: conclusion, tests, changed queries, and the moved documents of one query.
 * @param {Comparison} comparison @param {Pair} pair @param {{metric: string, query: string}} shown
 * @param {{choose: (metric: string) => void, open: (queryId: string) => void}} callbacks of the user's choices
 */
function pairView(comparison, pair, { metric, query }, { choose, open }) {
  /** @type {[string, string]} */
  const names = [comparison.systems[pair.a].name, comparison.systems[pair.b].name];
  const plot = h("div.plot-place");
  const tabs = metricTabs(comparison.metrics, showPlot, "Metric of the differences");
  const changed = changedQueries(pair, names, showQuery);
  const both = comparedQuery(comparison, showQuery);
  const every = h("div.rows");
  const folded = disclosure("Every query", every);
  let current = metric;

  /** @param {string} name */
  function showPlot(name) {
    current = name;
    tabs.show(name);
    choose(name);
    loadInto(plot, async () => [await differencesPlot(comparison, pair, name, names)]);
    replace(every);
    fillEvery();
  }

  function fillEvery() {
    if (folded.open && !every.hasChildNodes()) replace(every, ...everyQuery(comparison, pair, current, showQuery));
  }

  folded.addEventListener("toggle", fillEvery);

  /** @param {string} queryId @param {boolean} [byUser] */
  function showQuery(queryId, byUser = true) {
    changed.show(queryId);
    open(queryId);
    both.show(queryId, pair, current).then(() => byUser && both.node.scrollIntoView({ block: "nearest" }));
  }

  showPlot(metric);
  if (query) showQuery(query, false);
  return [
    h("section.panel", [
      h("div.panel-head", h("h2", "Tests"), helpLink("concepts/comparisons/", "Comparisons")),
      differenceTable(comparison, [pair]),
    ]),
    h("section.panel.query-values", h("div.panel-head", h("h2", "Query by query"), tabs.node), plot, folded),
    h("section.panel", [
      h("h2", "Queries that changed most ", h("small", `by ${comparison.metrics[0]}`)),
      changed.node,
      both.node,
    ]),
  ];
}

/** @param {Comparison} comparison @param {Pair} pair @param {string} metric @param {[string, string]} names */
async function differencesPlot({ id, systems }, pair, metric, names) {
  const outcome = pair.metrics[metric];
  if (!outcome) return hint(`${metric} is undefined on every query for at least one of the systems.`);
  const values = new URLSearchParams({ a: String(pair.a), b: String(pair.b), metric });
  const { differences } = await get(comparisonApi(id, `/differences?${values}`));
  return differencePlot(differences, outcome, {
    metric,
    higherIsBetter: systems[pair.a].metrics[metric].higher_is_better,
    names,
  });
}

const id = pageObjectId();
const container = elementById("comparison");

openObject(container, async () => draw(await get(comparisonApi(id))), { noun: "comparison", id, list: "/comparisons" });

/** @param {Comparison} comparison */
function draw(comparison) {
  const { systems, pairs, dataset_id: dataset, job_id: job, created_at: created } = comparison;
  const title = systems.length === 2 ? `${systems[1].name} against ${systems[0].name}` : `${systems.length} systems`;
  const below = h("div.pair");
  const matrix = pairs.length > 1 ? verdictMatrix(comparison, choosePair) : null;
  const means = meansOf(comparison, (metric) => matrix?.show(metric, current.pair));
  const current = chosen(comparison);
  const cutoffs = cutoffPanel(
    "Bands are the 95% intervals of each system; the tests decide whether two systems differ.",
  );
  cutoffs.update(systems.slice(0, MAX_BANDS));
  document.title = `${title} · Rankery`;

  /** Show a pair, and keep the chosen metric and query if possible. @param {Pair} pair */
  function choosePair(pair) {
    if (pair !== current.pair) current.query = "";
    current.pair = pair;
    remember(current);
    if (matrix) matrix.show(means.metric(), pair);
    const callbacks = {
      choose: (/** @type {string} */ metric) => remember(Object.assign(current, { metric })),
      open: (/** @type {string} */ query) => remember(Object.assign(current, { query })),
    };
    replace(below, pairs.length > 1 && pairHead(comparison, pair), ...pairView(comparison, pair, current, callbacks));
  }

  const newComparison = comparisonFormPage(
    systems.map((system) => (system.ranking_id && !system.model_id ? system.ranking_id : system.name)),
    dataset,
  );
  replace(container, [
    h("div.page-head", [
      headingOn(title, "on", dataset),
      h("div.actions", [
        h("a.button.quiet", { href: newComparison }, "New comparison"),
        h("a.button.quiet", { href: jobPage(job) }, "Job"),
        deleteButton("comparisons", id),
      ]),
    ]),
    metaLine("Comparison", timeElement(created), h("code", id)),
    finding(comparison),
    resultFindings(systems.flatMap((system) => system.findings || [])),
    means.node,
    cutoffs.node,
    matrix &&
      h("section.panel", [
        h("div.panel-head", h("h2", "Every pair"), hint("Select a pair to show it below.")),
        matrix.node,
        allTests(comparison),
      ]),
    below,
  ]);
  choosePair(current.pair);
}

/** Return the finding: its sentence, the test and the conventions. @param {Comparison} comparison */
function finding({ sentence, pairs, metrics, permutations, seed, contract, correction, pool_folds: pooled }) {
  const verdict = pairs.length === 1 ? pairs[0].verdict : undefined;
  const over = pairs.length > 1 || metrics.length > 1 ? " over all pairs and metrics" : "";
  const corrected =
    correction === "none" ? "without correction for the number of tests" : `after Holm's correction${over}`;
  const folds = pooled ? " Each query is ranked by a model of a cross-validation that has not seen it." : "";
  return h("section.finding-panel", { "data-verdict": verdict || "several", "aria-label": "Conclusion" }, [
    verdict && verdictChip(verdict),
    h("p.sentence", sentence),
    hint(
      `Decided by ${metrics[0]}: Fisher's randomisation test with ${count(permutations)} permutations, seed ${seed}, at 0.05 ${corrected}.${folds}`,
    ),
    hint(`${presetLabel(contract).replace(/^./, (letter) => letter.toUpperCase())}: ${contractLabel(contract)}.`),
  ]);
}

/** @param {Comparison} comparison @param {Pair} pair */
function pairHead({ systems }, pair) {
  return h(
    "section.finding-panel",
    { "data-verdict": pair.verdict, "aria-label": "Conclusion of the pair", "aria-live": "polite" },
    [
      h("h2", `${systems[pair.b].name} against ${systems[pair.a].name} `, verdictChip(pair.verdict)),
      h("p.sentence", pair.sentence),
    ],
  );
}

/**
 * Return the panel of the systems' means by one metric, which the user chooses in the panel.
 * @param {Comparison} comparison @param {(metric: string) => void} chosen
 */
function meansOf({ systems, metrics }, chosen) {
  const tabs = metricTabs(metrics, show, "Metric of the means");
  const body = h("div");
  let current = metrics[0];
  /** @param {Schemas["ComparedSystem"]} system */
  const name = (system) => (system.model_id ? h("a", { href: modelPage(system.model_id) }, system.name) : system.name);

  /** @param {string} metric */
  function show(metric) {
    current = metric;
    tabs.show(metric);
    const rows = systems.map((system) => ({ name: name(system), interval: system.metrics[metric] }));
    const { higher_is_better: higher, skipped, queries } = systems[0].metrics[metric];
    const isShared = systems.every((system) => system.metrics[metric].queries === queries);
    const measured = `${counted(queries, "query", "queries")}${skipped ? `, ${count(skipped)} skipped` : ""}`;
    const words = [
      `Means over ${isShared ? measured : "the queries on which each system has a value"}, with the 95% interval of each system.`,
      !higher && "Lower is better.",
      "The tests, which compare query by query, decide whether two systems differ.",
    ];
    replace(body, whiskers(`${metric} with 95% intervals`, [{ rows }]), hint(joined(words)));
    chosen(metric);
  }

  tabs.show(current);
  queueMicrotask(() => show(current));
  return { node: h("section.panel", h("div.panel-head", h("h2", "Systems"), tabs.node), body), metric: () => current };
}

/** @param {Comparison} comparison */
function allTests(comparison) {
  const container = h("div");
  const folded = disclosure("Tests of all pairs and metrics", container);
  folded.addEventListener(
    "toggle",
    () => folded.open && !container.hasChildNodes() && container.append(differenceTable(comparison, comparison.pairs)),
  );
  return folded;
}

/** Return the pair, metric and query of the URL, if they exist. @param {Comparison} comparison @returns {Chosen} */
function chosen({ pairs, metrics }) {
  const metric = hashValue("metric") ?? "";
  return {
    pair: pairs.find(({ a, b }) => `${a}-${b}` === hashValue("pair")) || pairs[0],
    metric: metrics.includes(metric) ? metric : metrics[0],
    query: hashValue("query") || "",
  };
}

/** Keep the choice in the URL, without a history entry. @param {Chosen} chosen */
function remember({ pair, metric, query }) {
  setHashValues({ pair: `${pair.a}-${pair.b}`, metric, query });
}
