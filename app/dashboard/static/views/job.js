/** `/jobs/{id}`: one job. With #result the page redirects to the result once it exists. @module */
import { jobApi, pageObjectId, urlOf } from "../page/paths.js";
import { findingsPanel } from "../datasets/findings.js";
import { bar, progressBar, severityCounts } from "../figures/marks.js";
import { labelsPanel } from "../forms/labels.js";
import { jobActions } from "../jobs/actions.js";
import { jobDetail } from "../jobs/detail.js";
import {
  errorsAndWarnings,
  hasCheckpoints,
  hasClickResult,
  outcomeDetail,
  isActive,
  isDoubtful,
  iterationWord,
  limitLabel,
  marks,
  resultLink,
  statusWord,
} from "../jobs/labels.js";
import { ranksPanel } from "../jobs/ranks.js";
import { asCode, isSubmitted, specification } from "../jobs/specification.js";
import { conditionalReader } from "../page/api.js";
import { showMissing, showOnly } from "../page/content.js";
import { announce, changeDetector, elementById, find, h, replace, setAttribute, setText } from "../page/dom.js";
import {
  bodyRows,
  hint,
  livePart,
  metaLine,
  numberHeads,
  scrollRegion,
  statusBadge,
  tableHead,
} from "../page/parts.js";
import { briefDuration, count, elapsed, momentLabel, size, timeElement, joined } from "../page/format.js";
import { poll } from "../page/poll.js";

/** @typedef {Schemas["Attempt"]} Attempt */

/** @type {Record<string, string>} */
const ATTEMPT_ENDINGS = { lost: "worker lost", handed_back: "returned" };

/** Kinds of jobs with details besides a problem or a sentence. */
const DETAILED = new Set(["train", "reproduce", "auto-train", "evaluate"]);

/** @param {Job} job */
function isDetailed(job) {
  return DETAILED.has(job.kind) || (hasClickResult(job) && job.result !== null);
}

/** Check whether a job has several attempts, or one that lost its worker or was returned to the queue. @param {{attempts?: Attempt[]}} job */
function hasHistory({ attempts = [] }) {
  return attempts.length > 1 || attempts.some(({ ending }) => ending === "lost" || ending === "handed_back");
}

/** Return the table of attempts, hidden for a job without a history. */
function attemptsPanel() {
  const words = hint();
  const table = h("table");
  const node = h("section.panel.attempts", { hidden: true }, [
    h("h2", "Attempts"),
    words,
    scrollRegion("Attempts of the job", table),
  ]);
  const stateOf = (/** @type {Job} */ { attempts = [], status }) => ({
    attempts: attempts.map(({ phases: _, ...attempt }) => attempt),
    status,
  });
  return livePart(node, stateOf, ({ attempts }, job) => {
    node.hidden = !hasHistory(job);
    const heads = ["Attempt", "Ended", hasCheckpoints(job) && "From", "Took", "Started", "Worker"];
    const rows = bodyRows(heads, attempts, (attempt, index) => attemptCells(attempt, index + 1, job));
    replace(words, historyLabel(job));
    replace(table, tableHead(...heads), h("tbody", ...rows));
  });
}

/** Return "Its worker stopped answering twice. The last attempt resumed from iteration 120; …". @param {Job} job */
function historyLabel(job) {
  const { attempts = [], status } = job;
  /** @param {string} ending */
  const times = (ending) => attempts.filter((attempt) => attempt.ending === ending).length;
  const lost = times("lost");
  const handedBack = times("handed_back");
  const events = [
    lost && `Its worker stopped answering ${timesLabel(lost)}`,
    handedBack && `${lost ? "a" : "A"} worker returned it to the queue ${timesLabel(handedBack)}`,
  ].filter(Boolean);
  const sentences = events.length > 0 ? [`${events.join(", and ")}.`] : [];
  const from = attempts.at(-1)?.resumed_from;
  if (from)
    sentences.push(`The last attempt resumed from ${iterationWord(job)} ${count(from)}; earlier work was kept.`);
  else if (attempts.length > 1 && hasCheckpoints(job))
    sentences.push("The last attempt started from the beginning: there was no checkpoint yet.");
  if (status === "queued") sentences.push("The job waits for a worker.");
  return sentences.join(" ");
}

/** @param {number} times */
function timesLabel(times) {
  return ["", "once", "twice"][times] || `${count(times)} times`;
}

/**
 * Return the cells of an attempt. Its end comes first, so that it stays visible where the table is cut off.
 * @param {Omit<Attempt, "phases">} attempt @param {number} number @param {Job} job @returns {Content}
 */
function attemptCells({ worker, started_at: started, ended_at: ended, ending, detail, ...attempt }, number, job) {
  const from = attempt.resumed_from;
  const problem = ending === "failed" || ending === "lost";
  // The problem of a failed or refused job is shown at the top of its page.
  const shown = ending !== "failed" && ending !== "refused" && !detail?.includes(worker) ? detail : null;
  const words = ATTEMPT_ENDINGS[ending ?? ""] || ending || "running";
  return [
    { "data-ending": ending || "running" },
    number,
    statusBadge(problem ? "failed" : ending || "running", words),
    from ? `${iterationWord(job)} ${count(from)}` : "the beginning",
    ended ? elapsed(started, ended) : "–",
    timeElement(started),
    h("td.worker", h("code", { title: "The machine, the worker and its process" }, worker), shown && h("small", shown)),
  ];
}

/** Return the table of phases, hidden where nothing was recorded. */
function phasesPanel() {
  const rows = h("tbody");
  const [took, memory] = numberHeads("Took", "Peak memory");
  const heads = ["Phase", took, h("td.bar-cell"), memory];
  const note = hint();
  const node = h("section.panel.phases", { hidden: true }, [
    h("h2", "Phases"),
    h("table", tableHead(...heads), rows),
    note,
  ]);
  const phasesOf = (/** @type {Job} */ { attempts = [] }) => attempts.at(-1)?.phases || [];
  return livePart(node, phasesOf, (phases, { attempts = [] }) => {
    node.hidden = phases.length === 0;
    const most = Math.max(0, ...phases.map(({ peak_memory_bytes: bytes }) => bytes ?? 0));
    memory.hidden = most === 0;
    const longest = Math.max(...phases.map(({ seconds }) => seconds)) || 1;
    const shown = most > 0 ? heads : heads.slice(0, -1);
    replace(
      rows,
      bodyRows(shown, phases, ({ phase, seconds, peak_memory_bytes: bytes }) => [
        h("span.beside-bar", phase),
        briefDuration(seconds),
        h("td.bar-cell", bar(seconds / longest)),
        bytes === null ? "–" : size(bytes),
      ]),
    );
    setText(note, noteLabel(attempts.length, most));
  });
}

/** @param {number} attempts @param {number} most */
function noteLabel(attempts, most) {
  const whose = attempts > 1 ? "These are the phases of the last attempt." : "";
  return joined([whose, most > 0 && "Memory is the growth of the process by the job, as counted by the memory limit."]);
}

/** @type {Record<string, string>} */ const LOGGED_ENDINGS = {
  succeeded: "succeeded",
  refused: "refused",
  failed: "failed",
  cancelled: "was cancelled",
  lost: "lost its worker",
  handed_back: "was returned to the queue",
};

/** Return the log of a job. */
function jobLog() {
  const list = h("ol.log");
  const node = h("section.panel", { "aria-labelledby": "log-title" }, h("h2", { id: "log-title" }, "Log"), list);
  return livePart(node, eventsOf, (events) => replace(list, ...events.map(line)));
}

/** @typedef {[moment: string | null, event: string, detail?: string | null]} LogEntry */

/** @param {LogEntry} entry */
function line([at, words, detail]) {
  return h("li", [
    h("span.moment", { title: at }, at ? momentLabel(new Date(at)) : "now"),
    h("span", words, detail && h("small", ` ${detail}`)),
  ]);
}

/** @param {Job} job @returns {LogEntry[]} */
function eventsOf(job) {
  const { attempts = [], created_at: created, finished_at: finished, key_id: key, status, progress } = job;
  /** @type {LogEntry[]} */ const events = [
    [
      created,
      key ? `submitted with the key ${key}` : "submitted",
      job.priority === "normal" ? null : `${job.priority} priority`,
    ],
  ];
  for (const [index, attempt] of attempts.entries()) {
    const { worker, started_at: started, ended_at: ended, ending, detail, resumed_from: from } = attempt;
    const start = index > 0 ? `attempt ${index + 1}` : "started";
    events.push([
      started,
      from ? `${start}, resumed from ${iterationWord(job)} ${count(from)}` : start,
      `on ${worker}`,
    ]);
    if (ended) events.push([ended, LOGGED_ENDINGS[ending ?? ""] || ending || "ended", detail]);
  }
  if (finished && !attempts.at(-1)?.ended_at)
    events.push([finished, status === "cancelled" ? "was cancelled before it started" : status]);
  if (job.resumable_from && isActive(job))
    events.push([null, `has a checkpoint at ${iterationWord(job)} ${count(job.resumable_from)}`]);
  if (status === "running" && progress) events.push([null, `is at ${progress.phase}`]);
  if (isActive(job) && job.cancel_requested) events.push([null, "is being cancelled"]);
  return events;
}

const id = pageObjectId();
const container = elementById("job");
const read = conditionalReader();
/** @type {((job: Job) => Promise<void>) | null} */
let view = null;
let lastStatus = "";

const pollNow = poll(refresh, (problem) => showMissing(container, problem, { noun: "job", id, list: "/jobs" }));

async function refresh() {
  const job = await read(jobApi(id));
  const result = resultLink(job);
  if (location.hash === "#result" && result) {
    location.replace(urlOf(result.href));
    return null;
  }
  view ??= await build(job);
  await view(job);
  if (lastStatus && lastStatus !== job.status) announce(`${job.title}: ${job.status}.`);
  lastStatus = job.status;
  return isActive(job);
}

/**
 * Draw the page without its changing parts, and return the function that updates them.
 * @param {Job} first @returns {Promise<(job: Job) => Promise<void>>}
 */
async function build(first) {
  const heading = h("h1", first.title);
  const status = h("span.status");
  const unusual = h("span.job-marks");
  const meta = metaLine(first.kind_label, timeElement(first.created_at), limitLabel(first), h("code", first.id));
  const bar = progressBar();
  const detail = jobDetail(first);
  const actions = jobActions(() => pollNow(), { page: false });
  const [specificationPanel, isResubmittable] = await Promise.all([
    specification(first),
    isSubmitted(first.kind).catch(() => false),
  ]);
  const ranks = ranksPanel();
  const attempts = attemptsPanel();
  const phases = phasesPanel();
  const log = jobLog();
  const hasChanged = changeDetector();
  const inside = h("div.panel", detail.node);
  const findingsContainer = h("div.job-findings");
  const areNewFindings = changeDetector();
  const labels = labelsPanel(labelsOf(first), {
    heading: "Notes",
    path: jobApi(first.id),
    members: { name: "name", notes: "notes" },
    list: "/jobs",
    read: labelsOf,
    changed: (job) => setText(heading, job.title),
  });
  const parts = [
    h("div.page-head", h("div.job-heading", heading, status, unusual), actions.node),
    meta,
    bar.node,
    inside,
    ranks.node,
    attempts.node,
    findingsContainer,
    labels,
    specificationPanel,
    phases.node,
    log.node,
    isResubmittable && asCode(first),
  ];
  return async (job) => {
    document.title = `${job.title}: ${job.status} · Rankery`;
    setText(status, statusWord(job));
    setAttribute(status, "data-status", job.status);
    setAttribute(status, "data-doubtful", isDoubtful(job) && "true");
    const doubts = isDoubtful(job) && errorsAndWarnings(job);
    if (hasChanged([doubts, marks(job)]))
      replace(unusual, doubts && severityCounts(doubts), ...marks(job).map((mark) => h("span.tag.plain", mark)));
    bar.update(job);
    find(bar.node, "progress").hidden = !isActive(job);
    inside.hidden = !isDetailed(job) && !job.problem && !outcomeDetail(job);
    actions.update(job);
    ranks.update(job);
    attempts.update(job);
    phases.update(job);
    log.update(job);
    if (job.findings && areNewFindings(job.findings)) replace(findingsContainer, findingsOf(job.findings, job));
    try {
      await detail.update(job);
    } finally {
      // Parts are shown together, with or without details: one that is filled later would move the others.
      if (!heading.isConnected) showOnly(container, ...parts);
    }
  };
}

/** @param {Job} job @returns {import("../forms/labels.js").Labels} */
function labelsOf({ name, notes, tags, project }) {
  return { name, notes, tags, project };
}

/** Return the findings of the datasets and of the training. @param {Schemas["Finding"][]} findings added at the end of a job @param {Job} job */
function findingsOf(findings, { spec }) {
  return findingsPanel(
    findings,
    ({ role, example_kind: kind }) =>
      kind === "query" && role && (datasetIn(spec[role]) ?? datasetIn(spec, `${role}_dataset_id`) ?? spec.dataset_id),
  );
}

/** @param {unknown} part of a specification @param {string} [name] @returns {string | undefined} */
function datasetIn(part, name = "dataset_id") {
  return /** @type {Record<string, string>} */ (part ?? {})[name] || undefined;
}
