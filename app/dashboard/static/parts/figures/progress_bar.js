/**
 * A progress bar that follows a job.
 * @module
 */
import { h, setAttribute, setText } from "../page/dom.js";
import { isCounting, outcomeWords, progressWords } from "../jobs/job_labels.js";

/** @returns {{node: HTMLElement, update: (job: import("../jobs/job_labels.js").Job) => void}} */
export function progressBar() {
  const bar = /** @type {HTMLProgressElement} */ (h("progress", { max: 1 }));
  const words = h("p", { class: "progress-words" });
  const node = h("div", { class: "progress" }, bar, words);

  function update(job) {
    const { status, progress } = job;
    setAttribute(node, "data-status", status);
    setAttribute(bar, "aria-label", `Progress of ${job.title}`);
    if (status === "succeeded") setRange(bar, 1, 1);
    else if (status === "running" && !isCounting(job)) bar.removeAttribute("value");
    else if (progress?.total > 0) setRange(bar, progress.iteration, progress.total);
    else setRange(bar, 0, 1);
    setAttribute(bar, "aria-valuetext", progressWords(job) || status);
    setText(words, progressWords(job) || outcomeWords(job));
  }
  return { node, update };
}

function setRange(bar, value, total) {
  setAttribute(bar, "max", total);
  setAttribute(bar, "value", Math.min(value, total));
}
