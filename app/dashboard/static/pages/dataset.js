/**
 * `/datasets/{id}`: what is in a dataset and what is to be said about it; how its reading goes; or why it failed.
 * @module
 */
import { conditionalReader } from "../parts/page/api.js";
import { datasetApi, datasetPage, decoded } from "../parts/page/addresses.js";
import { datasetActions } from "../parts/datasets/dataset_actions.js";
import { datasetViews } from "../parts/datasets/dataset_views.js";
import { PARTS, sourceWords } from "../parts/datasets/dataset_labels.js";
import { announce, h, problemBox, replace } from "../parts/page/dom.js";
import { timeElement } from "../parts/page/format.js";
import { showMissing } from "../parts/page/missing_page.js";
import { poll } from "../parts/page/poll.js";
import { problemTable } from "../parts/datasets/problem_table.js";
import { progressBar } from "../parts/figures/progress_bar.js";

const id = decoded(location.pathname.split("/")[2]);
const place = document.getElementById("dataset");
const read = conditionalReader();
const readJob = conditionalReader();
let shown = null;
let bar = null;

poll(refresh, (problem) =>
  showMissing(place, problem, { title: "There is no such dataset", sentence: `No dataset has the id ${id}.`, href: "/datasets", action: "All datasets" }),
);

async function refresh() {
  const dataset = await read(datasetApi(id));
  if (dataset !== shown) draw(dataset);
  if (dataset.status === "pending" && dataset.job_id) bar.update(await readJob(`/v1/jobs/${encodeURIComponent(dataset.job_id)}`));
  return dataset.status === "pending";
}

function draw(dataset) {
  const { name, status, parts } = dataset;
  if (shown && shown.status !== status) announce(`Dataset ${name} is ${status}.`);
  shown = dataset;
  document.title = `${name} · Rankery`;
  place.removeAttribute("aria-busy");
  place.dataset.status = status;
  replace(
    place,
    h(
      "div",
      { class: "page-head" },
      h("div", { class: "job-heading" }, h("h1", {}, name), h("span", { class: "status", "data-status": status }, status)),
      datasetActions(dataset, () => location.assign("/datasets")),
    ),
    h("p", { class: "job-meta" }, sourceWords(dataset), " · ", timeElement(dataset.created_at), status === "ready" && measured(), " · ", h("code", {}, id)),
    parts && siblings(parts),
    ...contents(dataset),
  );
}

function contents(dataset) {
  if (dataset.status === "ready") return datasetViews(dataset);
  if (dataset.status === "pending") {
    bar ??= progressBar();
    return [bar.node, h("p", { class: "hint" }, "Its findings and statistics appear here as soon as it has been read.")];
  }
  const { problem } = dataset;
  return [problem?.errors?.length ? problemTable(problem) : problem && problemBox(problem)];
}

/** What was measured on it, and what ranks its queries. */
function measured() {
  const of = new URLSearchParams({ dataset_id: id });
  return [" · ", h("a", { href: `/evaluations?${of}` }, "Evaluations"), " · ", h("a", { href: `/rankings?${of}` }, "Rankings")];
}

/** The datasets that came in the same upload. */
function siblings(parts) {
  const link = (part) => h("a", { href: datasetPage(parts[part]), "aria-current": parts[part] === id && "page" }, part);
  return h("nav", { class: "tabs small siblings", "aria-label": "Datasets of this upload" }, h("span", {}, "One upload:"), ...PARTS.filter((part) => parts[part]).map(link));
}
