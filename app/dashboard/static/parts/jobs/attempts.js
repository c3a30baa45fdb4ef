/**
 * How often a job was tried, by whom, and how that ended; for the jobs where it is not a matter of course.
 * @module
 */
import { h, replace } from "../page/dom.js";
import { count, duration, timeElement } from "../page/format.js";

/**
 * @typedef {object} Attempt
 * @property {number} number
 * @property {string} worker
 * @property {string} started_at
 * @property {string | null} ended_at
 * @property {"succeeded" | "failed" | "cancelled" | "lost" | "handed_back" | null} ending
 * @property {string | null} detail
 * @property {number | null} resumed_from
 * @property {import("./phases.js").Phase[]} phases
 */

const ENDINGS = { lost: "worker lost", handed_back: "handed back" };

/** Whether a job was tried more than once, or will be. @param {{attempts?: Attempt[]}} job */
export function hasHistory({ attempts = [] }) {
  return attempts.length > 1 || attempts.some(({ ending }) => ending === "lost" || ending === "handed_back");
}

/** @returns {{node: HTMLElement, update: (job: import("./job_labels.js").Job) => void}} */
export function attemptsPanel() {
  const words = h("p", { class: "hint" });
  const rows = h("tbody");
  const head = h("tr");
  const node = h(
    "section",
    { class: "panel attempts", hidden: true },
    h("h2", {}, "Attempts"),
    words,
    h("div", { class: "scroll" }, h("table", {}, h("thead", {}, head), rows)),
  );
  let shown = "";

  function update(job) {
    node.hidden = !hasHistory(job);
    const state = JSON.stringify([job.attempts.map(({ phases: _, ...attempt }) => attempt), job.status]);
    if (node.hidden || state === shown) return;
    shown = state;
    const names = ["Attempt", "Ended", job.kind === "train" && "From", "Took", "Started", "Worker"].filter(Boolean);
    replace(head, ...names.map((name) => h("th", { scope: "col" }, name)));
    replace(words, historyWords(job));
    replace(rows, ...job.attempts.map((attempt, index) => row(attempt, index + 1, job)));
  }
  return { node, update };
}

/** "Its worker was lost twice. The last attempt went on from iteration 120." @param {import("./job_labels.js").Job} job */
export function historyWords({ attempts, kind, status }) {
  const times = (ending) => attempts.filter((attempt) => attempt.ending === ending).length;
  const lost = times("lost");
  const handedBack = times("handed_back");
  const events = [
    lost && `Its worker stopped answering ${often(lost)}`,
    handedBack && `${lost ? "a" : "A"} worker handed it back ${often(handedBack)}`,
  ].filter(Boolean);
  const sentences = events.length > 0 ? [`${events.join(", and ")}.`] : [];
  const { resumed_from: from } = attempts.at(-1);
  if (from) sentences.push(`The last attempt went on from iteration ${count(from)}, so that nothing before it was lost.`);
  else if (attempts.length > 1 && kind === "train") sentences.push("The last attempt began anew: there was no checkpoint yet.");
  if (status === "queued") sentences.push("It waits for the next worker.");
  return sentences.join(" ");
}

function often(times) {
  return ["", "once", "twice"][times] || `${count(times)} times`;
}

/** How it ended stands first, so that it is seen where the table is cut off. */
function row({ worker, started_at: started, ended_at: ended, ending, detail, resumed_from: from }, number, { kind }) {
  const problem = ending === "failed" || ending === "lost";
  // The problem of a job that has failed stands at the top of its page.
  const said = ending !== "failed" && !detail?.includes(worker) ? detail : null;
  return h(
    "tr",
    { "data-ending": ending || "running" },
    h("th", { scope: "row" }, number),
    h("td", {}, h("span", { class: "status", "data-status": problem ? "failed" : ending || "running" }, ENDINGS[ending] || ending || "running")),
    kind === "train" && h("td", {}, from ? `iteration ${count(from)}` : "the beginning"),
    h("td", {}, ended ? lasted(started, ended) : "–"),
    h("td", {}, timeElement(started)),
    h("td", { class: "worker" }, h("code", { title: "The machine, the worker and its process" }, worker), said && h("small", {}, said)),
  );
}

function lasted(started, ended) {
  const seconds = (Date.parse(ended) - Date.parse(started)) / 1000;
  return seconds < 1 ? "under 1 s" : duration(seconds);
}
