/**
 * `/`: jobs without a worker, active jobs, recent results, failures, champions and workers.
 * @module
 */
import { verdictChip } from "../evaluation/verdict.js";
import { progressBar } from "../figures/marks.js";
import { statusWord } from "../jobs/labels.js";
import { jobPage, modelPage } from "../page/addresses.js";
import { conditionalReader } from "../page/api.js";
import { announce, elementById, findAll, h, problemBox, replace, setAttribute, setText, svg } from "../page/dom.js";
import { count, counted, metric, timeElement } from "../page/format.js";
import { poll } from "../page/poll.js";
import { keyedList } from "../tables/table.js";

/** @typedef {import("../jobs/labels.js").Job} Job */
/** @typedef {Schemas["Counts"]} Counts */

/** @param {Job} first */
function jobLine(first) {
  const status = h("span", { class: "status" });
  const name = h("a", { class: "job-title quiet-link", href: jobPage(first.id) });
  const meta = h("span", { class: "job-meta" });
  const bar = progressBar();
  const node = h(
    "li",
    { class: "job-line", "data-job": first.id },
    status,
    h("span", { class: "job-name" }, name, meta),
    bar.node,
  );
  return {
    node,
    /** @param {import("../jobs/labels.js").Job} job */
    update(job) {
      setText(status, statusWord(job));
      setAttribute(status, "data-status", job.status);
      setText(name, job.title);
      replace(
        meta,
        job.kind_label,
        " · ",
        job.started_at ? "begun " : "submitted ",
        timeElement(job.started_at || job.created_at),
      );
      bar.update(job);
    },
  };
}

/** Key of the dismissed failures in local storage, as the API knows keys and not people. */
const DISMISSED = "rankery.dismissed-failures";
const MOST_DISMISSED = 200;

/** @returns {string[]} ids of jobs */
function dismissed() {
  try {
    const kept = JSON.parse(localStorage.getItem(DISMISSED) ?? "[]");
    return Array.isArray(kept) ? kept : [];
  } catch {
    return []; // storage may be forbidden, or hold what another version kept
  }
}

/** @param {string[]} ids */
function keepDismissed(ids) {
  try {
    localStorage.setItem(DISMISSED, JSON.stringify(ids.slice(-MOST_DISMISSED)));
  } catch {
    announce("This browser keeps nothing, so the failure will be shown again.");
  }
}

/** The last failures, without those dismissed here. @param {import("../jobs/labels.js").Job[]} jobs */
function failureList(jobs) {
  const hidden = new Set(dismissed());
  const left = jobs.filter(({ id }) => !hidden.has(id)).slice(0, SHOWN);
  const gone = jobs.filter(({ id }) => hidden.has(id)).length;
  const again = () => failureAction([], "All failures are shown again.");
  return [
    left.length > 0
      ? h("ul", { class: "plain-list" }, ...left.map(failure))
      : h("p", { class: "hint" }, gone ? "Nothing has failed since." : "Nothing has failed."),
    gone > 0 &&
      h(
        "p",
        { class: "hint" },
        `${count(gone)} dismissed in this browser. `,
        h("button", { type: "button", class: "quiet small", click: again }, "Show again"),
      ),
  ];
}

/** @param {Job} job */
function failure(job) {
  const dismiss = () => failureAction([...dismissed(), job.id], `${job.title} was dismissed.`);
  return h(
    "li",
    { class: "failure", "data-job": job.id },
    h("a", { class: "job-title quiet-link", href: jobPage(job.id) }, job.title),
    h("button", { type: "button", class: "quiet small", "aria-label": `Dismiss ${job.title}`, click: dismiss }, "×"),
    h("p", { class: "reason" }, job.problem?.detail || job.problem?.title || "No reason is on record."),
    h("p", { class: "job-meta" }, job.kind_label, " · ", timeElement(job.finished_at || job.created_at)),
  );
}

/** @param {string[]} ids @param {string} words */
function failureAction(ids, words) {
  keepDismissed(ids);
  announce(words);
  replace(at("failures"), ...failureList(shown.failed.items));
  findAll(at("failures"), "button", HTMLButtonElement)[0]?.focus();
}

/**
 * Return the last comparisons and promotions, the newest first.
 *
 * @typedef {object} Result
 * @property {string} at moment
 * @property {string} href
 * @property {string} title
 * @property {Child} [chip]
 * @property {string} [verdict]
 * @property {string | null | undefined} sentence
 * @param {Schemas["ComparisonEntry"][]} comparisons
 * @param {Job[]} promotions
 */
function resultList(comparisons, promotions) {
  /** @type {Result[]} */
  const entries = [
    ...comparisons.map(({ id, sentence, verdict, created_at: at }) => ({
      at,
      chip: verdict && verdictChip(verdict),
      href: `/comparisons/${encodeURIComponent(id)}`,
      title: "Comparison",
      sentence,
    })),
    ...promotions
      .filter((job) => job.status === "succeeded" || job.status === "refused")
      .map((job) => ({
        at: job.finished_at ?? job.created_at,
        href: jobPage(job.id),
        title: job.title,
        verdict: job.status === "refused" ? "refused" : "promoted",
        sentence: job.result?.sentence ?? job.problem?.detail,
      })),
  ].sort((one, other) => other.at.localeCompare(one.at));
  if (!entries.length) return h("p", { class: "hint" }, "Nothing has been compared or promoted yet.");
  return h("ul", { class: "plain-list" }, ...entries.slice(0, SHOWN).map(resultEntry));
}

/** @param {Result} result */
function resultEntry({ at: moment, href, title, chip, verdict, sentence }) {
  return h(
    "li",
    { class: "recent-result", "data-verdict": verdict },
    h("a", { class: "quiet-link", href }, sentence),
    h(
      "p",
      { class: "job-meta" },
      chip || (verdict && h("span", { class: "tag" }, verdict)),
      " ",
      title,
      " · ",
      timeElement(moment),
    ),
  );
}

/** @param {Schemas["AliasedModel"][]} aliases */
function championList(aliases) {
  if (!aliases.length)
    return h(
      "p",
      { class: "hint" },
      "No model has the alias champion yet. Give it to the version of a model that is in use, on the page of that model.",
    );
  /** @param {Schemas["AliasedModel"]} aliased */
  const entry = ({ name, version, updated_at: moved, metrics, trend }) => {
    const [main] = Object.entries(metrics || {});
    return h(
      "li",
      { class: "champion" },
      h("a", { class: "job-title quiet-link", href: modelPage(`${name}:${version}`) }, `${name}:${version}`),
      h("p", { class: "job-meta" }, "made champion ", timeElement(moved)),
      trend && sparkline(trend, version),
      main
        ? h("span", { class: "job-figure" }, h("strong", {}, metric(main[1])), h("small", {}, `${main[0]} test`))
        : h("span", { class: "hint" }, "not tested"),
    );
  };
  return h("ul", { class: "plain-list" }, ...aliases.map(entry));
}

const SPARK = { width: 96, height: 28, margin: 4 };

/**
 * Draw the metric of a champion over the versions of its name, with the champion's own as a dot.
 *
 * @param {NonNullable<Schemas["AliasedModel"]["trend"]>} trend
 * @param {number} champion
 */
function sparkline({ metric: name, versions, values }, champion) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const across = (SPARK.width - 2 * SPARK.margin) / (values.length - 1);
  const down = (SPARK.height - 2 * SPARK.margin) / (high - low || 1);
  const points = values.map((value, index) => [SPARK.margin + index * across, SPARK.margin + (high - value) * down]);
  const words = `${name} on the same test data: ${metric(values[0])} of version ${versions[0]} to ${metric(values.at(-1))} of version ${versions.at(-1)}`;
  const [x, y] = points[versions.indexOf(champion)] ?? [];
  return svg(
    "svg",
    { class: "sparkline", viewBox: `0 0 ${SPARK.width} ${SPARK.height}`, role: "img", "aria-label": words },
    svg("title", {}, words),
    svg("polyline", { points: points.map((point) => point.map((each) => each.toFixed(1)).join(",")).join(" ") }),
    x !== undefined && svg("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r: 3 }),
  );
}

/** @type {Record<string, string>} */
const LANES = { training: "training", quick: "short-job" };

/**
 * Return a banner where jobs wait for a worker that is not there, with the command that starts one.
 *
 * @param {Record<string, number>} waiting queued jobs by lane
 * @param {Schemas["WorkerAtWork"][]} workers
 */
function waitingBanner(waiting, workers) {
  const lines = Object.entries(waiting).map(([lane, jobs]) => {
    const there = workers.filter((each) => each.lane === lane);
    if (!jobs || there.some(({ compiling }) => !compiling)) return null;
    const wait = `${counted(jobs, "job")} ${jobs === 1 ? "waits" : "wait"}`;
    if (there.length)
      return h(
        "p",
        {},
        h("strong", {}, `The ${LANES[lane]} worker compiles its kernels, ${wait}`),
        h("span", {}, `${there[0].compiling}; that takes some minutes at its first start.`),
      );
    return h(
      "p",
      {},
      h("strong", {}, `No ${LANES[lane]} worker, ${wait}`),
      h("span", {}, "Start one on this or another machine: ", h("code", {}, `rankery worker --lane ${lane}`)),
    );
  });
  const shown = lines.filter(Boolean);
  return shown.length > 0 && h("div", { class: "problem waiting", role: "status" }, ...shown);
}

/** @param {Schemas["WorkerAtWork"][]} workers */
function workerList(workers) {
  if (!workers.length) {
    return h(
      "p",
      { class: "problem", role: "status" },
      h("strong", {}, "No worker is there"),
      h("span", {}, "Jobs wait until one starts: ", h("code", {}, "rankery worker"), " on this or another machine."),
    );
  }
  return h("ul", { class: "plain-list" }, ...workers.map(worker));
}

/** @param {Schemas["WorkerAtWork"]} worker */
function worker({ name, lane, processes, started_at: started, jobs }) {
  const free = processes - jobs.length;
  return h(
    "li",
    { class: "worker", "data-worker": name },
    h("p", {}, h("strong", {}, lane === "training" ? "Trainings" : "Short jobs"), " ", h("code", {}, name)),
    h("p", { class: "job-meta" }, counted(processes, "job"), " at a time · started ", timeElement(started)),
    ...jobs.map(({ id, kind_label: label, worker: process, started_at: began }) =>
      h(
        "p",
        {},
        h("a", { href: jobPage(id), title: `In the process ${process}` }, label),
        " begun ",
        timeElement(began),
      ),
    ),
    free > 0 && h("p", { class: "hint" }, jobs.length ? `${free} more can run` : "waits for work"),
  );
}

/** @typedef {[done: boolean, name: string, words: string, href: string, action: string]} Step */

/** @param {Counts} counts */
function firstSteps({ datasets, models, comparisons }) {
  /** @type {Step[]} */
  const steps = [
    [
      datasets > 0,
      "Add data",
      "Upload judged queries, or have some made up to try things out.",
      "/datasets#add",
      "Add a dataset",
    ],
    [
      models > 0,
      "Train a model",
      "Find the best one within some minutes, or choose its loss.",
      "/train",
      "New training",
    ],
    [
      comparisons > 0,
      "Compare two models",
      "Query by query, with a test of whether the difference is real.",
      "/comparisons#compare",
      "Compare",
    ],
  ];
  const left = steps.filter(([done]) => !done);
  if (!left.length) return null;
  /** @param {Step} step @param {number} index */
  const item = ([, name, words, href, action], index) =>
    h(
      "li",
      { class: "step" },
      h("h3", {}, name),
      h("p", { class: "hint" }, words),
      h("a", { class: index === 0 ? "button primary" : "button quiet", href }, action),
    );
  return h(
    "section",
    { class: "panel", "aria-labelledby": "steps-title" },
    h("h2", { id: "steps-title" }, left.length < steps.length ? "Next steps" : "First steps"),
    h("ol", { class: "steps" }, ...left.map(item)),
  );
}

const ACTIVE_SHOWN = 8;
const SHOWN = 5;
const READ = 25; // failures, among which some are dismissed
const ACTIVE_FIELDS =
  "kind,kind_label,title,status,progress,attempt,cancel_requested,resumable_from,created_at,started_at,finished_at";
const ENDED_FIELDS = "kind,kind_label,title,status,result.sentence,problem,created_at,finished_at";
const BUSY = {
  counts: "/v1/counts",
  running: `/v1/jobs?status=running&sort=oldest&limit=${ACTIVE_SHOWN}&fields=${ACTIVE_FIELDS}`,
  queued: `/v1/jobs?status=queued&sort=oldest&limit=${ACTIVE_SHOWN}&fields=${ACTIVE_FIELDS}`,
};
/** Asked for when a count has changed, else after a change now and then. */
const CALM = {
  failed: `/v1/jobs?status=failed&limit=${READ}&fields=${ENDED_FIELDS}`,
  workers: "/v1/workers",
  champions: `/v1/aliases?alias=champion&limit=${SHOWN}`,
  comparisons: `/v1/comparisons?limit=${SHOWN}&fields=sentence,verdict,created_at`,
  promotions: `/v1/jobs?kind=promote&limit=${SHOWN}&fields=${ENDED_FIELDS}`,
};
const CALM_MILLISECONDS = 5000;

const page = elementById("overview");
const at = (/** @type {string} */ id) => elementById(id);
/** @typedef {{name: string, path: string, read: (path: string) => Promise<unknown>}} Source */
/** @param {Record<string, string>} sources @returns {Source[]} */
const readersOf = (sources) =>
  Object.entries(sources).map(([name, path]) => ({ name, path, read: conditionalReader() }));
const busy = readersOf(BUSY);
const calm = readersOf(CALM);
const active = keyedList(at("active"), jobLine);
/** @type {Record<string, any>} */
let shown = {};
let calmAt = 0;
/** Whether the calm sources may have changed since they were read. */
let calmDue = true;

poll(refresh, (problem) => {
  page.removeAttribute("aria-busy");
  replace(page, problemBox(problem));
});

/** @param {boolean} mayDiffer whether something may have changed; else only what a passing of time changes is read */
async function refresh(mayDiffer) {
  const found = { ...shown, ...(mayDiffer && (await readAll(busy))) };
  /** Unchanged parts are not drawn again. */
  const changed = (/** @type {string[]} */ ...names) => names.some((name) => found[name] !== shown[name]);
  calmDue ||= mayDiffer;
  if (changed("counts") || (calmDue && Date.now() - calmAt >= CALM_MILLISECONDS)) {
    Object.assign(found, await readAll(calm));
    calmAt = Date.now();
    calmDue = false;
  } else if (!mayDiffer) {
    // The leases of workers end without a change.
    Object.assign(found, await readAll(calm.filter(({ name }) => name === "workers")));
  }
  if (changed("counts")) showCounts(found.counts);
  if (changed("counts", "workers")) replace(at("banner"), waitingBanner(found.counts.waiting, found.workers.items));
  if (changed("running", "queued")) showActive([...found.running.items, ...found.queued.items], found.counts.jobs);
  if (changed("failed")) replace(at("failures"), ...failureList(found.failed.items));
  if (changed("comparisons", "promotions"))
    replace(at("results"), resultList(found.comparisons.items, found.promotions.items));
  if (changed("champions")) replace(at("champions"), championList(found.champions.items));
  if (changed("workers")) replace(at("workers"), workerList(found.workers.items));
  shown = found;
  page.removeAttribute("aria-busy");
  return found.running.items.length > 0 || found.queued.items.length > 0;
}

/** @param {Source[]} sources @returns {Promise<Record<string, any>>} */
async function readAll(sources) {
  return Object.fromEntries(await Promise.all(sources.map(async ({ name, path, read }) => [name, await read(path)])));
}

/** @param {Counts} counts */
function showCounts(counts) {
  const { jobs, datasets, models, evaluations, comparisons, rankings } = counts;
  /** @type {[name: string, number: number, href: string][]} */
  const tiles = [
    ["Running", jobs.running, "/jobs?status=running"],
    ["Queued", jobs.queued, "/jobs?status=queued"],
    ["Failed", jobs.failed, "/jobs?status=failed"],
    ["Datasets", datasets, "/datasets"],
    ["Models", models, "/models"],
    ["Evaluations", evaluations, "/evaluations"],
    ["Comparisons", comparisons, "/comparisons"],
    ["Rankings", rankings, "/rankings"],
  ];
  replace(
    at("counts"),
    ...tiles.map(([name, number, href]) =>
      h("a", { class: "count", href, "data-count": name }, h("strong", {}, count(number)), " ", name),
    ),
  );
  replace(at("first"), firstSteps(counts));
}

/** @param {Job[]} jobs @param {{running: number, queued: number}} counts */
function showActive(jobs, { running, queued }) {
  at("nothing").hidden = jobs.length > 0;
  active.show(jobs.slice(0, ACTIVE_SHOWN));
  const more = running + queued - Math.min(jobs.length, ACTIVE_SHOWN);
  at("more").hidden = more <= 0;
  replace(at("more"), h("a", { href: "/jobs?status=queued" }, `${count(more)} more`));
}
