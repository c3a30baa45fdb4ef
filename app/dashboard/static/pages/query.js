/**
 * `/datasets/{id}/queries/{query_id}`: one query's documents, their labels and features.
 * @module
 */
import { get, Problem } from "../parts/page/api.js";
import { datasetApi, datasetPage, decoded } from "../parts/page/addresses.js";
import { documentTable } from "../parts/datasets/document_table.js";
import { h, replace, setText } from "../parts/page/dom.js";
import { readFeatures } from "../parts/datasets/feature_table.js";
import { count, short } from "../parts/page/format.js";
import { failureBox } from "../parts/page/loaded.js";
import { showMissing } from "../parts/page/missing_page.js";

const PAGE = 100;
const [, , encodedId, , ...rest] = location.pathname.split("/");
const id = decoded(encodedId);
const queryId = decoded(rest.join("/"));
const place = document.getElementById("query");

document.getElementById("back").href = datasetPage(id, "queries");
document.title = `Query ${queryId} · Rankery`;
open();

async function open() {
  try {
    const [dataset, query, profiles] = await Promise.all([get(datasetApi(id)), readDocuments(0), readFeatures(id)]);
    setText(document.getElementById("back"), dataset.name);
    draw(dataset, query, profiles);
  } catch (error) {
    refuse(error);
  } finally {
    place.removeAttribute("aria-busy");
  }
}

function refuse(error) {
  if (error instanceof Problem && error.status < 500) {
    const href = datasetPage(id, "queries");
    showMissing(place, error, { title: "There is no such query", sentence: error.message, href, action: "All queries of the dataset" });
  } else replace(place, failureBox(error, open));
}

function readDocuments(offset) {
  return get(datasetApi(id, `/queries/${encodeURIComponent(queryId)}?offset=${offset}&limit=${PAGE}`));
}

function draw({ statistics }, query, profiles) {
  const documents = [...query.documents];
  const weighted = documents.some(({ weight }) => typeof weight === "number");
  const table = documentTable(query.feature_names, telling(profiles), { largestLabel: statistics.label_range?.maximum, weighted });
  const more = h("button", { type: "button", class: "quiet small", click: readMore }, "Show more");
  const below = h("div", {}, more);

  async function readMore() {
    more.disabled = true;
    try {
      documents.push(...(await readDocuments(documents.length)).documents);
      replace(below, more);
      show();
    } catch (error) {
      replace(below, failureBox(error, readMore));
    } finally {
      more.disabled = false;
    }
  }

  function show() {
    table.show(documents);
    more.hidden = documents.length >= query.total;
    setText(more, `Show more (${count(query.total - documents.length)} left)`);
  }

  const heading = h("h1", { class: "query-id" }, h("span", { class: "kind" }, "Query "), queryId);
  replace(place, h("div", { class: "page-head" }, heading), facts(query), h("div", { class: "panel" }, table.node, below));
  show();
}

/** The names of the features, those first that rank best by themselves. */
function telling(profiles) {
  const worth = ({ ndcg_at_10: value }) => value ?? -1;
  return [...profiles].sort((one, other) => worth(other) - worth(one)).map(({ name }) => name);
}

function facts({ total, weight, columns }) {
  const known = [["documents", count(total)], typeof weight === "number" && ["weight", short(weight)], ...Object.entries(columns || {})].filter(Boolean);
  return h("dl", { class: "figures" }, ...known.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}
