/**
 * Trainings row by row: where their settings differ, and their metrics with the best of each marked.
 * @module
 */
import { jobPage } from "../page/addresses.js";
import { h, replace } from "../page/dom.js";
import { metric } from "../page/format.js";
import { LOSS } from "./job_labels.js";
import { sortableTable } from "../lists/sortable_table.js";
import { plainName, shown } from "./specification.js";

// What metrics are measured on, where it says most first.
const PARTS = ["test", "validation", "train"];

const TRAINING = { label: "Training", value: ({ name }) => name, cell: ({ job, name }) => h("a", { href: jobPage(job.id) }, name) };
const STATUS = { label: "Status", value: ({ job }) => job.status, cell: ({ job }) => h("span", { class: "status", "data-status": job.status }, job.status) };

/**
 * @param {import("../lists/sortable_table.js").Order | null} order
 * @param {(order: import("../lists/sortable_table.js").Order) => void} sorted
 * @returns {{node: HTMLElement, update: (jobs: any[], names: Map<string, string>, settings: import("./compared_settings.js").Setting[], lowerIsBetter: Set<string>) => void}}
 */
export function comparedTable(order, sorted) {
  const node = h("section", { class: "panel compared", "aria-labelledby": "compared-title" });
  let table = null;
  let known = "";

  function update(jobs, names, settings, lowerIsBetter) {
    const part = PARTS.find((each) => jobs.some(({ metrics }) => metrics?.[each]));
    const measured = metricsOf(jobs, part);
    const state = JSON.stringify([part, measured, settings.map(({ name }) => name)]);
    if (state !== known) {
      known = state;
      const columns = [TRAINING, ...measured.map(metricColumn), ...settings.map(settingColumn), STATUS];
      table = sortableTable(columns, { label: "Trainings compared", order: table?.order() ?? order });
      table.node.addEventListener("click", () => table.order() && sorted(table.order()));
      replace(node, h("h2", { id: "compared-title" }, "Results and settings"), table.node, h("p", { class: "hint" }, footnote(settings, part)));
    }
    const best = Object.fromEntries(measured.map((name) => [name, bestOf(jobs, part, name, lowerIsBetter.has(name))]));
    table.show(jobs.map((job) => ({ job, name: names.get(job.id), metrics: job.metrics?.[part] || {}, best })));
  }
  return { node, update };
}

function settingColumn({ name, values }) {
  const known = [...values.values()].filter((value) => value !== undefined);
  const number = known.every((value) => typeof value === "number");
  const value = ({ job }) => values.get(job.id) ?? null;
  return { key: name, label: plainName(name), number, value: (row) => (number ? value(row) : value(row) && String(value(row))), cell: (row) => (value(row) === null ? "–" : shown(name, value(row), row.job)) };
}

function metricColumn(name) {
  const cell = ({ metrics, best }) => {
    const value = metrics[name];
    const winner = typeof value === "number" && value === best[name];
    return winner ? [h("strong", { class: "best" }, metric(value)), h("span", { class: "visually-hidden" }, " (best)")] : metric(value);
  };
  return { label: name, number: true, value: ({ metrics }) => metrics[name] ?? null, cell };
}

function metricsOf(jobs, part) {
  return [...new Set(jobs.flatMap(({ metrics }) => Object.keys(metrics?.[part] || {})))].filter((name) => name !== LOSS);
}

/** The best value, null where there is nothing to be better than. */
function bestOf(jobs, part, name, lower) {
  const values = jobs.map(({ metrics }) => metrics?.[part]?.[name]).filter((value) => typeof value === "number");
  if (values.length < 2) return null;
  return lower ? Math.min(...values) : Math.max(...values);
}

function footnote(settings, part) {
  const same = settings.length ? "All other settings are the same." : "Their settings are the same.";
  return part ? `${same} Metrics are those on the ${part} data; which differences are real, the comparison query by query tells.` : same;
}
