/** Line of the overview about the jobs that failed after the last dismissed failure. @module */
import { jobPage } from "../page/paths.js";
import { announce, h } from "../page/dom.js";
import { counted, timeElement } from "../page/format.js";

/** Key in local storage of the time up to which failures are dismissed. The API has no user accounts to store it for. */
const DISMISSED = "rankery.dismissed-failures";

/** @param {Job} job */
const endOf = (job) => job.finished_at ?? job.created_at;

/** Check whether a failed ingestion was repaired: the repair of an upload deletes its dataset. @param {Job} job */
const isRepaired = ({ kind, dataset_names: names }) => kind === "ingest" && !Object.keys(names).length;

/**
 * Return the failures after a time, without repaired ones, the latest first.
 * @param {Job[]} jobs @param {string | null} moment
 */
export function failedSince(jobs, moment) {
  const after = Date.parse(moment ?? "") || 0;
  return jobs
    .filter((job) => Date.parse(endOf(job)) > after && !isRepaired(job))
    .sort((one, other) => endOf(other).localeCompare(endOf(one)));
}

/**
 * Return the line, null if no job has failed since the last dismissal.
 * @param {Job[]} jobs the latest failures
 * @param {boolean} more whether there are older failures than these
 * @param {() => void} dismissed
 */
export function failureLine(jobs, more, dismissed) {
  const failures = failedSince(jobs, dismissedUntil());
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
  return h("p.failure-line", [
    h("a.status", { "data-status": "failed", href: "/jobs?status=failed" }, `${many} failed`),
    h("span.failure", { "data-job": last.id }, [
      h("a.quiet-link", { href: jobPage(last.id) }, h("strong", last.title)),
      `: ${last.problem?.detail || last.problem?.title || "no reason was recorded"}`,
    ]),
    timeElement(endOf(last)),
    h("button.quiet.small", { click: dismiss }, "Dismiss"),
  ]);
}

function dismissedUntil() {
  try {
    return localStorage.getItem(DISMISSED);
  } catch {
    return null; // storage may be forbidden
  }
}
