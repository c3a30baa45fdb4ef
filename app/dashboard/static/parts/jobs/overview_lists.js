/**
 * The lists of the overview: what went wrong, which models are in use, who works.
 * @module
 */
import { jobPage, modelPage } from "../page/addresses.js";
import { h } from "../page/dom.js";
import { counted, metric, timeElement } from "../page/format.js";

/** @param {import("./job_labels.js").Job[]} jobs */
export function failureList(jobs) {
  if (!jobs.length) return h("p", { class: "hint" }, "Nothing has failed.");
  const entry = (job) =>
    h(
      "li",
      {},
      h("a", { class: "job-title quiet-link", href: jobPage(job.id) }, job.title),
      h("p", { class: "reason" }, job.problem?.detail || job.problem?.title || "No reason is on record."),
      h("p", { class: "job-meta" }, job.kind_label, " · ", timeElement(job.finished_at || job.created_at)),
    );
  return h("ul", { class: "plain-list" }, ...jobs.map(entry));
}

/** @param {{name: string, version: number, alias: string, updated_at: string, metrics: Record<string, number> | null}[]} aliases */
export function championList(aliases) {
  if (!aliases.length) return h("p", { class: "hint" }, "No model has the alias champion yet. Give it to the version of a model that is in use, on the page of that model.");
  const entry = ({ name, version, updated_at: moved, metrics }) => {
    const [main] = Object.entries(metrics || {});
    return h(
      "li",
      { class: "champion" },
      h("a", { class: "job-title quiet-link", href: modelPage(`${name}:${version}`) }, `${name}:${version}`),
      main ? h("span", { class: "job-figure" }, h("strong", {}, metric(main[1])), h("small", {}, `${main[0]} test`)) : h("span", { class: "hint" }, "not tested"),
      h("p", { class: "job-meta" }, "made champion ", timeElement(moved)),
    );
  };
  return h("ul", { class: "plain-list" }, ...aliases.map(entry));
}

/** @param {{name: string, lane: string, processes: number, started_at: string, jobs: {id: string, kind_label: string, worker: string, started_at: string}[]}[]} workers */
export function workerList(workers) {
  if (!workers.length) {
    return h("p", { class: "problem", role: "status" }, h("strong", {}, "No worker is there"), h("span", {}, "Jobs wait until one starts: ", h("code", {}, "rankery worker"), " on this or another machine."));
  }
  return h("ul", { class: "plain-list" }, ...workers.map(worker));
}

function worker({ name, lane, processes, started_at: started, jobs }) {
  const free = processes - jobs.length;
  return h(
    "li",
    { class: "worker", "data-worker": name },
    h("p", {}, h("strong", {}, lane === "training" ? "Trainings" : "Short jobs"), " ", h("code", {}, name)),
    h("p", { class: "job-meta" }, counted(processes, "job"), " at a time · started ", timeElement(started)),
    ...jobs.map(({ id, kind_label: label, worker: process, started_at: began }) =>
      h("p", {}, h("a", { href: jobPage(id), title: `In the process ${process}` }, label), " begun ", timeElement(began)),
    ),
    free > 0 && h("p", { class: "hint" }, jobs.length ? `${free} more can run` : "waits for work"),
  );
}
