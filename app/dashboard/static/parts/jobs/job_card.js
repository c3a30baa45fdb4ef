/**
 * One job in the list: a line that tells how it goes, opening to its curve and metrics.
 * @module
 */
import { announce, h, replace, setAttribute, setText } from "../page/dom.js";
import { metric, timeElement } from "../page/format.js";
import { jobActions } from "./job_actions.js";
import { jobDetail } from "./job_detail.js";
import { datasetOf, marks, statusWord } from "./job_labels.js";
import { progressBar } from "../figures/progress_bar.js";

/**
 * @param {import("./job_labels.js").Job} first
 * @param {() => void} changed called when the user changed the job
 */
export function jobCard(first, changed) {
  const status = h("span", { class: "status" });
  const name = h("span", { class: "job-title" });
  const meta = h("span", { class: "job-meta" });
  const bar = progressBar();
  const figure = h("span", { class: "job-figure" });
  const summary = h("summary", {}, status, h("span", { class: "job-name" }, name, meta), bar.node, figure);
  const body = h("div", { class: "job-body" });
  const node = /** @type {HTMLDetailsElement} */ (h("details", { class: "job", "data-job": first.id }, summary, body));
  const actions = jobActions(changed, { page: true });
  let detail = null;
  let job = null;

  node.addEventListener("toggle", () => {
    if (node.open && job) showDetail().catch(changed);
  });

  async function showDetail() {
    detail ??= jobDetail(job);
    if (!body.hasChildNodes()) replace(body, detail.node, actions.node);
    await detail.update(job);
  }

  function showLine() {
    setText(status, statusWord(job));
    setAttribute(status, "data-status", job.status);
    setText(name, job.title);
    bar.update(job);
    const main = job.main_metric;
    replace(figure, main && h("strong", {}, metric(main.value)), main && h("small", {}, `${main.name} ${main.data}`));
  }

  function showMeta() {
    const dataset = datasetOf(job);
    replace(
      meta,
      job.kind_label,
      job.spec?.loss?.name && ` · ${job.spec.loss.name}`,
      job.kind !== "ingest" && dataset && ` · ${job.dataset_names[dataset] ?? dataset}`,
      " · ",
      timeElement(job.created_at),
      ...marks(job).map((mark) => h("span", { class: "tag plain" }, mark)),
    );
  }

  return {
    node,
    /** Shows the job as it is now; an open card also fetches what is new inside. */
    async update(newJob) {
      const changedStatus = job && job.status !== newJob.status;
      const redraw = !job || JSON.stringify(job) !== JSON.stringify(newJob);
      job = newJob;
      if (changedStatus) announce(`${job.title}: ${job.status}.`);
      if (redraw) showLine();
      if (redraw) showMeta();
      actions.update(job);
      if (node.open) await showDetail();
    },
  };
}
