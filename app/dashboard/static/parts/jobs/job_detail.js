/**
 * The inside of a job, as an opened card and the job page show it: problem, learning curve, metrics, times, diagnostics.
 * @module
 */
import { get, Problem } from "../page/api.js";
import { learningCurve } from "./curve.js";
import { diagnosticsCurve } from "./diagnostics_curve.js";
import { h, problemBox, replace } from "../page/dom.js";
import { historyReader } from "./history.js";
import { iterationTimes } from "./iteration_times.js";
import { foundWords, isActive, trains } from "./job_labels.js";
import { metricsTable } from "./metrics_table.js";
import { problemHint } from "./problem_hint.js";

/**
 * @param {import("./job_labels.js").Job} first
 * @returns {{node: HTMLElement, update: (job: import("./job_labels.js").Job) => Promise<void>}}
 *   update fetches what the job's state calls for, and nothing once a finished job has been read
 */
export function jobDetail(first) {
  const problem = h("div", { class: "job-problem" });
  const curve = trains(first) ? learningCurve() : null;
  const times = trains(first) ? iterationTimes() : null;
  const diagnostics = first.kind === "train" && first.spec?.diagnostics ? diagnosticsCurve() : null;
  const table = trains(first) || first.kind === "evaluate" ? metricsTable() : null;
  const node = h(
    "div",
    { class: "job-detail" },
    problem,
    (curve || table) && h("div", { class: "curve-and-metrics", "data-kind": first.kind }, curve?.node, table?.node),
    times?.node,
    diagnostics?.node,
  );
  const readHistory = historyReader(first.id);
  let evaluation = null;
  let readFor = "";

  async function update(job) {
    const hint = problemHint(job);
    const found = foundWords(job);
    replace(problem, job.problem && problemBox(job.problem), hint && h("p", { class: "hint" }, hint), found && h("p", {}, found));
    if (readFor === job.status && !isActive(job)) return;
    try {
      await read(job);
    } catch (error) {
      // What is refused about one job must not end the polling of all.
      if (!(error instanceof Problem) || error.status >= 500) throw error;
      replace(problem, problemBox(error));
    }
    readFor = job.status;
  }

  async function read(job) {
    const history = curve && (await readHistory(job));
    curve?.update(job, history);
    times?.update(history);
    await diagnostics?.update(history);
    const id = job.result?.evaluation_id;
    if (table && id && !evaluation) evaluation = await get(`/v1/evaluations/${encodeURIComponent(id)}`);
    table?.update(job, evaluation);
  }
  return { node, update };
}
