/**
 * The three views of a dataset that is ready, chosen by the address: overview, #features, #queries.
 * @module
 */
import { datasetPage, decoded } from "../page/addresses.js";
import { distributions } from "./distributions.js";
import { h, setAttribute } from "../page/dom.js";
import { featureTable, readFeatures } from "./feature_table.js";
import { findingsPanel } from "./findings.js";
import { count } from "../page/format.js";
import { loaded } from "../page/loaded.js";
import { queryColumns } from "./query_columns.js";
import { queryList } from "./query_list.js";
import { tiles } from "../figures/tiles.js";

/** @param {any} dataset @returns {Node[]} */
export function datasetViews(dataset) {
  const { id, statistics } = dataset;
  const views = [
    { name: "", label: "Overview", fill: overview },
    { name: "features", label: "Features", number: statistics.features, fill: features },
    { name: "queries", label: "Queries", number: statistics.queries, fill: queries },
  ].map((view) => ({
    ...view,
    link: h("a", { href: datasetPage(id, view.name) }, view.label, view.number && h("small", {}, " ", count(view.number))),
    node: h("div", { class: "view", "data-view": view.name || "overview", hidden: true }),
  }));

  function show() {
    const { name, value } = asked();
    const current = views.find((view) => view.name === name) || views[0];
    for (const view of views) {
      setAttribute(view.link, "aria-current", view === current && "page");
      view.node.hidden = view !== current;
    }
    if (!current.node.hasChildNodes() || value) current.fill(current.node, dataset, value);
  }

  // A link to the overview has no #, which alone would load the page anew.
  views[0].link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    history.pushState(null, "", location.pathname);
    show();
  });
  addEventListener("hashchange", show);
  addEventListener("popstate", show);
  show();
  return [h("nav", { class: "views", "aria-label": "Views of the dataset" }, ...views.map((view) => view.link)), ...views.map((view) => view.node)];
}

/** "#features=f12" is the view of features, narrowed to f12. */
function asked() {
  const [name, value = ""] = location.hash.slice(1).split("=", 2);
  return { name, value: decoded(value) };
}

/** Keeps what is searched for in the address without a step in the history. */
function remember(view, value) {
  history.replaceState(null, "", value ? `#${view}=${encodeURIComponent(value)}` : `#${view}`);
}

function overview(place, { id, statistics, findings }) {
  const columns = statistics.query_columns || {};
  const words = { heading: "Findings", nothing: "No query, document or feature gave reason for a word." };
  place.append(
    tiles(statistics),
    ...(findings ? [findingsPanel(findings, () => id, words)] : []),
    distributions(statistics),
    ...(Object.keys(columns).length ? [queryColumns(columns)] : []),
  );
}

function features(place, { id, statistics }, wanted) {
  const search = (name) => remember("features", name);
  loaded(place, async () => [featureTable(await readFeatures(id), statistics.documents, wanted, search)]);
}

function queries(place, dataset, wanted) {
  place.replaceChildren(queryList(dataset, wanted, (prefix) => remember("queries", prefix)));
}
