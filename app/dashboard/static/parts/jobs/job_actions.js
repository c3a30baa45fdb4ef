/**
 * What one can do with a job, and where its results are.
 * @module
 */
import { Problem, request } from "../page/api.js";
import { compareWith, datasetPage, jobPage, modelPage } from "../page/addresses.js";
import { announce, h, replace } from "../page/dom.js";
import { isActive, resultLink } from "./job_labels.js";

/**
 * @param {() => void} changed called after the job was changed
 * @param {{page: boolean}} options page: whether to link to the job's own page
 */
export function jobActions(changed, { page }) {
  const node = h("div", { class: "actions" });
  let shown = "";
  function update(job) {
    const state = JSON.stringify([job.id, job.status, job.cancel_requested, job.result]);
    if (state === shown) return;
    shown = state;
    replace(
      node,
      job.kind === "ingest" && job.spec?.dataset_id && h("a", { class: "button quiet", href: datasetPage(job.spec.dataset_id) }, "Dataset"),
      page && h("a", { class: "button", href: jobPage(job.id) }, "Open job page"),
      ...results(job),
      job.kind === "train" && h("a", { class: "button quiet", href: `/train?from=${encodeURIComponent(job.id)}` }, "Clone and edit"),
      isActive(job) && cancelButton(job, changed),
    );
  }
  return { node, update };
}

function results(job) {
  const { model_id: model, ranking_id: ranking } = job.result || {};
  const link = (href, words, attributes = {}) => h("a", { class: "button quiet", href, ...attributes }, words);
  const found = resultLink(job);
  return [
    found && h("a", { class: job.kind === "train" ? "button quiet" : "button primary", href: found.href }, found.label),
    job.kind === "import" && ranking && link(compareWith([ranking], job.spec.dataset_id), "Compare it"),
    model && link(modelPage(model), "Model"),
    model && link(`/v1/models/${encodeURIComponent(model)}/export?format=lightgbm`, "Model file", { download: "" }),
    ranking && link(`/v1/rankings/${encodeURIComponent(ranking)}?format=trec`, "Ranking (TREC)", { download: `${ranking}.txt` }),
    ranking && link(`/v1/rankings/${encodeURIComponent(ranking)}?format=parquet`, "Ranking (Parquet)", { download: `${ranking}.parquet` }),
  ];
}

function cancelButton(job, changed) {
  const words = job.cancel_requested ? "Cancelling…" : "Cancel job";
  const button = h("button", { type: "button", class: "danger quiet", disabled: job.cancel_requested, click: cancel }, words);
  async function cancel() {
    button.disabled = true;
    try {
      await request(`/v1/jobs/${encodeURIComponent(job.id)}/cancel`, { method: "POST" });
      announce(`${job.title} is being cancelled.`);
    } catch (error) {
      button.disabled = false;
      announce(error.message);
      button.after(h("span", { class: "error", role: "alert" }, error.message));
      if (!(error instanceof Problem)) return;
    }
    changed();
  }
  return button;
}
