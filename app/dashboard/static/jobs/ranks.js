/** Ranks of a distributed training: their hosts, their data, and the time that they wait for each other. @module */
import { isActive } from "./labels.js";
import { h, replace, setText } from "../page/dom.js";
import { bodyRows, columnHead, hint, livePart, numberHeads, scrollRegion, tableHead } from "../page/parts.js";
import { count, percent, size, joined } from "../page/format.js";

/** Return the table of ranks, hidden for trainings by one process. */
export function ranksPanel() {
  const words = hint();
  const rows = h("tbody");
  const heads = [
    ...["Rank", "Host", "Stage"],
    columnHead("Waiting", { class: "number", title: "Share of its time that the rank waited for others" }),
    columnHead("Queries", { class: "number", title: "Training queries that the rank holds" }),
    ...numberHeads("Documents", "Memory"),
  ];
  const node = h("section.panel.ranks", { hidden: true }, [
    h("h2", "Ranks"),
    words,
    scrollRegion("Work of each rank", h("table", tableHead(...heads), rows)),
  ]);
  const stateOf = (/** @type {Job} */ { progress, status }) => {
    return { ranks: progress?.ranks ?? [], restarts: progress?.restarts, status };
  };
  return livePart(node, stateOf, ({ ranks }, job) => {
    node.hidden = ranks.length === 0;
    setText(words, ranksLabel(job));
    replace(rows, ...bodyRows(heads, ranks, (rank) => cells(rank, isActive(job))));
  });
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
 * Return the cells of a rank. Values that change come first, so that they stay visible where the table is cut off.
 * @param {Schemas["RankProgress"]} rank
 * @param {boolean} active whether the job is running
 */
function cells({ rank, host, stage, queries, documents, memory_bytes: bytes, waiting_share: waiting }, active) {
  return [
    rank,
    h("span.name", { title: host }, host),
    h("td.stage", active ? stage : "ended"),
    typeof waiting === "number" ? percent(waiting, 1) : "–",
    count(queries),
    count(documents),
    typeof bytes === "number" ? size(bytes) : "–",
  ];
}
