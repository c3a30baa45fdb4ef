/**
 * `/jobs/compare?job=…&job=…`: trainings side by side, kept current while they run.
 * The address keeps the metric of the curves and the order of the table: #metric=ndcg@5&sort=-ndcg@5.
 * @module
 */
import { compareWith } from "../parts/page/addresses.js";
import { conditionalReader, get, Problem } from "../parts/page/api.js";
import { comparedCurves } from "../parts/jobs/compared_curves.js";
import { differingSettings, names } from "../parts/jobs/compared_settings.js";
import { comparedTable } from "../parts/jobs/compared_table.js";
import { emptyState, h, problemBox, replace } from "../parts/page/dom.js";
import { count } from "../parts/page/format.js";
import { historyReader } from "../parts/jobs/history.js";
import { isActive, trains } from "../parts/jobs/job_labels.js";
import { poll } from "../parts/page/poll.js";
import { MOST_COMPARED } from "../parts/jobs/ticked_jobs.js";

const place = document.getElementById("compared");
const ids = [...new Set(new URLSearchParams(location.search).getAll("job"))].slice(0, MOST_COMPARED);
const readers = ids.map((id) => ({ id, read: conditionalReader(), readHistory: historyReader(id) }));
const seen = new URLSearchParams(location.hash.slice(1));
const sort = seen.get("sort");
const catalogue = Promise.all([get("/v1/losses"), get("/v1/metrics")]);
const curves = comparedCurves(seen.get("metric"), (metric) => remember("metric", metric));
const table = comparedTable(sort && { by: sort.replace(/^-/, ""), descending: sort.startsWith("-") }, ({ by, descending }) => remember("sort", `${descending ? "-" : ""}${by}`));
const actions = h("div", { class: "actions" });
const missing = h("div", {});
let shown = "";

if (ids.length) poll(refresh, (problem) => replace(place, problemBox(problem)));
else nothing();

async function refresh() {
  const found = await Promise.all(readers.map(readOne));
  const lines = found.filter((each) => each.job && trains(each.job));
  place.removeAttribute("aria-busy");
  if (!lines.length) return nothing();
  if (!place.contains(table.node)) replace(place, missing, curves.node, table.node);
  const jobs = lines.map(({ job }) => job);
  const state = JSON.stringify([jobs.map(({ id, status, metrics }) => [id, status, metrics]), lines.map(({ history }) => history.iterations.length)]);
  if (state !== shown) await show(jobs, lines, found.length - lines.length);
  shown = state;
  return jobs.some(isActive);
}

/** One training with its curves; nothing of one that is not there. */
async function readOne({ id, read, readHistory }) {
  try {
    const job = await read(`/v1/jobs/${encodeURIComponent(id)}`);
    return { job, history: trains(job) && (await readHistory(job)) };
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return {};
    throw error;
  }
}

async function show(jobs, lines, absent) {
  const [losses, metrics] = await catalogue;
  const settings = differingSettings(jobs, losses.items);
  const called = names(jobs, settings);
  const lower = new Set(metrics.items.filter((each) => !each.higher_is_better).map(({ name }) => name));
  const measured = jobs.flatMap(({ metrics }) => Object.values(metrics || {}).flatMap(Object.keys));
  curves.update(lines.map(({ job, history }) => ({ id: job.id, name: called.get(job.id), history })));
  table.update(jobs, called, settings, new Set(measured.filter((name) => lower.has(name.split("@")[0]))));
  replace(missing, absent > 0 && h("p", { class: "hint" }, `${count(absent)} of the jobs in the address ${absent > 1 ? "are" : "is"} not there or no training.`));
  showActions(jobs);
}

/** Their models can be compared query by query once there are two. */
function showActions(jobs) {
  const models = jobs.map(({ result }) => result?.model_id).filter(Boolean);
  const tests = new Set(jobs.map(({ spec }) => spec.test_dataset_id || ""));
  const dataset = tests.size === 1 ? [...tests][0] : "";
  replace(actions, models.length > 1 && h("a", { class: "button primary", href: compareWith(models, dataset) }, "Compare query by query"));
  if (!actions.isConnected) document.querySelector(".page-head").append(actions);
}

function nothing() {
  place.removeAttribute("aria-busy");
  replace(place, emptyState("Nothing to compare", "Tick two or more trainings in the list of jobs.", "/jobs?kind=train", "Trainings"));
  return false;
}

function remember(name, value) {
  seen.set(name, value);
  history.replaceState(null, "", `${location.search}#${seen}`);
}
