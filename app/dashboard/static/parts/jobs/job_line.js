/**
 * One job in a line of the overview: what it is called, what it is, how far it has come.
 * @module
 */
import { jobPage } from "../page/addresses.js";
import { h, replace, setAttribute, setText } from "../page/dom.js";
import { timeElement } from "../page/format.js";
import { statusWord } from "./job_labels.js";
import { progressBar } from "../figures/progress_bar.js";

/** @param {import("./job_labels.js").Job} first */
export function jobLine(first) {
  const status = h("span", { class: "status" });
  const name = h("a", { class: "job-title quiet-link", href: jobPage(first.id) });
  const meta = h("span", { class: "job-meta" });
  const bar = progressBar();
  const node = h("li", { class: "job-line", "data-job": first.id }, status, h("span", { class: "job-name" }, name, meta), bar.node);
  return {
    node,
    /** @param {import("./job_labels.js").Job} job */
    update(job) {
      setText(status, statusWord(job));
      setAttribute(status, "data-status", job.status);
      setText(name, job.title);
      replace(meta, job.kind_label, " · ", job.started_at ? "begun " : "submitted ", timeElement(job.started_at || job.created_at));
      bar.update(job);
    },
  };
}
