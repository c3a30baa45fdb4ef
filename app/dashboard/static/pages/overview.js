/**
 * `/`: what runs and waits, who works, what went wrong lately, and which models are in use.
 * @module
 */
import { conditionalReader } from "../parts/page/api.js";
import { h, problemBox, replace } from "../parts/page/dom.js";
import { firstSteps } from "../parts/jobs/first_steps.js";
import { count } from "../parts/page/format.js";
import { jobLine } from "../parts/jobs/job_line.js";
import { keyedList } from "../parts/lists/keyed_list.js";
import { championList, failureList, workerList } from "../parts/jobs/overview_lists.js";
import { poll } from "../parts/page/poll.js";

const ACTIVE_SHOWN = 8;
const SHOWN = 5;
const SOURCES = {
  counts: "/v1/counts",
  running: `/v1/jobs?status=running&sort=oldest&limit=${ACTIVE_SHOWN}`,
  queued: `/v1/jobs?status=queued&sort=oldest&limit=${ACTIVE_SHOWN}`,
  failed: `/v1/jobs?status=failed&limit=${SHOWN}`,
  workers: "/v1/workers",
  champions: `/v1/aliases?alias=champion&limit=${SHOWN}`,
};

const page = document.getElementById("overview");
const at = (id) => document.getElementById(id);
const readers = Object.entries(SOURCES).map(([name, path]) => [name, path, conditionalReader()]);
const active = keyedList(at("active"), jobLine);
let shown = {};

poll(refresh, (problem) => {
  page.removeAttribute("aria-busy");
  replace(page, problemBox(problem));
});

async function refresh() {
  const found = Object.fromEntries(await Promise.all(readers.map(async ([name, path, read]) => [name, await read(path)])));
  /** What is as it was is not drawn again. */
  const changed = (name) => found[name] !== shown[name];
  if (changed("counts")) showCounts(found.counts);
  if (changed("running") || changed("queued")) showActive([...found.running.items, ...found.queued.items], found.counts.jobs);
  if (changed("failed")) replace(at("failures"), failureList(found.failed.items));
  if (changed("champions")) replace(at("champions"), championList(found.champions.items));
  if (changed("workers")) replace(at("workers"), workerList(found.workers.items));
  shown = found;
  page.removeAttribute("aria-busy");
  return found.running.items.length > 0 || found.queued.items.length > 0;
}

function showCounts(counts) {
  const { jobs, datasets, models, evaluations, comparisons, rankings } = counts;
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
  replace(at("counts"), ...tiles.map(([name, number, href]) => h("a", { class: "count", href, "data-count": name }, h("strong", {}, count(number)), " ", name)));
  replace(at("first"), comparisons === 0 && firstSteps(counts));
}

function showActive(jobs, { running, queued }) {
  at("nothing").hidden = jobs.length > 0;
  active.show(jobs.slice(0, ACTIVE_SHOWN));
  const more = running + queued - Math.min(jobs.length, ACTIVE_SHOWN);
  at("more").hidden = more <= 0;
  replace(at("more"), h("a", { href: "/jobs?status=queued" }, `${count(more)} more`));
}
