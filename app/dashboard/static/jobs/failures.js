/**
 * The line of the overview about jobs that failed since the last ones were dismissed.
 * @module
 */
import { jobPage } from "../page/addresses.js";
import { announce, h } from "../page/dom.js";
import { counted, timeElement } from "../page/format.js";

/** @typedef {import("./labels.js").Job} Job */

/** Key in local storage of the time up to which failures are dismissed. The API has no user accounts to store it for. */
const DISMISSED = "rankery.dismissed-failures";

/** @param {Job} job */
const endOf = (job) => job.finished_at ?? job.created_at;

/** Check whether the dataset of a failed ingestion was deleted, as it is when the upload is repaired. @param {Job} job */
const isMended = ({ kind, dataset_names: names }) => kind === "ingest" && !Object.keys(names).length;

/**
 * Return the failures after a moment that were not repaired, the latest first.
 *
 * @param {Job[]} jobs
 * @param {string | null} moment
 */
export function failedSince(jobs, moment) {
  const after = Date.parse(moment ?? "") || 0;
  return jobs
    .filter((job) => Date.parse(endOf(job)) > after && !isMended(job))
    .sort((one, other) => endOf(other).localeCompare(endOf(one)));
}

/**
 * Return the line, null where nothing has failed since.
 *
 * @param {Job[]} jobs the latest failures
 * @param {boolean} more whether there are others
 * @param {() => void} dismissed
 */
export function failureLine(jobs, more, dismissed) {
  const failures = failedSince(jobs, stored());
  if (!failures.length) return null;
  const [last] = failures;
  const many =
    more && failures.length === jobs.length ? `${failures.length} or more jobs` : counted(failures.length, "job");
  function dismiss() {
    try {
      localStorage.setItem(DISMISSED, endOf(last));
    } catch {
      announce("This browser forbids local storage, so the failures will be shown again.");
    }
    dismissed();
  }
  return h(
    "p",
    { class: "failure-line" },
    h("a", { class: "status", "data-status": "failed", href: "/jobs?status=failed" }, `${many} failed`),
    h(
      "span",
      { class: "failure", "data-job": last.id },
      h("a", { class: "quiet-link", href: jobPage(last.id) }, h("strong", {}, last.title)),
      `: ${last.problem?.detail || last.problem?.title || "no reason was recorded"}`,
    ),
    timeElement(endOf(last)),
    h("button", { type: "button", class: "quiet small", click: dismiss }, "Dismiss"),
  );
}

function stored() {
  try {
    return localStorage.getItem(DISMISSED);
  } catch {
    return null; // storage may be forbidden
  }
}
