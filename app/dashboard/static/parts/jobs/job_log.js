/**
 * What happened to a job, in the order that it did: told from what is on record of it and of its attempts.
 * @module
 */
import { h, replace } from "../page/dom.js";
import { count } from "../page/format.js";
import { isActive } from "./job_labels.js";

const MOMENT = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" });
const ENDINGS = {
  succeeded: "succeeded",
  failed: "failed",
  cancelled: "was cancelled",
  lost: "lost its worker",
  handed_back: "was handed back to the queue",
};

/** @returns {{node: HTMLElement, update: (job: import("./job_labels.js").Job) => void}} */
export function jobLog() {
  const list = h("ol", { class: "log" });
  const node = h("section", { class: "panel", "aria-labelledby": "log-title" }, h("h2", { id: "log-title" }, "Log"), list);
  let shown = "";
  return {
    node,
    update(job) {
      const events = eventsOf(job);
      const state = JSON.stringify(events);
      if (state === shown) return;
      shown = state;
      replace(list, ...events.map(line));
    },
  };
}

function line([at, words, detail]) {
  return h("li", {}, h("span", { class: "moment", title: at }, at ? MOMENT.format(new Date(at)) : "now"), h("span", {}, words, detail && h("small", {}, ` ${detail}`)));
}

/** @param {any} job @returns {[string | null, string, (string | null)?][]} moment, what happened, and what is to be said of it */
function eventsOf(job) {
  const { attempts = [], created_at: created, finished_at: finished, key_id: key, status, progress, cancel_requested: asked } = job;
  const events = [[created, key ? `submitted with the key ${key}` : "submitted", job.priority === "normal" ? null : `${job.priority} priority`]];
  for (const { number, worker, started_at: started, ended_at: ended, ending, detail, resumed_from: from } of attempts) {
    const again = number > 1 ? `attempt ${number}` : "started";
    events.push([started, from ? `${again}, going on from iteration ${count(from)}` : again, `on ${worker}`]);
    if (ended) events.push([ended, ENDINGS[ending] || ending, detail]);
  }
  if (finished && !attempts.at(-1)?.ended_at) events.push([finished, status === "cancelled" ? "was cancelled before it began" : status]);
  if (job.resumable_from && isActive(job)) events.push([null, `has a checkpoint at iteration ${count(job.resumable_from)}`]);
  if (status === "running" && progress) events.push([null, `is at ${progress.phase}`]);
  if (isActive(job) && asked) events.push([null, "is being cancelled"]);
  return events;
}
