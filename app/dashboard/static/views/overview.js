/** `/`: champions, recent verdicts, active jobs, the last failure, and the first steps of an empty service. @module */
import { showOnly } from "../page/content.js";
import { recentVerdicts, verdictList, failureLine, championList } from "../overview/parts.js";
import { progressBar } from "../figures/marks.js";
import { statusWord } from "../jobs/labels.js";
import { jobPage } from "../page/paths.js";
import { conditionalReader } from "../page/api.js";
import { announce, elementById, find, findAll, h, replace, setAttribute, setText } from "../page/dom.js";
import { problemBox } from "../page/parts.js";
import { count, counted, timeElement } from "../page/format.js";
import { poll } from "../page/poll.js";
import { keyedList } from "../tables/table.js";

/** @param {Job} first */
function jobLine(first) {
  const status = h("span.status");
  const name = h("a.job-title.quiet-link", { href: jobPage(first.id) });
  const meta = h("span.job-meta");
  const bar = progressBar();
  const node = h("li.job-line", { "data-job": first.id }, status, h("span.job-name", name, meta), bar.node);
  return {
    node,
    /** @param {Job} job */
    update(job) {
      setText(status, statusWord(job));
      setAttribute(status, "data-status", job.status);
      setText(name, job.title);
      replace(meta, [
        job.kind_label,
        " · ",
        job.started_at ? "begun " : "submitted ",
        timeElement(job.started_at || job.created_at),
      ]);
      bar.update(job);
    },
  };
}

/** @type {Record<string, string>} */ const LANES = { training: "training", quick: "short-job" };

/**
 * Return a banner if jobs wait and no worker of their lane runs, with the command that starts one, or if all workers of
 * their lane compile their kernels.
 * @param {Record<string, number>} waiting queued jobs by lane
 * @param {Schemas["WorkerAtWork"][]} workers
 */
function waitingBanner(waiting, workers) {
  const lines = Object.entries(waiting).map(([lane, jobs]) => {
    const ofLane = workers.filter((each) => each.lane === lane);
    if (!jobs || ofLane.some(({ compiling }) => !compiling)) return null;
    const wait = `${counted(jobs, "job")} ${jobs === 1 ? "waits" : "wait"}`;
    if (ofLane.length)
      return h("p", [
        h("strong", `The ${LANES[lane]} worker compiles its kernels, ${wait}`),
        h("span", `${ofLane[0].compiling}; this takes some minutes at its first start.`),
      ]);
    return h("p", [
      h("strong", `No ${LANES[lane]} worker, ${wait}`),
      h("span", "Start one on this or another machine: ", h("code", `rankery worker --lane ${lane}`)),
    ]);
  });
  const shown = lines.filter(Boolean);
  return shown.length > 0 && h("div.problem.waiting", { role: "status" }, ...shown);
}

/** @param {Schemas["WorkerAtWork"][]} workers */
function workerList(workers) {
  if (!workers.length) {
    return h("p.problem", { role: "status" }, [
      h("strong", "No worker is running"),
      h("span", "Jobs wait until one starts: ", h("code", "rankery worker"), " on this or another machine."),
    ]);
  }
  return h("ul.plain-list", ...workers.map(worker));
}

/** @param {Schemas["WorkerAtWork"]} worker */
function worker({ name, lane, processes, started_at: started, jobs }) {
  const free = processes - jobs.length;
  const at = h("span", "Started ", timeElement(started));
  return h("li.worker", { "data-worker": name }, [
    h("p", h("strong", lane === "training" ? "Trainings" : "Short jobs"), " ", h("code", name)),
    h("p.job-meta", [
      ...jobs.flatMap(({ id, kind_label: label, worker: process, started_at: began }) => [
        h("a", { href: jobPage(id), title: `In the process ${process}` }, label),
        " begun ",
        timeElement(began),
        " · ",
      ]),
      free > 0 && `${jobs.length ? `${free} more can run` : `Free for ${counted(processes, "job")}`} · `,
      at,
    ]),
  ]);
}

/** Show the first steps that are not done. @param {Record<string, boolean>} done by the name of the step */
function showSteps(done) {
  const steps = findAll(document, "[data-step]", HTMLElement);
  for (const step of steps) step.hidden = done[step.dataset.step ?? ""];
  const remaining = steps.filter((step) => !step.hidden);
  for (const step of remaining) find(step, "a").className = step === remaining[0] ? "button primary" : "button quiet";
  elementById("first").hidden = remaining.length === 0;
  setText(elementById("steps-title"), remaining.length < steps.length ? "Next steps" : "First steps");
}

const MAX_ACTIVE_SHOWN = 8;
const MAX_SHOWN = 5;
/** Maximum number of failures that are counted. */
const MAX_FAILURES = 25;
const ACTIVE_FIELDS =
  "kind,kind_label,title,status,progress,attempt,cancel_requested,resumable_from,created_at,started_at,finished_at";
const ENDED_FIELDS = "kind,kind_label,title,status,result.sentence,problem,created_at,finished_at";
/** Paths that are read after each change. */
const FREQUENT = {
  counts: "/v1/counts",
  running: `/v1/jobs?status=running&sort=oldest&limit=${MAX_ACTIVE_SHOWN}&fields=${ACTIVE_FIELDS}`,
};
/** Read after each change while some jobs wait and the running ones leave space for them. */
const QUEUED = `/v1/jobs?status=queued&sort=oldest&limit=${MAX_ACTIVE_SHOWN}&fields=${ACTIVE_FIELDS}`;
/**
 * Paths that are read after an event or when a count has changed. After other changes, they are read at most once in
 * `RARE_MILLISECONDS`.
 */
const RARE = {
  failed: `/v1/jobs?status=failed&limit=${MAX_FAILURES}&fields=${ENDED_FIELDS},dataset_names`,
  workers: "/v1/workers",
  champions: `/v1/aliases?alias=champion&limit=${MAX_SHOWN}`,
  comparisons: `/v1/comparisons?limit=${MAX_SHOWN}&fields=sentence,verdict,created_at`,
  promotions: `/v1/jobs?kind=promote&limit=${MAX_SHOWN}&fields=${ENDED_FIELDS}`,
  clickLogs: "/v1/click-logs?limit=1&fields=status",
};
const RARE_MILLISECONDS = 15000;

const page = elementById("overview");
/** @typedef {{name: string, path: string, read: (path: string) => Promise<unknown>}} Source */
/** @param {Record<string, string>} sources @returns {Source[]} */
const readersOf = (sources) =>
  Object.entries(sources).map(([name, path]) => ({ name, path, read: conditionalReader() }));
const frequent = readersOf(FREQUENT);
const rare = readersOf(RARE);
const readQueued = conditionalReader();
/** @type {{items: Job[]}} */
const NONE_QUEUED = { items: [] };
const active = keyedList(elementById("active"), jobLine);
/** @type {Record<string, any>} */ let shown = {};
let rareReadAt = 0;
/** Whether the rarely read paths may have changed since they were read. */
let rareDue = true;

poll(refresh, (problem) => showOnly(page, problemBox(problem)));

/**
 * @param {boolean} mayDiffer whether something may have changed; else only the workers are read
 * @param {boolean} hasEvent whether an event is among the changes
 */
async function refresh(mayDiffer, hasEvent) {
  const latest = { ...shown, ...(mayDiffer && (await readActive())) };
  /** Check whether a part differs from the shown one; unchanged parts are not drawn again. */
  const changed = (/** @type {string[]} */ ...names) => names.some((name) => latest[name] !== shown[name]);
  rareDue ||= mayDiffer;
  if (hasEvent) rareReadAt = 0;
  if (changed("counts") || (rareDue && Date.now() - rareReadAt >= RARE_MILLISECONDS)) {
    rareReadAt = Date.now();
    Object.assign(latest, await readAll(rare));
    rareDue = false;
  } else if (!mayDiffer) {
    // The lease of a worker can expire without an event.
    Object.assign(latest, await readAll(rare.filter(({ name }) => name === "workers")));
  }
  if (changed("counts")) showCounts(latest.counts);
  if (changed("counts", "workers"))
    replace(elementById("banner"), waitingBanner(latest.counts.waiting, latest.workers.items));
  if (changed("running", "queued")) showActive([...latest.running.items, ...latest.queued.items], latest.counts.jobs);
  if (changed("failed")) showFailures(latest.failed);
  if (changed("comparisons", "promotions", "champions", "clickLogs", "counts")) showDecisions(latest);
  if (changed("workers")) replace(elementById("workers"), workerList(latest.workers.items));
  shown = latest;
  page.removeAttribute("aria-busy");
  return latest.running.items.length > 0 || latest.queued.items.length > 0;
}

/** Read the counts and the active jobs that are shown. @returns {Promise<Record<string, any>>} */
async function readActive() {
  const found = await readAll(frequent);
  const hasSpace = found.running.items.length < MAX_ACTIVE_SHOWN;
  return { ...found, queued: hasSpace && found.counts.jobs.queued > 0 ? await readQueued(QUEUED) : NONE_QUEUED };
}

/** @param {Source[]} sources @returns {Promise<Record<string, any>>} */
async function readAll(sources) {
  return Object.fromEntries(await Promise.all(sources.map(async ({ name, path, read }) => [name, await read(path)])));
}

/** @param {Schemas["Counts"]} counts */
function showCounts(counts) {
  const { jobs, datasets, models, evaluations, comparisons, rankings } = counts;
  /** @type {[number: number, one: string, href: string][]} */
  const entries = [
    [jobs.running, "running", "/jobs?status=running"],
    [jobs.queued, "queued", "/jobs?status=queued"],
    [jobs.failed, "failed", "/jobs?status=failed"],
    [datasets, "dataset", "/datasets"],
    [models, "model", "/models"],
    [evaluations, "evaluation", "/evaluations"],
    [comparisons, "comparison", "/comparisons"],
    [rankings, "ranking", "/rankings"],
  ];
  /** @param {number} number @param {string} one @param {string} href */
  const link = (number, one, href) => {
    const words = href.includes("status") || number === 1 ? one : `${one}s`;
    return h("a.count", { href, "data-count": one }, h("strong", count(number)), ` ${words}`);
  };
  replace(elementById("counts"), ...entries.filter(([number]) => number > 0).map((each) => link(...each)));
}

/** @param {{items: Job[], next_cursor: string | null}} failed */
function showFailures({ items, next_cursor: next }) {
  replace(elementById("failures"), [
    failureLine(items, next !== null, () => {
      replace(elementById("failures"));
      announce("The failures were dismissed.");
    }),
  ]);
}

/** Show champions, verdicts, and the first steps that are not done. @param {Record<string, any>} found */
function showDecisions({ champions, comparisons, promotions, clickLogs, counts }) {
  const verdicts = recentVerdicts(comparisons.items, promotions.items).slice(0, MAX_SHOWN);
  replace(elementById("champions"), championList(champions.items));
  replace(elementById("results"), verdictList(verdicts));
  elementById("champions-panel").hidden = !champions.items.length;
  elementById("results-panel").hidden = !verdicts.length;
  showSteps({
    data: counts.datasets > 0,
    model: counts.models > 0,
    champion: champions.items.length > 0,
    comparison: counts.comparisons > 0,
    clicks: clickLogs.items.length > 0,
  });
}

/** @param {Job[]} jobs @param {{running: number, queued: number}} counts */
function showActive(jobs, { running, queued }) {
  elementById("nothing").hidden = jobs.length > 0;
  active.show(jobs.slice(0, MAX_ACTIVE_SHOWN));
  const more = running + queued - Math.min(jobs.length, MAX_ACTIVE_SHOWN);
  elementById("more").hidden = more <= 0;
  replace(elementById("more"), h("a", { href: "/jobs?status=queued" }, `${count(more)} more`));
}
