/**
 * What one can do about a job that a limit or the loss of its workers ended.
 * @module
 */

const HINTS = {
  "Worker lost":
    "A worker falls silent when its process or machine is stopped, or when the system kills it for want of memory. " +
    "Its log at these moments says which. With a memory limit a job that needs too much fails by itself, and harms no worker.",
  "Time limit":
    "All attempts count together. Fewer iterations, leaves or queries take less time; or submit it again with a higher limit.",
  "Memory limit":
    "Fewer bins, leaves or features, or a part of the queries, take less memory; or submit it again with a higher limit.",
};

/** @param {import("./job_labels.js").Job} job @returns {string | null} */
export function problemHint(job) {
  return HINTS[job.problem?.title] || null;
}
