/**
 * A job that one waits for where it was submitted: its progress, what can be done with it, and its end.
 * @module
 */
import { get } from "../page/api.js";
import { announce, h, problemBox, replace } from "../page/dom.js";
import { jobActions } from "./job_actions.js";
import { isActive } from "./job_labels.js";
import { poll } from "../page/poll.js";
import { progressBar } from "../figures/progress_bar.js";

/**
 * @param {HTMLElement} place shows the job while it goes on
 * @param {import("./job_labels.js").Job} job
 * @returns {Promise<import("./job_labels.js").Job>} as it ended; rejected with a Problem where the API refuses to tell
 */
export function followJob(place, job) {
  const bar = progressBar();
  const path = `/v1/jobs/${encodeURIComponent(job.id)}`;
  place.hidden = false;
  return new Promise((resolve, reject) => {
    const actions = jobActions(() => again(), { page: true });
    replace(place, bar.node, actions.node);
    const again = poll(async () => {
      const now = await get(path);
      bar.update(now);
      actions.update(now);
      if (isActive(now)) return true;
      announce(`${now.kind_label}: ${now.status}.`);
      resolve(now);
      return null;
    }, reject);
  });
}

/** What is to be said of a job that found nothing. @param {import("./job_labels.js").Job} job */
export function unfinished({ kind_label: label, status, problem }) {
  if (status === "succeeded") return null;
  return problem ? problemBox(problem) : h("p", { class: "hint" }, `${label} was cancelled.`);
}
