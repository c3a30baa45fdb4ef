/** `/jobs`: the list of jobs that match the filters of the URL, kept current. @module */
import { countsBySeverity, severityLabel } from "../datasets/dataset.js";
import { jobStatus, progressBar } from "../figures/marks.js";
import { jobActions } from "../jobs/actions.js";
import { jobDetail } from "../jobs/detail.js";
import { errorsAndWarnings, isActive, marks, trains } from "../jobs/labels.js";
import { deleteTicked } from "../lifecycle/deletion.js";
import { labelTicked } from "../lifecycle/labelling.js";
import { kindName } from "../models/network.js";
import { compareJobsPage, datasetPage, jobApi, jobPage, modelPage, studyPage } from "../page/paths.js";
import { actionButton } from "../page/actions.js";
import { conditionalReader, messageOf, request } from "../page/api.js";
import { tagList } from "../page/content.js";
import { alertText, announce, h } from "../page/dom.js";
import { count, counted, elapsed, metric } from "../page/format.js";
import { projectColumn, timeColumn } from "../tables/columns.js";
import { showList, unfolds } from "../tables/list.js";

/** Maximum number of jobs that one request cancels. */
const MAX_CANCELLED = 200;
/** Fields that rows need, whatever columns are shown. */
const FIELDS = [
  ...["kind", "kind_label", "title", "status", "progress", "priority", "attempt", "resumable_from", "cancel_requested"],
  ...["created_at", "started_at", "finished_at", "spec.scorer", "findings.severity"],
];

/** @type {ListColumn[]} */
const COLUMNS = [
  { key: "name", label: "Name", sort: "name", fields: ["spec.number", "spec.study_id"], cell: name },
  {
    key: "status",
    label: "Status",
    sort: "status",
    fields: ["problem.title", "problem.detail", "spec.kind"],
    cell: (job) => h("div.marked", ...statusParts(job).flatMap((part) => [part, " "])),
  },
  { key: "kind", label: "Kind", sort: "kind", cell: (job) => job.kind_label },
  {
    key: "metric",
    label: "Metric",
    sort: "metric",
    number: true,
    fields: ["main_metric"],
    cell: ({ main_metric: main }) =>
      main && [h("strong", metric(main.value)), h("small", ` ${main.name} ${main.data}`)],
  },
  { key: "loss", label: "Loss", fields: ["spec.loss"], cell: ({ spec }) => spec?.loss?.name },
  { key: "dataset", label: "Datasets", fields: ["dataset_names"], cell: datasets },
  timeColumn("created", "Submitted"),
  {
    key: "duration",
    label: "Duration",
    sort: "duration",
    number: true,
    cell: ({ started_at: started, finished_at: finished }) => started && finished && elapsed(started, finished),
  },
  {
    key: "scorer",
    label: "Scorer",
    optional: true,
    fields: ["spec.scorer"],
    cell: (job) => (trains(job) ? kindName(job.spec?.scorer?.kind ?? "trees") : null),
  },
  timeColumn("started", "Started", { optional: true }),
  timeColumn("finished", "Ended", { optional: true }),
  { key: "priority", label: "Priority", optional: true, cell: ({ priority }) => priority },
  { key: "attempt", label: "Attempts", number: true, optional: true, cell: ({ attempt }) => count(attempt) },
  {
    key: "result",
    label: "Model",
    optional: true,
    fields: ["result"],
    cell: ({ result }) => result?.model_id && h("a.quiet-link", { href: modelPage(result.model_id) }, "Model"),
  },
  projectColumn("/jobs"),
  { key: "tags", label: "Tags", optional: true, fields: ["tags"], cell: ({ tags }) => tagList(tags, "/jobs") },
];

/** Name a job. The last trial of a study represents all its trials and links to the study. @param {Job} job */
function name({ id, title, kind, spec }) {
  const earlier = kind === "trial" && !unfolds() && spec?.study_id ? Number(spec.number) : 0;
  return [
    h("a.name", { href: jobPage(id), title }, title),
    earlier > 0 && h("a.folded", { href: studyPage(String(spec.study_id)) }, `and ${count(earlier)} earlier`),
  ];
}

/** Return the status of a job, its marks, and its progress or failure. @param {Job} job */
function statusParts(job) {
  const worst = countsBySeverity(errorsAndWarnings(job)).slice(0, 1);
  const tags = [...worst.map(([severity, number]) => severityLabel(severity, number)), ...marks(job)];
  return [jobStatus(job), ...tags.map((words) => h("span.tag.plain", words)), progress(job)];
}

/** Show the progress of an active job, or why a job failed. @param {Job} job */
function progress(job) {
  if (!isActive(job)) return job.problem && h("small.name.why", { title: job.problem.detail }, job.problem.title);
  const bar = progressBar();
  bar.update(job);
  return bar.node;
}

/** Name the first dataset of a job, and count the others. @param {Job} job */
function datasets({ dataset_names: names }) {
  const [first, ...others] = Object.entries(names);
  if (!first) return null;
  const [id, name] = first;
  return [
    h("a.quiet-link.name.few", { href: datasetPage(id), title: name }, name),
    others.length > 0 && h("small", { title: others.map(([, other]) => other).join(", ") }, ` +${others.length}`),
  ];
}

/** Return the details of an open row, which need the whole job. @param {Job} job @param {() => void} changed */
function details(job, changed) {
  const read = conditionalReader();
  const actions = jobActions(changed, { page: true });
  const node = h("div.job-body");
  /** @type {ReturnType<typeof jobDetail> | null} */
  let detail = null;
  return {
    node,
    async update() {
      const whole = await read(jobApi(job.id));
      detail ??= jobDetail(whole);
      if (!node.hasChildNodes()) node.append(detail.node, actions.node);
      actions.update(whole);
      await detail.update(whole);
    },
  };
}

/**
 * Return the ids of the selected jobs that an action applies to, including jobs of other pages, whose state is unknown.
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
  return ids.length > 1 && h("a.button.primary", { href: compareJobsPage(ids) }, `Compare ${ids.length}`);
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
  async function cancel() {
    /** @type {{outcome: string}[]} */
    const items = [];
    for (let at = 0; at < ids.length; at += MAX_CANCELLED) {
      const json = { ids: ids.slice(at, at + MAX_CANCELLED) };
      items.push(...(await request("/v1/jobs/cancel", { method: "POST", json })).body.items);
    }
    const stopped = items.filter(({ outcome }) => outcome === "cancelled" || outcome === "stopping").length;
    announce(`${counted(stopped, "job")} cancelled; ${count(items.length - stopped)} had ended or were deleted.`);
    ticked.clear();
    ticked.reload();
  }
  const words = `Cancel ${counted(ids.length, "job")}`;
  const refused = (/** @type {unknown} */ error) => button.after(alertText(messageOf(error)));
  const button = actionButton(words, "danger quiet", cancel, refused, { needs: "write" });
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
  folds: true,
  empty: ["Add data, then train a model on it.", "/datasets#add", "Add a dataset"],
});
