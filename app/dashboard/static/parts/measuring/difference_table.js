/**
 * The differences of pairs by each metric, with the tests behind what may be said.
 * @module
 */
import { h } from "../page/dom.js";
import { count, metric } from "../page/format.js";
import { sortableTable } from "../lists/sortable_table.js";
import { pValue, signed, verdictChip } from "./verdict.js";

const FIRST = 30;

/**
 * @param {any} comparison
 * @param {any[]} pairs those to show
 */
export function differenceTable({ systems, metrics }, pairs) {
  const rows = pairs.flatMap((pair) => metrics.map((name) => ({ pair, name, found: pair.metrics[name] })));
  const several = pairs.length > 1;
  const names = ({ pair }) => `${systems[pair.b].name} against ${systems[pair.a].name}`;
  const of = (key) => (row) => row.found?.[key] ?? null;
  const number = (label, key, words, title) => ({ label, title, number: true, value: of(key), cell: (row) => words(of(key)(row)) });
  const [one, other] = several ? ["First", "Second"] : [systems[pairs[0].a].name, systems[pairs[0].b].name];
  const table = sortableTable(
    [
      several && { label: "Pair, second against first", value: names, cell: (row) => h("span", { class: "name", title: names(row) }, names(row)) },
      { label: "Metric", value: (row) => row.name },
      { label: "Verdict", title: "At 0.05, after Holm's correction", value: of("verdict"), cell: (row) => verdictChip(row.found?.verdict) },
      number(one, "mean_a", metric),
      number(other, "mean_b", metric),
      { label: "Difference, 95% interval", title: "Bootstrap over the queries", number: true, value: of("difference"), cell: difference },
      number("p, adjusted", "adjusted_p", pValue, "Randomisation test after Holm's correction over all pairs and metrics: decides"),
      number("p, randomisation", "randomisation_p", pValue, "Fisher's randomisation test, two-sided"),
      number("p, t-test", "t_test_p", pValue, "Paired t-test, two-sided"),
      { label: "Queries better, equal, worse", number: true, value: (row) => split(row)?.[0] ?? null, cell: (row) => split(row)?.map(count).join(" · ") ?? "–" },
      number("Effect size", "effect_size", (value) => signed(value, 3), "Difference over the standard deviation of the differences"),
      number("Queries needed", "queries_needed", count, "To show a difference of this size with 80% power"),
      number("Left out", "skipped", count, "Queries that do not define the metric for both"),
    ].filter(Boolean),
    { label: "Differences", first: FIRST },
  );
  table.node.classList.add("differences-table");

  /** Queries on which the second is better, equal and worse. */
  function split({ pair, name, found }) {
    if (!found) return null;
    const { wins, ties, losses } = found;
    return systems[pair.a].metrics[name].higher_is_better ? [wins, ties, losses] : [losses, ties, wins];
  }

  table.show(rows);
  return table.node;
}

function difference({ found }) {
  return found ? [signed(found.difference), h("small", {}, `${signed(found.lower)} to ${signed(found.upper)}`)] : "–";
}
