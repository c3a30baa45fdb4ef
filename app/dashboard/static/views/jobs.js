/** `/jobs`: the list of jobs that match the filters of the URL, kept current. @module */
import { countsBySeverity, severityLabel } from "../datasets/dataset.js";
import { jobStatus, progressBar } from "../figures/marks.js";
import { jobActions } from "../jobs/actions.js";
import { errorsAndWarnings, isActive, marks, trains } from "../jobs/labels.js";
import { deleteTicked } from "../lifecycle/deletion.js";
import { labelTicked } from "../lifecycle/labelling.js";
import { kindName } from "../models/network.js";
import { compareJobsPage, datasetPage, jobApi, jobPage, modelPage, studyPage } from "../page/paths.js";
import { actionButton } from "../page/actions.js";
import { conditionalReader, messageOf, request } from "../page/api.js";
import { tagList } from "../page/content.js";
import { announce, h, replace } from "../page/dom.js";
import { alertText, notLoaded } from "../page/parts.js";
import { count, counted, elapsed, metric, withLabels } from "../page/format.js";
import { fieldColumn, projectColumn, statusColumn, timeColumn } from "../tables/columns.js";
import { showList, unfolds } from "../tables/list.js";

/** Maximum number of jobs that one request cancels. */
const MAX_CANCELLED = 200;
/** Fields that rows need, whatever columns are shown. */
const FIELDS = [
  ...["kind", "kind_label", "title", "status", "progress", "priority", "attempt", "resumable_from", "cancel_requested"],
  ...["created_at", "started_at", "finished_at", "spec.scorer", "findings.severity"],
];

/** @param {{name: string, value: number, data: string} | null} main */
const mainMetric = (main) => main && [h("strong", metric(main.value)), h("small", ` ${main.name} ${main.data}`)];

/** @param {Job["spec"] | null} spec @param {Job} job */
const scorerName = (spec, job) => trains(job) && kindName(spec?.scorer?.kind ?? "trees");

/** @param {Job["result"]} result */
const modelLink = (result) => result?.model_id && h("a.quiet-link", { href: modelPage(result.model_id) }, "Model");

const COLUMNS = [
  fieldColumn("title", "Name", name, { key: "name", sort: "name", fields: ["spec.number", "spec.study_id"] }),
  statusColumn(
    (_, job) => h("div.marked", ...statusParts(job).flatMap((part) => [part, " "])),
    ["problem.title", "problem.detail", "spec.kind"],
  ),
  fieldColumn("kind_label", "Kind", undefined, { key: "kind", sort: "kind" }),
  fieldColumn("main_metric", "Metric", mainMetric, { key: "metric", sort: "metric", number: true }),
  fieldColumn("spec", "Loss", (spec) => spec?.loss?.name, { key: "loss", fields: ["spec.loss"] }),
  fieldColumn("dataset_names", "Datasets", datasets, { key: "dataset" }),
  timeColumn("created", "Submitted"),
  fieldColumn(
    "started_at",
    "Duration",
    (started, { finished_at: ended }) => started && ended && elapsed(started, ended),
    { key: "duration", sort: "duration", number: true },
  ),
  fieldColumn("spec", "Scorer", scorerName, { key: "scorer", fields: ["spec.scorer"], optional: true }),
  timeColumn("started", "Started", { optional: true }),
  timeColumn("finished", "Ended", { optional: true }),
  fieldColumn("priority", "Priority", undefined, { optional: true }),
  fieldColumn("attempt", "Attempts", count, { number: true, optional: true }),
  fieldColumn("result", "Model", modelLink, { optional: true }),
  projectColumn("/jobs"),
  fieldColumn("tags", "Tags", (tags) => tagList(tags, "/jobs"), { optional: true }),
];

/** Name a job. The last trial of a study represents all its trials and links to the study. @param {string} title @param {Job} job */
function name(title, { id, kind, spec }) {
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
  if (!isActive(job))
    return (
      job.problem &&
      job.status !== "cancelled" &&
      h("small.name.why", { title: withLabels(job.problem.detail) }, job.problem.title)
    );
  const bar = progressBar();
  bar.update(job);
  return bar.node;
}

/** Name the first dataset of a job, and count the others. @param {Record<string, string>} names by id */
function datasets(names) {
  const [first, ...others] = Object.entries(names);
  if (!first) return null;
  const [id, name] = first;
  return [
    h("a.quiet-link.name.few", { href: datasetPage(id), title: name }, name),
    others.length > 0 && h("small", { title: others.map(([, other]) => other).join(", ") }, ` +${others.length}`),
  ];
}

/** Return the figures and tables of a job. Few visits open a row, so their scripts are loaded on demand. @param {Job} job */
const jobDetail = (job) => import("../jobs/detail.js").then((detail) => detail.jobDetail(job), notLoaded);

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
      const shown = await (detail ??= jobDetail(whole));
      if (!node.hasChildNodes()) node.append(shown.node, actions.node);
      actions.update(whole);
      await shown.update(whole);
    },
  };
}

/**
 * Return the ids of the selected jobs that an action applies to, including jobs of other pages, whose state is unknown.
 * @param {Ticked} ticked @param {(job: Job) => boolean} wanted
 */
const tickedIds = ({ ids, items }, wanted) => ids.filter((id) => !items.has(id) || wanted(items.get(id)));

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
    /** @type {{outcome: string}[]} */ const items = [];
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
  const refusal = h("span");
  const showRefusal = (/** @type {unknown} */ error) => replace(refusal, alertText(messageOf(error)));
  return h("span", actionButton(words, "danger quiet", cancel, showRefusal, { needs: "write" }), " ", refusal);
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
