/** `/click-logs/{id}`: one click log: its findings and counts, the jobs that can use it, and their results. @module */
import { jobPanels } from "../clicks/log_jobs.js";
import { bindForms } from "../clicks/forms.js";
import { actionsPanel, logSource, logTiles, periodLabel, ranksPanel } from "../clicks/log.js";
import { findingsPanel } from "../datasets/findings.js";
import { progressBar } from "../figures/marks.js";
import { confirmedDeleteButton } from "../lifecycle/confirmed_deletion.js";
import { trashLabel } from "../lifecycle/undo.js";
import { clickLogApi, jobApi, jobPage, pageObjectId } from "../page/paths.js";
import { conditionalReader } from "../page/api.js";
import { showMissing } from "../page/content.js";
import { announce, elementById, h, replace } from "../page/dom.js";
import { hint, metaLine, panel, problemBox, statusBadge } from "../page/parts.js";
import { timeElement, joined } from "../page/format.js";
import { poll } from "../page/poll.js";

/** Jobs on a log: the form, the label of its button and the result. @type {[string, string, string][]} */
const STEPS = [
  ["models", "Estimate click models", "How users examine and click, compared on held-out lists."],
  ["propensities", "Estimate propensities", "How often each rank is examined, with intervals."],
  ["judge", "Make judgments", "A dataset with labels from the clicks."],
  ["train", "Train on the clicks", "A model corrected for position bias, and a naive one to compare."],
  ["estimate", "Evaluate new rankings", "Estimated clicks on rankings that users never saw."],
];

const CONSEQUENCE = `${trashLabel()} Models and estimates from it are kept.`;

const id = pageObjectId();
const container = elementById("click-log");
const read = conditionalReader();
const readJob = conditionalReader();
const bar = progressBar();
/** @type {ClickLog | null} */ let shown = null;

bindForms(id);
poll(refresh, (problem) => showMissing(container, problem, { noun: "click log", id, list: "/click-logs" }));

async function refresh() {
  const log = await read(clickLogApi(id));
  if (log !== shown) draw(log);
  if (log.status === "pending" && log.job_id) bar.update(await readJob(jobApi(log.job_id)));
  return log.status === "pending";
}

/** @param {ClickLog} log */
function draw(log) {
  const { name, status } = log;
  if (shown && shown.status !== status) announce(`Click log ${name} is ${status}.`);
  shown = log;
  document.title = `${name} · Rankery`;
  container.removeAttribute("aria-busy");
  container.dataset.status = status;
  replace(container, [
    h("div.page-head", [
      h("div.job-heading", h("h1", name), statusBadge(status)),
      h("div.actions", [
        log.job_id && h("a.button.quiet", { href: jobPage(log.job_id) }, "Job"),
        status !== "pending" && confirmedDeleteButton("click-logs", log, CONSEQUENCE),
      ]),
    ]),
    metaLine(logSource(log), timeElement(log.created_at), h("code", id)),
    ...contents(log),
  ]);
}

/** @param {ClickLog} log @returns {Child[]} */
function contents(log) {
  const { statistics } = log;
  if (log.status === "pending") return [bar.node, hint("Findings and counts appear here after the log has been read.")];
  if (log.problem) return [faults(log.problem, String(log.source.kind))];
  if (!statistics) return [];
  const period = periodLabel(statistics);
  return [
    logTiles(statistics),
    period.length > 0 && hint("Lists were shown ", ...period, "."),
    findingsPanel(log.findings ?? [], () => false),
    ranksPanel(statistics),
    actionsPanel(log),
    steps(),
    ...jobPanels(id),
  ];
}

/** Fragment of the list's dialog that makes such a log again, and words of the link to it. @type {Record<string, [fragment: string, words: string]>} */
const AGAIN = {
  upload: ["add", "Upload it again with other options"],
  address: ["add", "Upload it again with other options"],
  simulation: ["simulate", "Simulate clicks again"],
};

/** @param {NonNullable<ClickLog["problem"]>} problem @param {string} kind of the log's source */
function faults(problem, kind) {
  const box = problemBox(problem);
  const errors = problem.errors ?? [];
  if (errors.length > 1)
    box.append(
      h(
        "ul",
        errors.map(({ line, unit = "line", column, detail }) =>
          h("li", joined([line != null && `${unit} ${line}`, column, detail], ", ")),
        ),
      ),
    );
  const again = AGAIN[kind];
  if (again) box.append(h("p", h("a", { href: `/click-logs#${again[0]}` }, again[1])));
  return box;
}

function steps() {
  return panel("Next steps", [
    h(
      "ul.next-steps",
      STEPS.map(([form, words, detail]) =>
        h("li", hint(detail), h("a.button.small", { href: `#${form}`, needs: "write" }, words)),
      ),
    ),
  ]);
}
