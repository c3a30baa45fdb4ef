/**
 * `/jobs`: the jobs that the address asks for, kept current. Among the newest, the running training is open.
 * @module
 */
import { conditionalReader } from "../parts/page/api.js";
import { emptyState, h, problemBox, replace } from "../parts/page/dom.js";
import { jobCard } from "../parts/jobs/job_card.js";
import { FILTERS, isFiltered, showFilters } from "../parts/jobs/job_filters.js";
import { isActive, trains } from "../parts/jobs/job_labels.js";
import { keyedList } from "../parts/lists/keyed_list.js";
import { apiAddress, onFirstPage, showPager } from "../parts/lists/pager.js";
import { poll } from "../parts/page/poll.js";
import { tickedJobs } from "../parts/jobs/ticked_jobs.js";

const LIMIT = 20;

const place = document.getElementById("jobs");
const read = conditionalReader();
const ticked = tickedJobs(document.getElementById("ticked"));
const cards = keyedList(place, row);
let touched = false;

showFilters(document.getElementById("filters"), document.getElementById("kinds"), document.getElementById("order"));
place.addEventListener("click", (event) => {
  touched ||= Boolean(event.target.closest("summary"));
});

const again = poll(refresh, (problem) => {
  place.removeAttribute("aria-busy");
  replace(place, problemBox(problem));
});

async function refresh() {
  const { items, next_cursor: next } = await read(apiAddress("/v1/jobs", LIMIT, FILTERS));
  place.removeAttribute("aria-busy");
  showPager(next);
  cards.arrange(items);
  if (items.length === 0) {
    replace(place, nothing());
    return false;
  }
  openOne(items);
  await cards.show(items);
  return items.some(isActive);
}

/** A card, beside it the box that chooses a training for a comparison. */
function row(job) {
  const card = jobCard(job, () => again());
  return { ...card, card: card.node, node: h("div", { class: "job-row" }, trains(job) ? ticked.box(job.id, `${job.title}, ${job.id}`) : h("span"), card.node) };
}

/** Opens the newest running job, else the newest training that has begun; never against what the user chose. */
function openOne(jobs) {
  if (touched || new URLSearchParams(location.search).get("sort")) return;
  const trainings = jobs.filter((job) => job.kind === "train");
  const running = trainings.find((job) => job.status === "running");
  const anyOpen = place.querySelector("details[open]");
  const chosen = running || (anyOpen ? null : trainings.find((job) => job.started_at));
  if (chosen) cards.entry(chosen.id).card.open = true;
}

function nothing() {
  if (!onFirstPage()) return emptyState("No more jobs", "This is the end of the list.", "/jobs", "Newest jobs");
  if (isFiltered()) return emptyState("No such jobs", "No job is as the filters above ask for.", "/jobs", "All jobs");
  return emptyState("No jobs yet", "Add judged data or make a synthetic dataset, then train a model on it.", "/datasets", "Add a dataset");
}
