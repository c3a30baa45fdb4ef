/**
 * `/rankings/{id}`: the queries of a ranking, and the documents of one of them: #query=q7&prefix=q.
 * @module
 */
import { get, Problem } from "../parts/page/api.js";
import { keep, kept, subject } from "../parts/page/address.js";
import { compareWith, datasetApi, datasetPage, modelPage, rankingApi } from "../parts/page/addresses.js";
import { emptyState, h, replace } from "../parts/page/dom.js";
import { resultFindings } from "../parts/datasets/findings.js";
import { failureBox } from "../parts/page/loaded.js";
import { showMissing } from "../parts/page/missing_page.js";
import { datasetName } from "../parts/page/names.js";
import { queryList } from "../parts/datasets/query_list.js";
import { rankedQuery } from "../parts/measuring/ranked_query.js";

const id = subject();
const place = document.getElementById("ranking");

open();

async function open() {
  try {
    const ranking = await get(rankingApi(id, "?limit=1"));
    draw(ranking, await datasetOf(ranking));
  } catch (error) {
    if (error instanceof Problem && error.status < 500) {
      showMissing(place, error, { title: "There is no such ranking", sentence: `No ranking has the id ${id}.`, href: "/rankings", action: "All rankings" });
    } else replace(place, failureBox(error, open));
  } finally {
    place.removeAttribute("aria-busy");
  }
}

/** A ranking outlives its dataset, whose queries and features are then gone. */
async function datasetOf({ dataset_id: dataset }) {
  try {
    return await get(datasetApi(dataset));
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return null;
    throw error;
  }
}

function draw(ranking, dataset) {
  const { system, model_id: model, dataset_id: datasetId, findings } = ranking;
  const view = rankedQuery(ranking, dataset);
  const address = (queryId) => `#${new URLSearchParams({ query: queryId })}`;
  const queries = dataset ? queryList(dataset, kept("prefix") ?? "", (prefix) => keep({ prefix }), address) : emptyState("Its dataset is gone", "The ranking can still be downloaded.");
  document.title = `${system} · Rankery`;
  replace(
    place,
    h("div", { class: "page-head" }, h("h1", {}, system, h("span", { class: "kind" }, " ranks "), h("a", { class: "quiet-link", href: datasetPage(datasetId) }, datasetName(datasetId))), actions(ranking)),
    h("p", { class: "job-meta" }, model ? ["Ranking of ", h("a", { href: modelPage(model) }, "a model")] : "Uploaded run", " · ", h("code", {}, id)),
    resultFindings(findings),
    view.node,
    h("section", { class: "panel ranking-queries" }, h("h2", {}, "Queries"), queries),
  );
  const show = () => view.show(kept("query") ?? ranking.items[0].query_id, Boolean(kept("query")));
  addEventListener("hashchange", show);
  show();
}

function actions({ dataset_id: dataset }) {
  const file = (format, words) => h("a", { href: rankingApi(id, `?format=${format}`), download: "" }, words);
  return h(
    "div",
    { class: "actions" },
    h("a", { class: "button", href: `/evaluations?${new URLSearchParams({ model: id, dataset_id: dataset })}#evaluate` }, "Evaluate"),
    h("a", { class: "button quiet", href: compareWith([id], dataset) }, "Compare"),
    h("a", { class: "button quiet", href: `/evaluations?${new URLSearchParams({ ranking_id: id })}` }, "Evaluations"),
    h("details", { class: "menu" }, h("summary", { class: "button quiet" }, "Download"), h("div", { class: "menu-items" }, file("trec", "TREC run"), file("parquet", "Parquet"))),
  );
}
