/**
 * `/jobs/{id}`: one job, whole. With #result it leads on to what the job found, as soon as there is something.
 * @module
 */
import { conditionalReader } from "../parts/page/api.js";
import { asCode } from "../parts/jobs/as_code.js";
import { attemptsPanel } from "../parts/jobs/attempts.js";
import { announce, h, replace, setAttribute, setText } from "../parts/page/dom.js";
import { findingsPanel } from "../parts/datasets/findings.js";
import { timeElement } from "../parts/page/format.js";
import { jobActions } from "../parts/jobs/job_actions.js";
import { jobDetail } from "../parts/jobs/job_detail.js";
import { jobLog } from "../parts/jobs/job_log.js";
import { foundWords, isActive, limitWords, marks, resultLink, statusWord, trains } from "../parts/jobs/job_labels.js";
import { phasesPanel } from "../parts/jobs/phases.js";
import { showMissing } from "../parts/page/missing_page.js";
import { poll } from "../parts/page/poll.js";
import { progressBar } from "../parts/figures/progress_bar.js";
import { isSubmitted } from "../parts/jobs/request_of.js";
import { specification } from "../parts/jobs/specification.js";

const id = decodeURIComponent(location.pathname.split("/").at(-1));
const place = document.getElementById("job");
const read = conditionalReader();
let view = null;
let lastStatus = null;

const again = poll(refresh, (problem) =>
  showMissing(place, problem, { title: "There is no such job", sentence: `No job has the id ${id}.`, href: "/jobs", action: "All jobs" }),
);

async function refresh() {
  const job = await read(`/v1/jobs/${encodeURIComponent(id)}`);
  const found = resultLink(job);
  if (location.hash === "#result" && found) location.replace(found.href);
  view ??= await build(job);
  await view(job);
  if (lastStatus && lastStatus !== job.status) announce(`${job.title}: ${job.status}.`);
  lastStatus = job.status;
  return isActive(job);
}

/** Draws the frame once and returns how to fill it. */
async function build(first) {
  const heading = h("h1", {}, first.title);
  const status = h("span", { class: "status" });
  const unusual = h("span", { class: "job-marks" });
  const meta = h("p", { class: "job-meta" });
  const bar = progressBar();
  const detail = jobDetail(first);
  const actions = jobActions(() => again(), { page: false });
  const [asked, submitted] = await Promise.all([specification(first), isSubmitted(first.kind).catch(() => false)]);
  const attempts = attemptsPanel();
  const phases = phasesPanel();
  const log = jobLog();
  const inside = h("div", { class: "panel" }, detail.node);
  const found = h("div", { class: "job-findings" });
  place.removeAttribute("aria-busy");
  replace(
    place,
    h("div", { class: "page-head" }, h("div", { class: "job-heading" }, heading, status, unusual), actions.node),
    meta,
    bar.node,
    inside,
    attempts.node,
    found,
    asked,
    phases.node,
    log.node,
    submitted && asCode(first),
  );
  return async (job) => {
    document.title = `${job.title}: ${job.status} · Rankery`;
    setText(status, statusWord(job));
    setAttribute(status, "data-status", job.status);
    replace(
      meta,
      `${job.kind_label} · `,
      timeElement(job.created_at),
      limitWords(job) && ` · ${limitWords(job)}`,
      " · ",
      h("code", {}, job.id),
    );
    replace(unusual, ...marks(job).map((mark) => h("span", { class: "tag plain" }, mark)));
    bar.update(job);
    inside.hidden = !trains(job) && job.kind !== "evaluate" && !job.problem && !foundWords(job);
    actions.update(job);
    attempts.update(job);
    phases.update(job);
    log.update(job);
    showFindings(found, job);
    await detail.update(job);
  };
}

/** What is known of its datasets and of the training; more may join in the end. */
function showFindings(place, { findings, spec }) {
  const content = JSON.stringify(findings);
  if (!findings || place.dataset.shown === content) return;
  place.dataset.shown = content;
  const datasetOf = ({ role, example_kind: kind }) => kind === "query" && role && (spec[role]?.dataset_id || spec[`${role}_dataset_id`] || spec.dataset_id);
  const words = { heading: "Findings", nothing: "No problems found." };
  replace(place, findingsPanel(findings, datasetOf, words));
}
