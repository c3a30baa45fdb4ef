/**
 * `/jobs/{id}`: one job, whole.
 * @module
 */
import { conditionalReader } from "../parts/api.js";
import { announce, emptyState, h, problemBox, replace, setAttribute, setText } from "../parts/dom.js";
import { short, timeElement } from "../parts/format.js";
import { jobActions } from "../parts/job_actions.js";
import { jobDetail } from "../parts/job_detail.js";
import { isActive, KINDS, statusWord, title } from "../parts/job_words.js";
import { datasetName, showTitle } from "../parts/names.js";
import { poll } from "../parts/poll.js";
import { progressBar } from "../parts/progress_bar.js";

const id = decodeURIComponent(location.pathname.split("/").at(-1));
const place = document.getElementById("job");
const read = conditionalReader();
let view = null;
let lastStatus = null;

const again = poll(refresh, (problem) => {
  place.removeAttribute("aria-busy");
  const missing = problem.status === 404;
  replace(place, missing ? emptyState("There is no such job", `No job has the id ${id}.`, "/", "All jobs") : problemBox(problem));
});

async function refresh() {
  const job = await read(`/v1/jobs/${encodeURIComponent(id)}`);
  view ??= build(job);
  await view(job);
  if (lastStatus && lastStatus !== job.status) announce(`${title(job)}: ${job.status}.`);
  lastStatus = job.status;
  return isActive(job);
}

/** Draws the frame once and returns how to fill it. */
function build(first) {
  const heading = h("h1");
  showTitle(heading, first);
  const status = h("span", { class: "status" });
  const meta = h("p", { class: "job-meta" });
  const bar = progressBar();
  const detail = jobDetail(first);
  const actions = jobActions(() => again(), { page: false });
  place.removeAttribute("aria-busy");
  replace(
    place,
    h("div", { class: "page-head" }, h("div", { class: "job-heading" }, heading, status), actions.node),
    meta,
    bar.node,
    h("div", { class: "panel", hidden: !["train", "evaluate"].includes(first.kind) && !first.problem }, detail.node),
    specification(first),
  );
  return async (job) => {
    document.title = `${title(job)}: ${job.status} · Rankery`;
    setText(status, statusWord(job));
    setAttribute(status, "data-status", job.status);
    replace(
      meta,
      `${KINDS[job.kind] || job.kind} · `,
      timeElement(job.created_at),
      job.attempt > 1 && ` · attempt ${job.attempt}`,
      " · ",
      h("code", {}, job.id),
    );
    bar.update(job);
    actions.update(job);
    await detail.update(job);
  };
}

/** What was asked for: flat for reading, and as the JSON that submits it again. */
function specification(job) {
  const { kind, ...spec } = job.spec || {};
  const entries = flatten(spec);
  const value = (name, content) => (/dataset_id$/.test(name) ? datasetName(content) : short(content));
  return h(
    "section",
    { class: "panel" },
    h("h2", {}, "Specification"),
    h("dl", { class: "facts" }, ...entries.map(([name, content]) => h("div", {}, h("dt", {}, name.replace(/dataset_id$/, "dataset").replace(/ name$/, "").replaceAll("_", " ")), h("dd", {}, value(name, content))))),
    h("details", { class: "more" }, h("summary", {}, "As JSON"), h("pre", {}, JSON.stringify({ kind: job.kind, ...spec }, null, 2))),
  );
}

function flatten(value, prefix = "") {
  return Object.entries(value).flatMap(([name, content]) => {
    if (content === null || content === undefined) return [];
    // LightGBM's names speak for themselves; the others need to be told apart.
    if (name === "hyperparameters") return flatten(content);
    const path = prefix ? `${prefix} ${name}` : name;
    if (Array.isArray(content)) return [[path, content.join(", ")]];
    return typeof content === "object" ? flatten(content, path) : [[path, content]];
  });
}
