/** The jobs on a click log, and the propensities that these jobs have estimated, by method. @module */
import { byRank, rankLines } from "../figures/rank_lines.js";
import { jobPage } from "../page/paths.js";
import { get } from "../page/api.js";
import { loadInto, withCode } from "../page/content.js";
import { h, replace } from "../page/dom.js";
import { hint, panel, statusBadge } from "../page/parts.js";
import { fixed, timeElement } from "../page/format.js";

const MAX_JOBS = 200;
const FIELDS =
  "title,kind,kind_label,status,created_at,result.sentence,result.method,result.propensities,result.lower,result.upper,result.truth";

/** @typedef {any} LogJob a job with some of its fields */

/** Return two panels: the propensities by method, hidden if there are none, and the newest jobs. @param {string} logId */
export function jobPanels(logId) {
  const figure = h("section.panel", { "aria-label": "Propensities by method", hidden: true });
  const list = h("div");
  loadInto(list, async () => {
    const query = new URLSearchParams({ object: logId, limit: String(MAX_JOBS), fields: FIELDS });
    const { items, next_cursor: more } = await get(`/v1/jobs?${query}`);
    const jobs = /** @type {LogJob[]} */ (items).filter(({ kind }) => kind !== "ingest-clicks");
    const drawn = propensityFigure(jobs);
    figure.hidden = !drawn;
    replace(figure, h("h2", "Propensities by method"), drawn);
    if (!jobs.length) return [hint("No jobs on this click log yet.")];
    return [h("ul.plain-list.log-jobs", ...jobs.map(jobLine)), more && hint(`The newest ${MAX_JOBS} jobs are shown.`)];
  });
  return [figure, panel("Jobs on this log", list)];
}

/** Draw the propensities that jobs have estimated, null if there are none. @param {LogJob[]} jobs the latest first */
function propensityFigure(jobs) {
  const all = propensityLines(jobs);
  if (!all.some(({ kind }) => kind === "dots")) return null;
  const words = all.map(({ name, points }) => `${name} ${fixed(points[points.length - 1].y ?? 0, 3)}`);
  return rankLines(all, {
    caption: "How often each rank is examined, relative to rank 1",
    axis: "Rank",
    summary: `Propensities of the last rank: ${words.join(", ")}.`,
    include: [0, 1],
  });
}

/**
 * Return the lines of the latest propensities of each method and of each training that learns them. The line
 * of the true propensities of a simulation is last.
 * @param {LogJob[]} jobs the latest first
 */
export function propensityLines(jobs) {
  /** @type {Map<string, import("../figures/rank_lines.js").Line>} */
  const lines = new Map();
  for (const { kind, title, result } of jobs) {
    const isTruth = kind === "simulate-clicks";
    const values = /** @type {number[] | undefined} */ (isTruth ? result?.truth?.propensities : result?.propensities);
    const name = lineName(kind, title, result?.method);
    if (!values || lines.has(name)) continue;
    lines.set(name, { name, kind: isTruth ? "reference" : "dots", points: byRank(values, result.lower, result.upper) });
  }
  return [...lines.values()].sort(
    (one, other) => Number(one.kind === "reference") - Number(other.kind === "reference"),
  );
}

/** @param {string} kind kind of the job @param {string} title @param {string | undefined} method */
function lineName(kind, title, method) {
  if (kind === "simulate-clicks") return "true propensities (simulation)";
  return kind === "train" ? `dual (${title})` : (method ?? title);
}

/** @param {LogJob} job */
function jobLine({ id, title, kind_label: label, status, created_at: time, result }) {
  return h("li", [
    statusBadge(status),
    h("div", [
      h("a", { href: jobPage(id) }, `${label}: ${title}`),
      h("small", " ", timeElement(time)),
      result?.sentence && hint(...withCode(result.sentence)),
    ]),
  ]);
}
