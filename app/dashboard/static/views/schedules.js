/** `/schedules`: jobs that are submitted at given times, their runs, and the form that schedules a training. @module */
import { showOnly } from "../page/content.js";
import { keyedList, pagedTable } from "../tables/table.js";
import { onSubmit, payloadOf, showUnread } from "../forms/forms.js";
import { byDatasetNames, requestOf } from "../jobs/specification.js";
import { offerUndo } from "../lifecycle/undo.js";
import { datasetPage, jobApi, jobPage, modelPage, studyPage } from "../page/paths.js";
import { actionRunner } from "../page/actions.js";
import { creator, get, getAll, request } from "../page/api.js";
import { announce, changeDetector, elementById, find, h, replace } from "../page/dom.js";
import { confirmed, disclosure, emptyState, hint, problemBox, statusBadge } from "../page/parts.js";
import { timeElement, withLabels } from "../page/format.js";
import { poll } from "../page/poll.js";
import { localTime, timesBuilder, cronWords } from "../schedules/builder.js";

/** @typedef {Schemas["Schedule"]} Schedule */

const PAGE_SIZE = 20;
/** Maximum number of trainings to choose from, by kind. */
const MAX_OFFERED = 50;
const ACTIVE_STATUSES = ["queued", "training", "promoting", "running"];
/** @type {Record<Schemas["ScheduleRun"]["status"], string>} job status whose colour a run takes */
const STATES = {
  queued: "queued",
  training: "running",
  promoting: "running",
  running: "running",
  promoted: "succeeded",
  trained: "succeeded",
  succeeded: "succeeded",
  refused: "refused",
  skipped: "cancelled",
  failed: "failed",
};

/** @type {Record<string, string>} verbs by kind of job */
const VERBS = { train: "Trains", "auto-train": "Finds the best", study: "Tunes" };

const container = elementById("schedules");
const dialog = elementById("schedule-dialog", HTMLDialogElement);
const form = elementById("schedule-form", HTMLFormElement);
const training = elementById("training", HTMLSelectElement);
const create = creator();
const times = timesBuilder();
const cards = keyedList(container, card);

elementById("create").addEventListener("click", openForm);
if (location.hash === "#create" || new URLSearchParams(location.search).has("from")) openForm();
addEventListener("hashchange", () => location.hash === "#create" && openForm());
find(dialog, "[data-close]").addEventListener("click", () => dialog.close());
dialog.addEventListener("close", () => {
  if (location.hash === "#create") history.replaceState(null, "", location.pathname + location.search);
});
onSubmit(form, async () => {
  const { alias, ...requested } = payloadOf(form);
  const chosen = {
    job: await scheduledJob(training.value),
    promote: alias ? { alias } : null,
    only_new_data: new FormData(form).has("only_new"),
  };
  const { name } = await create("/v1/schedules", { ...requested, ...chosen });
  dialog.close();
  form.reset();
  announce(`${name} was scheduled.`);
  pollNow();
});

const pollNow = poll(refresh, (problem) => showOnly(container, problemBox(problem)));

async function refresh() {
  const items = await getAll("/v1/schedules?limit=200");
  container.removeAttribute("aria-busy");
  const words = "A schedule repeats a training on the newest datasets with the same names, and can promote the model.";
  if (items.length) cards.show(items);
  else if (!container.querySelector(".empty"))
    replace(container, emptyState("No schedules yet", words, "#create", "New schedule", "write"));
  return items.some(({ last_run: run }) => run && ACTIVE_STATUSES.includes(run.status));
}

function openForm() {
  dialog.showModal();
  times.show();
  offerTrainings().catch((error) => showUnread(form, error));
}

async function offerTrainings() {
  const pages = await Promise.all(
    ["train", "auto-train"].map((kind) => get(`/v1/jobs?kind=${kind}&status=succeeded&limit=${MAX_OFFERED}`)),
  );
  const items = pages
    .flatMap((page) => page.items)
    .sort((one, other) => other.created_at.localeCompare(one.created_at));
  /** @param {{id: string, title: string}} job */
  const option = ({ id, title }) => h("option", { value: id }, `${title}, ${id}`);
  const wanted = training.value || new URLSearchParams(location.search).get("from");
  replace(training, ...items.map(option));
  if (!wanted) return;
  if (!items.some(({ id }) => id === wanted)) training.prepend(option(await get(jobApi(wanted))));
  training.value = wanted;
}

/**
 * Return the request of a training with the names of its datasets, so that each run takes the newest ones.
 * @param {string} id of the training
 */
async function scheduledJob(id) {
  const job = await get(jobApi(id));
  return byDatasetNames(await requestOf(job), job.dataset_names);
}

/** Create a deleted schedule again. @param {Partial<Schedule>} requested its fields */
async function recreate(requested) {
  const { body } = await request("/v1/schedules", { method: "POST", json: requested });
  return `${body.name} was scheduled again, without its runs.`;
}

/** @param {Schedule} first */
function card(first) {
  const path = /** @type {const} */ (`/v1/schedules/${encodeURIComponent(first.id)}`);
  const heading = h("h2");
  const state = h("span.status");
  const facts = hint();
  const last = h("p");
  const outcome = h("div", { "aria-live": "polite" });
  const runAction = actionRunner(outcome, () => pollNow());
  const toggle = h("button.quiet.small", {
    click: () => runAction(() => request(path, { method: "PATCH", json: { enabled: !schedule.enabled } })),
    needs: "write",
  });
  const rows = h("div.rows");
  const runs = disclosure("Runs", rows);
  runs.addEventListener("toggle", () => runs.open && showRuns());
  let schedule = first;
  const isNewRun = changeDetector();

  async function run() {
    await request(`${path}/run`, { method: "POST" });
    announce(`${schedule.name} runs.`);
  }

  async function remove() {
    const sure = await confirmed(`Delete the schedule ${schedule.name}?`, "Delete", [
      "The schedule does not run again, and the list of its runs is deleted; Undo does not restore the list. Its jobs and models are kept.",
    ]);
    if (!sure) return;
    await request(path, { method: "DELETE" });
    const { name, cron, timezone, job, promote, only_new_data: onlyNew, enabled, project } = schedule;
    const requested = { name, cron, timezone, job, promote, only_new_data: onlyNew, enabled, project };
    offerUndo({ words: `${name} was deleted.`, ids: [], create: () => recreate(requested) });
  }

  function showRuns() {
    const heads = ["Due", "Status", "Detail", "Dataset", "Job", "Model"];
    const address = /** @type {const} */ (`${path}/runs?limit=${PAGE_SIZE}`);
    replace(rows, ...pagedTable("Runs", heads, address, runCells, "No run yet."));
  }

  return {
    node: h("article.panel", { "data-schedule": first.id }, [
      h("div.panel-head", [
        h("div.job-heading", heading, state),
        h("div.actions", [
          h("button.small", { click: () => runAction(run), needs: "write" }, "Run now"),
          toggle,
          h("button.quiet.small.danger", { click: () => runAction(remove), needs: "write" }, "Delete"),
        ]),
      ]),
      facts,
      last,
      outcome,
      runs,
    ]),
    /** @param {Schedule} now */
    update(now) {
      schedule = now;
      replace(heading, now.name);
      replace(state, now.enabled ? "enabled" : "paused");
      state.dataset.status = now.enabled ? "succeeded" : "cancelled";
      replace(toggle, now.enabled ? "Pause" : "Resume");
      replace(facts, ...factsOf(now));
      replace(last, ...lastLabel(now));
      if (isNewRun(now.last_run) && runs.open) showRuns();
    },
  };
}

/** @param {Schedule} schedule @returns {Child[]} */
function factsOf({ cron, timezone, job, promote, only_new_data: onlyNew, next_runs: next }) {
  const what = job.model_name
    ? `${VERBS[String(job.kind)] ?? job.kind} ${job.model_name}`
    : `Checks ${job.model} for drift`;
  return [
    h("span", { title: cron }, cronWords(cron)),
    ` (${timezone}) · ${what}`,
    promote && ` and promotes it to @${promote.alias} through its gate`,
    onlyNew && " · Only on new data",
    next.length ? " · Next runs: " : " · No next run",
    next.map((moment) => localTime(moment, timezone)).join(" · "),
  ].filter((part) => part !== false && part !== null);
}

/** @param {Schedule} schedule @returns {Child[]} */
function lastLabel({ last_run: run, problem }) {
  if (problem) return [h("strong", problem.title), ` ${withLabels(problem.detail)}`];
  if (!run) return [h("span.hint", "The schedule has not run yet.")];
  return [
    "Last run ",
    timeElement(run.due_at),
    ": ",
    statusBadge(STATES[run.status], run.status),
    run.detail && ` ${run.detail}`,
  ];
}

/** @param {Schemas["ScheduleRun"]} run @returns {Content} */
function runCells(run) {
  const { due_at: due, datasets, job_id: job, study_id: study, model_id: model, detail, status, trigger } = run;
  const dataset = datasets?.train;
  return [
    { "data-run": run.id },
    [timeElement(due), trigger === "request" && h("small", " on request")],
    statusBadge(STATES[status], status),
    detail && h("span.wrap", detail),
    dataset && h("a", { href: datasetPage(dataset) }, "Dataset"),
    [job && h("a", { href: jobPage(job) }, "Job"), study && h("a", { href: studyPage(study) }, "Study")],
    model && h("a", { href: modelPage(model) }, "Model"),
  ];
}
