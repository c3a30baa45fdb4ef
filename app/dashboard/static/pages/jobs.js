/**
 * `/jobs`: the jobs, newest first, kept current. The newest running one is open.
 * @module
 */
import { conditionalReader } from "../parts/api.js";
import { emptyState, h, problemBox, replace } from "../parts/dom.js";
import { jobCard } from "../parts/job_card.js";
import { isActive } from "../parts/job_words.js";
import { apiAddress, onFirstPage, showPager } from "../parts/pager.js";
import { poll } from "../parts/poll.js";

const LIMIT = 20;
const TABS = [
  ["", "All"],
  ["train", "Training"],
  ["evaluate", "Evaluation"],
  ["compare", "Comparison"],
  ["promote", "Promotion"],
  ["inspect", "Inspection"],
  ["rank", "Ranking"],
  ["ingest", "Data"],
];

const list = document.getElementById("jobs");
const kind = new URLSearchParams(location.search).get("kind") || "";
const read = conditionalReader();
/** @type {Map<string, ReturnType<typeof jobCard>>} */
const cards = new Map();
let touched = false;

showTabs();
list.addEventListener("click", (event) => {
  touched ||= Boolean(event.target.closest("summary"));
});

const again = poll(refresh, (problem) => {
  list.removeAttribute("aria-busy");
  replace(list, problemBox(problem));
});

async function refresh() {
  const page = await read(apiAddress("/v1/jobs", LIMIT, ["kind", "status"]));
  list.removeAttribute("aria-busy");
  showPager(page.next_cursor);
  if (page.items.length === 0) {
    cards.clear();
    replace(list, nothing());
    return false;
  }
  arrange(page.items);
  openOne(page.items);
  await Promise.all(page.items.map((job) => cards.get(job.id).update(job)));
  return page.items.some(isActive);
}

/** Puts the cards in the page's order without moving those that are already right, so that focus stays. */
function arrange(jobs) {
  const wanted = new Set(jobs.map((job) => job.id));
  for (const id of [...cards.keys()]) {
    if (!wanted.has(id)) cards.delete(id);
  }
  const nodes = jobs.map((job) => {
    if (!cards.has(job.id)) cards.set(job.id, jobCard(job, () => again()));
    return cards.get(job.id).node;
  });
  for (const child of [...list.children]) {
    if (!nodes.includes(child)) child.remove();
  }
  nodes.forEach((node, index) => {
    if (list.children[index] !== node) list.insertBefore(node, list.children[index] || null);
  });
}

/** Opens the newest running job, else the newest training that has begun; never against what the user chose. */
function openOne(jobs) {
  if (touched) return;
  const trainings = jobs.filter((job) => job.kind === "train");
  const running = trainings.find((job) => job.status === "running");
  const anyOpen = list.querySelector("details[open]");
  const chosen = running || (anyOpen ? null : trainings.find((job) => job.started_at));
  if (chosen) cards.get(chosen.id).node.open = true;
}

function nothing() {
  if (!onFirstPage()) return emptyState("No older jobs", "This is the end of the list.", "/jobs", "Newest jobs");
  if (kind) return emptyState("No such jobs yet", "Jobs of this kind will appear here.", "/jobs", "All jobs");
  return emptyState("No jobs yet", "Add judged data or make a synthetic dataset, then train a model on it.", "/datasets", "Add a dataset");
}

function showTabs() {
  const link = ([value, label]) =>
    h("a", { href: value ? `/jobs?kind=${value}` : "/jobs", "aria-current": value === kind && "page" }, label);
  replace(document.getElementById("kinds"), ...TABS.map(link));
}
