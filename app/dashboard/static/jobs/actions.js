/** Actions on jobs, and the progress of a job on the page that submitted it. @module */
import { progressBar } from "../figures/marks.js";
import { deleteButton } from "../lifecycle/deletion.js";
import { isActive, resultLink } from "./labels.js";
import {
  comparisonFormPage,
  datasetPage,
  trainingFormPage,
  jobApi,
  jobPage,
  modelApi,
  modelPage,
  rankingApi,
} from "../page/paths.js";
import { actionButton } from "../page/actions.js";
import { get, messageOf, Problem, request } from "../page/api.js";
import { announce, h, replace } from "../page/dom.js";
import { alertText, hint, livePart, problemBox } from "../page/parts.js";
import { poll } from "../page/poll.js";

/**
 * Return the buttons and links of a job: its pages and results, and to clone, schedule, cancel or delete it.
 * @param {() => unknown} changed called after the job was changed
 * @param {{page: boolean}} options page: whether to link to the page of the job
 */
export function jobActions(changed, { page }) {
  const node = h("div.actions");
  /** @param {Job} job */
  const stateOf = ({ id, status, cancel_requested: cancelling, result }) => [id, status, cancelling, result];
  return livePart(node, stateOf, (_, job) => {
    const form = trainingFormPage(job);
    replace(node, [
      job.kind === "ingest" && job.spec.dataset_id && link(datasetPage(job.spec.dataset_id), "Dataset"),
      job.spec.auto_train_id && link(jobPage(String(job.spec.auto_train_id)), "Automatic training"),
      page && h("a.button", { href: jobPage(job.id) }, "Open job page"),
      ...resultLinks(job),
      form && link(form, "Clone and edit", { needs: "write" }),
      form &&
        job.status === "succeeded" &&
        link(`/schedules?from=${encodeURIComponent(job.id)}`, "Schedule", { needs: "write" }),
      isActive(job) ? cancelButton(job, changed) : !page && deleteButton("jobs", job.id),
    ]);
  });
}

/** @param {string} href @param {string} words @param {Attributes} [attributes] */
const link = (href, words, attributes = {}) => h("a.button.quiet", { href, ...attributes }, words);

/** Return links to the results; those of an automatic training are below its conclusion. @param {Job} job */
function resultLinks(job) {
  if (job.kind === "auto-train") return [];
  const { model_id: model, ranking_id: ranking } = job.result || {};
  const result = resultLink(job);
  return [
    result &&
      h("a", { class: job.kind === "train" ? "button quiet" : "button primary", href: result.href }, result.label),
    job.kind === "import" && ranking && link(comparisonFormPage([ranking], job.spec.dataset_id), "Compare ranking"),
    model && link(modelPage(model), "Model"),
    model && link(modelApi(model, "/export?format=lightgbm"), "Model file", { download: "" }),
    ranking && link(rankingApi(ranking, "?format=trec"), "Ranking (TREC)", { download: `${ranking}.txt` }),
    ranking && link(rankingApi(ranking, "?format=parquet"), "Ranking (Parquet)", { download: `${ranking}.parquet` }),
  ];
}

/** @param {Job} job @param {() => unknown} changed */
function cancelButton(job, changed) {
  const words = job.cancel_requested ? "Cancelling…" : "Cancel job";
  const cancel = async () => {
    await request(jobApi(job.id, "/cancel"), { method: "POST" });
    announce(`${job.title} is being cancelled.`);
    await changed();
  };
  const refusal = h("span");
  /** @param {unknown} error */
  const showRefusal = (error) => {
    replace(refusal, alertText(messageOf(error)));
    if (error instanceof Problem) changed();
  };
  const attributes = { disabled: job.cancel_requested, needs: "write" };
  return [actionButton(words, "danger quiet", cancel, showRefusal, attributes), refusal];
}

/**
 * Show a submitted job with its progress and actions until it has ended.
 * @param {HTMLElement} container shows the job while it runs
 * @param {Job} job
 * @returns {Promise<Job>} the ended job; rejects with a Problem where the API refuses the request
 */
function followJob(container, job) {
  const bar = progressBar();
  const path = jobApi(job.id);
  container.hidden = false;
  return new Promise((resolve, reject) => {
    const actions = jobActions(() => pollNow(), { page: true });
    replace(container, bar.node, actions.node);
    const pollNow = poll(async () => {
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

/**
 * Show a submitted job until it has ended, then why it has no result, if so.
 * @param {HTMLElement} container @param {Job} job
 * @returns {Promise<Job | null>} the succeeded job, else null
 */
export async function succeededJob(container, job) {
  try {
    const ended = await followJob(container, job);
    const { kind_label: label, status, problem } = ended;
    container.hidden = status === "succeeded";
    replace(container, status !== "succeeded" && (problem ? problemBox(problem) : hint(`${label} was cancelled.`)));
    return status === "succeeded" ? ended : null;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    replace(container, problemBox(error));
    return null;
  }
}
