/** Source, statistics and actions of a click log. @module */
import { bars, histogram, tileList } from "../figures/marks.js";
import { rankLines } from "../figures/rank_lines.js";
import { h } from "../page/dom.js";
import { hint, panel } from "../page/parts.js";
import { count, counted, filesLabel, joined, percent, size, timeElement } from "../page/format.js";

/** @type {Record<string, string>} */ const FORMATS = {
  table: "table",
  ubi: "User Behavior Insights",
  sessions: "sessions",
  metarank: "Metarank",
  "open-bandit": "Open Bandit",
};

/** Return the source of a log: "clicks.csv, 1.2 GB, table", "served by web:3, 2.0 MB". @param {ClickLog} log */
export function logSource({ source, size_bytes: bytes }) {
  if (source.kind === "simulation") return `simulated by ${source.user_model}`;
  const served = source.kind === "served" && `served by ${joined([source.model, source.version], ":")}`;
  const stored = source.kind === "interleaved" ? "lists of an interleaving" : served;
  return stored ? joined([stored, bytes && size(bytes)], ", ") : filesLabel(source, bytes, FORMATS);
}

/** @param {LogStatistics} statistics */
export function logTiles(statistics) {
  const { lists, impressions, clicks, queries, documents, users, rank_base: base } = statistics;
  /** @type {(import("../figures/marks.js").Tile | false)[]} */
  const entries = [
    ["Lists", count(lists), `${percent(statistics.clicked_lists, lists || 1)} with a click`],
    ["Impressions", count(impressions)],
    ["Clicks", count(clicks), `${percent(clicks, impressions || 1)} of the impressions`],
    ["Queries", count(queries), `${counted(statistics.pairs, "query-document pair")}`],
    ["Documents", count(documents)],
    [
      "Users",
      users === null ? "unknown" : count(users),
      users === null && "confidence intervals resample lists, not users",
    ],
    base !== undefined && [
      "Ranks begin at",
      count(base),
      statistics.rank_base_detected ? "in the file, as detected" : "in the file, as requested",
    ],
  ];
  return tileList(entries.filter((entry) => entry !== false));
}

/** "from 3 days ago to 2 hours ago", nothing if the log has no times. @param {LogStatistics} statistics */
export const periodLabel = ({ first_at: first, last_at: last }) =>
  first && last ? ["from ", timeElement(first), " to ", timeElement(last)] : [];

/** Show impressions and click rates by rank. @param {LogStatistics} statistics */
export function ranksPanel({ ranks }) {
  const shown = ranks.filter(({ impressions }) => impressions > 0);
  if (!shown.length) return null;
  const columns = ranks.map(({ rank, impressions, clicks }) => ({
    label: String(rank),
    count: impressions,
    title: `Rank ${rank}: ${counted(impressions, "impression")}, ${counted(clicks, "click")}`,
  }));
  const rates = shown.map(({ rank, impressions, clicks }) => ({ x: rank, y: clicks / impressions }));
  const words = shown.map(({ rank, impressions, clicks }) => `rank ${rank} ${percent(clicks, impressions)}`);
  const [first] = shown;
  return panel("Clicks by rank", [
    h("div.columns", [
      rankLines([{ name: "Share of impressions with a click", points: rates }], {
        caption: "Share of impressions with a click",
        axis: "Rank",
        summary: `Share of impressions with a click: ${words.join(", ")}.`,
        include: [0],
        format: (value) => `${Number((100 * value).toFixed(1))}%`,
      }),
      histogram(columns, {
        caption: "Impressions",
        axis: "Rank",
        summary: `Impressions from rank ${first.rank} (${count(first.impressions)}) to rank ${ranks.length} (${count(ranks[ranks.length - 1].impressions)}).`,
      }),
    ]),
    hint("A decline by rank mixes relevance and position bias; click models or propensities separate the two."),
  ]);
}

/** Show the counts of actions with their weights; return null for a log with fewer than two actions. @param {ClickLog} log */
export function actionsPanel({ source, statistics }) {
  const actions = Object.entries(statistics?.actions ?? {});
  if (actions.length < 2) return null;
  const options = /** @type {{actions?: Record<string, number>} | undefined} */ (source.options);
  const weights = options?.actions ?? { click: 1 };
  /** @param {[string, number]} entry @returns {[Child, number]} */
  const row = ([name, number]) => [
    h("span", name, h("small", name in weights ? ` weight ${weights[name]}` : " no weight")),
    number,
  ];
  return panel("Actions", [
    bars("Rows of the file by action", actions.map(row)),
    hint(
      "An impression counts as clicked if an action on it has a weight above 0. Upload the log again to change weights.",
    ),
  ]);
}
