/**
 * `/jobs`: the list of jobs that the address asks for, kept current.
 * @module
 */
import { severities, severityLabel } from "../datasets/dataset.js";
import { jobStatus, progressBar } from "../figures/marks.js";
import { tagList } from "../forms/labels.js";
import { jobActions } from "../jobs/actions.js";
import { jobDetail } from "../jobs/detail.js";
import { doubts, isActive, iterationWord, marks, trains } from "../jobs/labels.js";
import { deleteTicked } from "../lifecycle/deletion.js";
import { labelTicked } from "../lifecycle/labelling.js";
import { kindName } from "../models/network.js";
import { compareJobs, datasetPage, jobPage, modelPage } from "../page/addresses.js";
import { conditionalReader, messageOf, Problem, request } from "../page/api.js";
import { announce, elementById, h, setAttribute } from "../page/dom.js";
import { count, counted, duration, metric } from "../page/format.js";
import { projectColumn, timeColumn } from "../tables/columns.js";
import { showList } from "../tables/list.js";

/** Of one request. */
const MOST_CANCELLED = 200;
/** Fields that rows need whichever columns are shown. */
const FIELDS = [
  ...["kind", "kind_label", "title", "status", "progress", "priority", "attempt", "resumable_from", "cancel_requested"],
  ...["created_at", "started_at", "finished_at", "spec.scorer", "findings.severity"],
];

/** @type {import("../tables/list.js").ListColumn[]} */
const COLUMNS = [
  {
    key: "name",
    label: "Name",
    sort: "name",
    cell: (job) => h("a", { class: "name", href: jobPage(job.id), title: job.title }, job.title),
  },
  { key: "kind", label: "Kind", sort: "kind", cell: (job) => job.kind_label },
  {
    key: "status",
    label: "Status",
    sort: "status",
    cell: (job) => [
      jobStatus(job),
      ...severities(doubts(job))
        .slice(0, 1)
        .map(([severity, number]) => h("span", { class: "tag plain" }, severityLabel(severity, number))),
      ...marks(job).map((mark) => h("span", { class: "tag plain" }, mark)),
    ],
  },
  { key: "progress", label: "Progress", fields: ["problem.title", "problem.detail", "spec.kind"], cell: progress },
  {
    key: "metric",
    label: "Metric",
    sort: "metric",
    number: true,
    fields: ["main_metric"],
    cell: ({ main_metric: main }) =>
      main && [h("strong", {}, metric(main.value)), h("small", {}, ` ${main.name} ${main.data}`)],
  },
  timeColumn("created", "Submitted"),
  {
    key: "duration",
    label: "Duration",
    sort: "duration",
    number: true,
    cell: ({ started_at: started, finished_at: finished }) =>
      started && finished && duration((Date.parse(finished) - Date.parse(started)) / 1000),
  },
  { key: "loss", label: "Loss", fields: ["spec.loss"], cell: ({ spec }) => spec?.loss?.name },
  {
    key: "scorer",
    label: "Scorer",
    optional: true,
    fields: ["spec.scorer"],
    cell: (job) => (trains(job) ? kindName(job.spec?.scorer?.kind ?? "trees") : null),
  },
  { key: "dataset", label: "Datasets", fields: ["dataset_names"], cell: datasets },
  timeColumn("started", "Started", { optional: true }),
  timeColumn("finished", "Ended", { optional: true }),
  { key: "priority", label: "Priority", optional: true, cell: ({ priority }) => priority },
  { key: "attempt", label: "Attempts", number: true, optional: true, cell: ({ attempt }) => count(attempt) },
  {
    key: "result",
    label: "Model",
    optional: true,
    fields: ["result"],
    cell: ({ result }) =>
      result?.model_id && h("a", { class: "quiet-link", href: modelPage(result.model_id) }, "Model"),
  },
  projectColumn("/jobs"),
  {
    key: "tags",
    label: "Tags",
    optional: true,
    fields: ["tags"],
    cell: ({ tags }) => tagList(tags, "/jobs"),
  },
];

/** @typedef {import("../jobs/labels.js").Job} Job */

/** Show the progress of an active job, why a job failed, or how far it came. @param {Job} job */
function progress(job) {
  if (isActive(job)) {
    const bar = progressBar();
    bar.update(job);
    return bar.node;
  }
  if (job.problem) return h("span", { class: "name", title: job.problem.detail }, job.problem.title);
  const iterations = trains(job) && job.progress?.iteration;
  return iterations ? h("span", { class: "hint" }, counted(iterations, iterationWord(job))) : null;
}

/** @param {Job} job */
function datasets({ dataset_names: names }) {
  return Object.entries(names)
    .map(([id, name], index) => [index > 0 && ", ", h("a", { class: "quiet-link", href: datasetPage(id) }, name)])
    .flat();
}

/**
 * Return the inside of an open row: the whole job, which the list does not read.
 *
 * @param {Job} job
 * @param {() => void} changed
 */
function details(job, changed) {
  const read = conditionalReader();
  const actions = jobActions(changed, { page: true });
  const node = h("div", { class: "job-body" });
  /** @type {ReturnType<typeof jobDetail> | null} */
  let detail = null;
  return {
    node,
    async update() {
      const whole = await read(`/v1/jobs/${encodeURIComponent(job.id)}`);
      detail ??= jobDetail(whole);
      if (!node.hasChildNodes()) node.append(detail.node, actions.node);
      actions.update(whole);
      await detail.update(whole);
    },
  };
}

/** @typedef {import("../tables/list.js").Ticked} Ticked */

/**
 * Return the ids of the ticked jobs that an action takes. Those of other pages, whose state is unknown, are among them.
 *
 * @param {Ticked} ticked
 * @param {(job: Job) => boolean} wanted
 */
function tickedIds({ ids, items }, wanted) {
  return ids.filter((id) => !items.has(id) || wanted(items.get(id)));
}

/** @param {Ticked} ticked */
function compareTrainings(ticked) {
  const ids = tickedIds(ticked, trains);
  return ids.length > 1 && h("a", { class: "button primary", href: compareJobs(ids) }, `Compare ${ids.length}`);
}

/** @param {Ticked} ticked */
function deleteEnded(ticked) {
  const ids = tickedIds(ticked, (job) => !isActive(job));
  return ids.length > 0 && deleteTicked({ ...ticked, ids }, `Delete ${counted(ids.length, "job")}…`);
}

/** @param {Ticked} ticked */
function cancelActive(ticked) {
  const ids = tickedIds(ticked, isActive);
  if (!ids.length) return null;
  const button = h("button", { type: "button", class: "danger quiet", click }, `Cancel ${counted(ids.length, "job")}`);
  async function click() {
    button.disabled = true;
    try {
      const { body } = await request("/v1/jobs/cancel", {
        method: "POST",
        json: { ids: ids.slice(0, MOST_CANCELLED) },
      });
      const stopped = body.items.filter(
        (/** @type {{outcome: string}} */ { outcome }) => outcome === "cancelled" || outcome === "stopping",
      ).length;
      announce(`${counted(stopped, "job")} cancelled; ${count(body.items.length - stopped)} had already ended.`);
      ticked.clear();
      ticked.again();
    } catch (error) {
      button.disabled = false;
      button.after(h("span", { class: "error", role: "alert" }, messageOf(error)));
      if (!(error instanceof Problem)) return;
    }
  }
  return button;
}

showList({
  kind: "jobs",
  noun: "job",
  filters: ["kind", "status", "text", "dataset", "tag"],
  fields: FIELDS,
  columns: COLUMNS,
  name: ({ title, id }) => `${title}, ${id}`,
  actions: [compareTrainings, labelTicked, cancelActive, deleteEnded],
  details,
  isActive,
  announcement: ({ title, status }) => `${title}: ${status}.`,
  empty: ["Add judged data or make a synthetic dataset, then train a model on it.", "/datasets#add", "Add a dataset"],
});
followKinds(elementById("kinds"));

/** Links of kinds, which keep the other filters and what is ticked. @param {HTMLElement} kinds */
function followKinds(kinds) {
  const kind = new URLSearchParams(location.search).get("kind") || "";
  for (const link of kinds.querySelectorAll("a")) {
    const follow = () => {
      const query = new URLSearchParams(location.search);
      query.delete("cursor");
      if (link.dataset.kind) query.set("kind", link.dataset.kind);
      else query.delete("kind");
      setAttribute(link, "href", `/jobs${query.size ? `?${query}` : ""}`);
    };
    follow();
    // Updated at each click, to include filters that changed meanwhile.
    link.addEventListener("click", follow);
    if (link.dataset.kind === kind) setAttribute(link, "aria-current", "page");
  }
}
