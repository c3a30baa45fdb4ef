/**
 * The metrics of a job: the latest of each part, and the test's with its 95% interval.
 * @module
 */
import { h, replace } from "../page/dom.js";
import { count, lossValue, metric } from "../page/format.js";
import { isActive, LOSS } from "./job_labels.js";

const PARTS = [
  ["train", "Train"],
  ["validation", "Validation"],
  ["test", "Test"],
];

/** @returns {{node: HTMLElement, update: (job: import("./job_labels.js").Job, evaluation: any) => void}} */
export function metricsTable() {
  const body = h("div", {}, h("p", { class: "hint" }, "Reading the metrics…"));
  const node = h("section", { class: "metrics", "aria-label": "Metrics" }, h("h3", {}, "Metrics"), body);
  let shown = "";
  return {
    node,
    update(job, evaluation) {
      const state = JSON.stringify([job.metrics, evaluation?.id, job.status]);
      if (state === shown) return;
      shown = state;
      replace(body, ...content(job, evaluation));
    },
  };
}

function content(job, evaluation) {
  const metrics = job.metrics || {};
  const intervals = evaluation?.metrics || {};
  const parts = PARTS.filter(([part]) => metrics[part] && !(part === "test" && evaluation));
  const known = new Set([...parts.flatMap(([part]) => Object.keys(metrics[part])), ...Object.keys(intervals)]);
  known.delete(LOSS);
  if (known.size === 0) {
    return [h("p", { class: "hint" }, isActive(job) ? "No metrics yet." : "No metrics were recorded.")];
  }
  const asked = (job.spec?.metrics || []).filter((name) => known.has(name));
  const names = [...new Set([...asked, ...known])];
  const head = ["Metric", ...parts.map(([, label]) => label), ...(evaluation ? [`${job.kind === "train" ? "Test" : "Mean"}, 95% interval`] : [])];
  return [
    h(
      "div",
      { class: "scroll" },
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, ...head.map((label, index) => h("th", { scope: "col", class: index && "number" }, label)))),
        h("tbody", {}, ...names.map((name) => row(name, parts, metrics, evaluation && intervals[name], Boolean(evaluation)))),
      ),
    ),
    footnote(job, intervals, names),
    trainingLoss(job),
  ];
}

function row(name, parts, metrics, summary, tested) {
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, name),
    ...parts.map(([part]) => h("td", { class: "number" }, metric(metrics[part][name]))),
    tested && h("td", { class: "number tested" }, h("strong", {}, metric(summary?.mean)), interval(summary)),
  );
}

function interval(summary) {
  const known = typeof summary?.lower === "number" && typeof summary?.upper === "number";
  return known && h("small", {}, `${metric(summary.lower)} – ${metric(summary.upper)}`);
}

function footnote(job, intervals, names) {
  const summary = intervals[names.find((name) => intervals[name])];
  const skipped = summary?.skipped ? `; ${count(summary.skipped)} without a relevant document were skipped` : "";
  const sentences = [
    job.kind === "train" && job.status === "succeeded" && "Train and validation at the best iteration.",
    summary && `${job.kind === "train" ? "Test mean" : "Mean"} over ${count(summary.queries)} queries, bootstrap interval${skipped}.`,
  ];
  const words = sentences.filter(Boolean).join(" ");
  return words && h("p", { class: "hint" }, words);
}

/** The one value that no other part has a counterpart of. */
function trainingLoss(job) {
  const value = job.metrics?.train?.[LOSS];
  if (typeof value !== "number") return null;
  const when = job.status === "succeeded" ? "at the best iteration" : "at the last measurement";
  return h("p", { class: "hint" }, `Training loss ${when}: `, h("span", { class: "training-loss" }, lossValue(value)));
}
