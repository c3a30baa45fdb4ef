/** Ranks of a distributed training: their hosts, their data, and the time that they wait for each other. @module */
import { isActive } from "./labels.js";
import {
  changeDetector,
  columnHead,
  h,
  hint,
  replace,
  rowHead,
  scrollRegion,
  setText,
  tableHead,
} from "../page/dom.js";
import { count, percent, size, joined } from "../page/format.js";

/** @type {[words: string, title: string | null][]} */
const NUMBERS = [
  ["Waiting", "Share of its time that the rank waited for others"],
  ["Queries", "Training queries that the rank holds"],
  ["Documents", null],
  ["Memory", null],
];

/** @returns {{node: HTMLElement, update: (job: Job) => void}} hidden for trainings by one process */
export function ranksPanel() {
  const words = hint();
  const rows = h("tbody");
  const heads = NUMBERS.map(([label, title]) => columnHead(label, { class: "number", title }));
  const node = h(
    "section.panel.ranks",
    { hidden: true },
    h("h2", "Ranks"),
    words,
    scrollRegion("Work of each rank", h("table", tableHead("Rank", "Host", "Stage", heads), rows)),
  );
  const hasChanged = changeDetector();

  /** @param {Job} job */
  function update(job) {
    const ranks = job.progress?.ranks ?? [];
    node.hidden = ranks.length === 0;
    if (node.hidden || !hasChanged([ranks, job.progress?.restarts, job.status])) return;
    setText(words, ranksLabel(job));
    replace(rows, ...ranks.map((rank) => row(rank, isActive(job))));
  }
  return { node, update };
}

/** "All ranks were restarted once after a rank was lost." @param {Job} job */
function ranksLabel(job) {
  const restarts = job.progress?.restarts ?? 0;
  const times = restarts === 1 ? "once" : `${count(restarts)} times`;
  const sentences = [
    "Each rank holds whole queries and grows the same trees.",
    restarts > 0 && `All ranks were restarted ${times} after a rank was lost.`,
    !isActive(job) && "These are the last values before the end.",
  ];
  return joined(sentences);
}

/**
 * Return the row of a rank. Values that change come first, so that they stay visible where the table is cut off.
 *
 * @param {Schemas["RankProgress"]} rank
 * @param {boolean} active whether the job is running
 */
function row(rank, active) {
  const { queries, documents, memory_bytes: bytes, waiting_share: waiting } = rank;
  const numbers = [
    typeof waiting === "number" ? percent(waiting, 1) : "–",
    count(queries),
    count(documents),
    typeof bytes === "number" ? size(bytes) : "–",
  ];
  return h(
    "tr",
    rowHead(rank.rank),
    h("td", h("span.name", { title: rank.host }, rank.host)),
    h("td.stage", active ? rank.stage : "ended"),
    ...numbers.map((words) => h("td.number", words)),
  );
}
