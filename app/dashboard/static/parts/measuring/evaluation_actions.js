/**
 * Where one goes from an evaluation: its model, its job, a comparison, and files.
 * @module
 */
import { get } from "../page/api.js";
import { compareWith, datasetApi, evaluationApi, modelPage, rankingApi, rankingPage } from "../page/addresses.js";
import { h } from "../page/dom.js";

/** @param {any} evaluation */
export function evaluationActions(evaluation) {
  const { id, job_id: job, model_id: model, ranking_id: ranking, dataset_id: dataset } = evaluation;
  const files = h("div", { class: "menu-items" }, file(evaluationApi(id), "Evaluation (JSON)", `${id}.json`), file(datasetApi(dataset, "/qrels"), "Judgments (TREC qrels)", `${dataset}.qrels`));
  const compared = ranking || evaluation.system;
  if (ranking) offer(files, ranking);
  else if (job) offerOfJob(files, job);
  return h(
    "div",
    { class: "actions" },
    h("a", { class: "button", href: compareWith([compared], dataset) }, "Compare"),
    model && h("a", { class: "button quiet", href: modelPage(model) }, "Model"),
    job && h("a", { class: "button quiet", href: `/jobs/${encodeURIComponent(job)}` }, "Job"),
    h("details", { class: "menu" }, h("summary", { class: "button quiet" }, "Download"), files),
  );
}

function file(href, words, name) {
  return h("a", { href, download: name }, words);
}

function offer(files, ranking) {
  const address = (format) => rankingApi(ranking, `?format=${format}`);
  files.prepend(h("a", { href: rankingPage(ranking) }, "Open the ranking"), file(address("trec"), "Ranking (TREC run)", `${ranking}.run`), file(address("parquet"), "Ranking (Parquet)", `${ranking}.parquet`));
}

/** The ranking that a model made while it was evaluated; a job that is gone took the knowledge along. */
async function offerOfJob(files, job) {
  const { result } = await get(`/v1/jobs/${encodeURIComponent(job)}`).catch(() => ({}));
  if (result?.ranking_id) offer(files, result.ranking_id);
}
