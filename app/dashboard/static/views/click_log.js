/**
 * `/click-logs/{id}`: one click log: its findings and counts, what can be done with it, and what was done.
 * @module
 */
import { followForms } from "../clicks/forms.js";
import { actionsPanel, logSource, logTiles, periodLabel, ranksPanel, statisticsOf } from "../clicks/log.js";
import { jobPanels } from "../clicks/log_jobs.js";
import { findingsPanel } from "../datasets/findings.js";
import { progressBar } from "../figures/marks.js";
import { confirmedDeleteButton } from "../lifecycle/confirmed_deletion.js";
import { openAfterDeletion, trashed, trashLabel } from "../lifecycle/undo.js";
import { clickLogApi, jobPage, pageObject } from "../page/addresses.js";
import { conditionalReader } from "../page/api.js";
import { showMissing } from "../page/content.js";
import { announce, elementById, h, panel, problemBox, replace, statusBadge } from "../page/dom.js";
import { timeElement } from "../page/format.js";
import { poll } from "../page/poll.js";

/** @typedef {Schemas["ClickLog"]} ClickLog */

/** What can be done with a log: the form, its button and what comes of it. @type {[string, string, string][]} */
const STEPS = [
  ["models", "Estimate click models", "How users examine and click, compared on held-out users."],
  ["propensities", "Estimate propensities", "How often each rank is examined, with intervals."],
  ["judge", "Make judgments", "A dataset whose labels are grades out of the clicks."],
  ["train", "Train on the clicks", "A model without the position bias, beside the naive one."],
  ["estimate", "Evaluate new rankings", "What users would have clicked on rankings that they never saw."],
];

const id = pageObject();
const place = elementById("click-log");
const read = conditionalReader();
const readJob = conditionalReader();
const bar = progressBar();
/** @type {ClickLog | null} */
let shown = null;

followForms(id);
poll(refresh, (problem) =>
  showMissing(place, problem, {
    title: "There is no such click log",
    sentence: `No click log has the id ${id}.`,
    href: "/click-logs",
    action: "All click logs",
  }),
);

async function refresh() {
  const log = await read(clickLogApi(id));
  if (log !== shown) draw(log);
  if (log.status === "pending" && log.job_id) bar.update(await readJob(`/v1/jobs/${encodeURIComponent(log.job_id)}`));
  return log.status === "pending";
}

/** @param {ClickLog} log */
function draw(log) {
  const { name, status } = log;
  if (shown && shown.status !== status) announce(`Click log ${name} is ${status}.`);
  shown = log;
  document.title = `${name} · Rankery`;
  place.removeAttribute("aria-busy");
  place.dataset.status = status;
  replace(
    place,
    h(
      "div",
      { class: "page-head" },
      h("div", { class: "job-heading" }, h("h1", {}, name), statusBadge(status)),
      h(
        "div",
        { class: "actions" },
        log.job_id && h("a", { class: "button quiet", href: jobPage(log.job_id) }, "Job"),
        status !== "pending" && deleteButton(log),
      ),
    ),
    h("p", { class: "job-meta" }, logSource(log), " · ", timeElement(log.created_at), " · ", h("code", {}, id)),
    ...contents(log),
  );
}

/** @param {ClickLog} log @returns {Child[]} */
function contents(log) {
  const statistics = statisticsOf(log);
  if (log.status === "pending")
    return [bar.node, h("p", { class: "hint" }, "Its findings and counts appear here as soon as it has been read.")];
  if (log.problem) return [faults(log.problem)];
  if (!statistics) return [];
  const period = periodLabel(statistics);
  const words = { heading: "Findings", nothing: "No rank, query or user gave reason for a word." };
  return [
    logTiles(statistics),
    period.length > 0 && h("p", { class: "hint" }, "Lists were shown ", ...period, "."),
    findingsPanel(log.findings ?? [], () => false, words),
    ranksPanel(statistics),
    actionsPanel(log),
    steps(),
    ...jobPanels(id),
  ];
}

/** @param {NonNullable<ClickLog["problem"]>} problem */
function faults(problem) {
  const box = problemBox(problem);
  const errors = problem.errors ?? [];
  if (errors.length > 1)
    box.append(
      h(
        "ul",
        {},
        ...errors.map(({ line, column, detail }) =>
          h("li", {}, [line !== null && `line ${line}`, column, detail].filter(Boolean).join(", ")),
        ),
      ),
    );
  box.append(h("p", {}, h("a", { href: "/click-logs#add" }, "Upload it again with other options")));
  return box;
}

function steps() {
  return panel(
    "What to do with it",
    h(
      "ul",
      { class: "next-steps" },
      ...STEPS.map(([form, words, detail]) =>
        h("li", {}, h("p", { class: "hint" }, detail), h("a", { class: "button small", href: `#${form}` }, words)),
      ),
    ),
  );
}

/** @param {ClickLog} log */
function deleteButton({ name }) {
  return confirmedDeleteButton(name, clickLogApi(id), `${trashLabel()} What was learnt from it stays.`, () =>
    openAfterDeletion("/click-logs", trashed(`${name} deleted.`, [id])),
  );
}
