/** Parts of the overview: champions, the latest failure and recent verdicts. @module */
import { comparisonFormPage, modelPage, jobPage, comparisonPage } from "../page/paths.js";
import { h, svg, announce } from "../page/dom.js";
import { metric, timeElement, counted } from "../page/format.js";
import { store, stored } from "../page/storage.js";
import { verdictChip } from "../evaluation/verdict.js";

/** @typedef {NonNullable<Schemas["AliasedModel"]["trend"]>} Trend */

const SPARK = { width: 160, height: 36, margin: 4 };

/** @param {Schemas["AliasedModel"][]} champions */
export const championList = (champions) => h("ul.plain-list", ...champions.map(champion));

/** @param {Schemas["AliasedModel"]} champion */
function champion({ name, version, updated_at: moved, metrics, trend }) {
  const reference = `${name}:${version}`;
  const [main] = Object.entries(metrics ?? {});
  const newer = newest(trend, version);
  return h("li.champion", [
    h("a.job-title.quiet-link", { href: modelPage(reference) }, reference),
    h("p.job-meta", [
      "In use since ",
      timeElement(moved),
      newer && [
        ` · Version ${newer.version} has ${metric(newer.value)}: `,
        h("a", { href: comparisonFormPage([reference, `${name}:${newer.version}`]) }, "compare"),
      ],
    ]),
    trend && sparkline(trend, version),
    main
      ? h("span.job-figure", h("strong", metric(main[1])), h("small", `${main[0]} test`))
      : h("span.hint", "Not tested"),
  ]);
}

/**
 * Return the newest version and its metric value, or null if it is not newer than the champion.
 * @param {Trend | null | undefined} trend
 * @param {number} champion version of the champion
 */
export function newest(trend, champion) {
  const version = trend?.versions.at(-1);
  return trend && version !== undefined && version > champion ? { version, value: trend.values.at(-1) } : null;
}

/** Draw the metric by version, with a dot at the champion. @param {Trend} trend @param {number} version */
function sparkline({ metric: name, versions, values }, version) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const stepX = (SPARK.width - 2 * SPARK.margin) / (values.length - 1);
  const scaleY = (SPARK.height - 2 * SPARK.margin) / (high - low || 1);
  const points = values.map((value, index) => [SPARK.margin + index * stepX, SPARK.margin + (high - value) * scaleY]);
  const words = `${name} on the same test data: ${metric(values[0])} of version ${versions[0]} to ${metric(values.at(-1))} of version ${versions.at(-1)}`;
  const [x, y] = points[versions.indexOf(version)] ?? [];
  return svg("svg.sparkline", { viewBox: `0 0 ${SPARK.width} ${SPARK.height}`, role: "img", "aria-label": words }, [
    svg("title", words),
    svg("polyline", { points: points.map((point) => point.map((each) => each.toFixed(1)).join(",")).join(" ") }),
    x !== undefined && svg("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r: 3 }),
  ]);
}

/** Key in local storage of the time up to which failures are dismissed. The API has no user accounts to store it for. */
const DISMISSED = "rankery.dismissed-failures";

/** @param {Job} job */
const endOf = (job) => job.finished_at ?? job.created_at;

/** Check whether a failed ingestion was repaired: the repair of an upload deletes its dataset. @param {Job} job */
const isRepaired = ({ kind, dataset_names: names }) => kind === "ingest" && !Object.keys(names).length;

/**
 * Return the failures after a time, without repaired ones, the latest first.
 * @param {Job[]} jobs @param {string | null} moment
 */
export function failedSince(jobs, moment) {
  const after = Date.parse(moment ?? "") || 0;
  return jobs
    .filter((job) => Date.parse(endOf(job)) > after && !isRepaired(job))
    .sort((one, other) => endOf(other).localeCompare(endOf(one)));
}

/**
 * Return the line, null if no job has failed since the last dismissal.
 * @param {Job[]} jobs the latest failures
 * @param {boolean} more whether there are older failures than these
 * @param {() => void} dismissed
 */
export function failureLine(jobs, more, dismissed) {
  const failures = failedSince(jobs, stored(DISMISSED));
  if (!failures.length) return null;
  const [last] = failures;
  const many =
    more && failures.length === jobs.length ? `${failures.length} or more jobs` : counted(failures.length, "job");
  function dismiss() {
    if (!store(DISMISSED, endOf(last)))
      announce("This browser forbids local storage, so the failures will be shown again.");
    dismissed();
  }
  return h("p.failure-line", [
    h("a.status", { "data-status": "failed", href: "/jobs?status=failed" }, `${many} failed`),
    h("span.failure", { "data-job": last.id }, [
      h("a.quiet-link", { href: jobPage(last.id) }, h("strong", last.title)),
      `: ${last.problem?.detail || last.problem?.title || "no reason was recorded"}`,
    ]),
    timeElement(endOf(last)),
    h("button.quiet.small", { click: dismiss }, "Dismiss"),
  ]);
}

/** @typedef {{at: string, href: string, title: string, verdict: string | null, sentence: string}} Recent */

/** @param {Schemas["ComparisonEntry"][]} comparisons @param {Job[]} promotions @returns {Recent[]} */
export function recentVerdicts(comparisons, promotions) {
  const decided = promotions.filter(({ status }) => status === "succeeded" || status === "refused");
  return [
    ...comparisons.map(({ id, sentence, verdict, created_at: at }) => ({
      at,
      href: comparisonPage(id),
      title: "Comparison",
      verdict: verdict ?? null,
      sentence: sentence ?? "",
    })),
    ...decided.map((job) => ({
      at: job.finished_at ?? job.created_at,
      href: jobPage(job.id),
      title: `Gate of ${job.title}`,
      verdict: job.status === "refused" ? "refused" : "promoted",
      sentence: job.result?.sentence ?? job.problem?.detail ?? "",
    })),
  ].sort((one, other) => other.at.localeCompare(one.at));
}

/** @param {Recent[]} entries */
export const verdictList = (entries) => h("ul.plain-list", ...entries.map(entry));

/** @param {Recent} entry */
function entry({ at, href, title, verdict, sentence }) {
  return h("li.recent-result", { "data-verdict": verdict }, [
    verdict && verdictChip(verdict),
    h("a.quiet-link", { href }, sentence),
    h("p.job-meta", title, " · ", timeElement(at)),
  ]);
}
