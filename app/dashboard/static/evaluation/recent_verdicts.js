/** The latest verdicts: of comparisons, of promotions, and of promotions that a gate refused. @module */
import { comparisonPage, jobPage } from "../page/paths.js";
import { h } from "../page/dom.js";
import { timeElement } from "../page/format.js";
import { verdictChip } from "./verdict.js";

/** @typedef {{at: string, href: string, title: string, verdict: string | null, sentence: string}} Recent */

/**
 * Return comparisons and promotions as entries, the latest first.
 * @param {Schemas["ComparisonEntry"][]} comparisons @param {Job[]} promotions @returns {Recent[]}
 */
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
