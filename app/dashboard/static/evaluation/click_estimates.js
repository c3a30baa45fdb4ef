/** Estimates of a model or ranking from click logs, shown next to its metrics on judgments. @module */
import { supportLabel, estimatorName } from "../clicks/counterfactual.js";
import { clickLogPage, jobPage } from "../page/paths.js";
import { get, getAll } from "../page/api.js";
import { failureBox, helpLink } from "../page/content.js";
import { h, replace } from "../page/dom.js";
import { dataTable, numberHeads } from "../page/parts.js";
import { metric, timeElement } from "../page/format.js";

const FIELDS = "id,created_at,spec.systems,spec.click_log_id,result.metric,result.estimator,result.systems";

/**
 * Return a panel of the newest counterfactual evaluations of a system, hidden if there are none.
 * @param {{model_id?: string | null, ranking_id?: string | null}} system
 */
export function clickEstimates({ model_id: model, ranking_id: ranking }) {
  const node = h("section.panel.numbers", { "aria-label": "Estimated from clicks", hidden: true });
  show();
  return node;

  async function show() {
    try {
      replace(node, ...(await parts()));
    } catch (error) {
      replace(node, h("h2", "Estimated from clicks"), failureBox(error, show));
    }
    node.hidden = !node.hasChildNodes();
  }

  /** @returns {Promise<Child[]>} */
  async function parts() {
    const object = model ?? ranking;
    if (!object) return [];
    const query = new URLSearchParams({ kind: "counterfactual", object, status: "succeeded", limit: "100" });
    const { items } = await get(`/v1/jobs?${query}&fields=${FIELDS}`);
    const estimates = /** @type {any[]} */ (items).flatMap(estimateOf);
    if (!estimates.length) return [];
    const logs = await getAll("/v1/click-logs?limit=200&fields=name");
    const names = new Map(logs.map(({ id, name }) => [id, name]));
    const numbers = numberHeads("Estimate", "95% interval", "Logged ranking");
    const heads = ["Click log", "Metric", numbers, "Estimator", "Support", "Job"];
    return [
      h("div.panel-head", [
        h("h2", "Estimated from clicks"),
        helpLink("how-to/clicks/#counterfactual", "Counterfactual evaluation"),
      ]),
      dataTable("Estimates", heads, estimates, (estimate) => cells(estimate, names)),
    ];
  }

  /** Return the estimate of the system from a job, empty if the job has none. @param {any} job a job with some of its fields */
  function estimateOf(job) {
    const requested = job.spec.systems.find(
      (/** @type {any} */ one) => (model && one.model_id === model) || (ranking && one.ranking_id === ranking),
    );
    /** @type {SystemEstimate[]} */
    const [logged, ...systems] = requested ? job.result.systems : [];
    const estimate = systems.find(({ name }) => name === requested.system);
    return estimate ? [{ job, logged, estimate }] : [];
  }
}

/** @param {{job: any, logged: SystemEstimate, estimate: SystemEstimate}} found @param {Map<string, string>} logs */
function cells({ job: { id, created_at: at, spec, result }, logged, estimate }, logs) {
  const { value, lower, upper, missing } = estimate;
  return [
    h("td", h("a", { href: clickLogPage(spec.click_log_id) }, logs.get(spec.click_log_id) ?? "log")),
    result.metric,
    missing ? metric(value) : h("strong", metric(value)),
    lower === null ? "none" : `${metric(lower)} to ${metric(upper)}`,
    metric(logged.value),
    estimatorName(result.estimator),
    supportLabel(missing),
    h("a", { href: jobPage(id) }, timeElement(at)),
  ];
}
