/** Verdicts and differences of comparisons, with plots and tables of the differences. @module */
import { linearScale } from "../figures/scales.js";
import { h, svg } from "../page/dom.js";
import { count, counted, metric, metricDigits, percent, pValue } from "../page/format.js";
import { intervalParts, sortableTable, numberColumn } from "../tables/table.js";

/** @typedef {"better" | "worse" | "no evidence"} Verdict */
/** @typedef {{wins: number, ties: number, losses: number, queries: number}} Outcome */
/** @typedef {import("../figures/whiskers.js").Scale} Scale */

/** @type {Record<Verdict, Verdict>} */
const OPPOSITE = { better: "worse", worse: "better", "no evidence": "no evidence" };

/** Return the verdict of A against B from that of B against A. @param {Verdict} verdict @returns {Verdict} */
export const opposite = (verdict) => OPPOSITE[verdict];

/** @param {string | null | undefined} verdict */
export const verdictChip = (verdict) =>
  h("span.verdict", { "data-verdict": verdict || "none" }, verdict || "not defined");

/** Return a difference with its sign: "+0.0123". @param {number | null | undefined} value @param {number} [digits] */
export function signed(value, digits) {
  if (typeof value !== "number") return "–";
  const words = Math.abs(value).toFixed(digits ?? metricDigits(value));
  return `${Number(words) === 0 ? "±" : value < 0 ? "−" : "+"}${words}`;
}

const HEIGHT = 100;

/**
 * Plot the sorted differences of two systems by query, with the numbers of wins, ties and losses.
 * @param {number[]} differences ascending; a sample at regular intervals if there are many queries
 * @param {Outcome & {difference: number | null}} outcome
 * @param {{metric: string, higherIsBetter: boolean, names: [string, string]}} options names: of the two systems; the
 *   values of the first are subtracted from those of the second
 */
export function differencePlot(differences, outcome, { metric, higherIsBetter, names }) {
  const scale = linearScale([0, ...differences], 4);
  return h("figure.differences", [
    h("figcaption", `${metric} of ${names[1]} minus that of ${names[0]}, by query, sorted`),
    h("div.differences-plot", ticks(scale), columns(differences, scale, higherIsBetter, summary(outcome, metric))),
    shares(outcome, higherIsBetter),
  ]);
}

/** @param {number[]} differences @param {Scale} scale @param {boolean} higherIsBetter @param {string} words */
function columns(differences, scale, higherIsBetter, words) {
  const y = (/** @type {number} */ value) => HEIGHT * (1 - scale.share(value));
  const zero = y(0);
  const area = (/** @type {(value: number) => boolean} */ keep) =>
    `M0 ${zero}${differences.map((value, index) => `V${keep(value) ? y(value).toFixed(3) : zero}H${index + 1}`).join("")}V${zero}Z`;
  return svg(
    "svg",
    {
      viewBox: `0 0 ${Math.max(1, differences.length)} ${HEIGHT}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": words,
    },
    [
      ...scale.ticks.map((tick) => svg("line.tick", { x1: 0, x2: differences.length, y1: y(tick), y2: y(tick) })),
      svg("path", { class: higherIsBetter ? "gained" : "lost", d: area((value) => value > 0) }),
      svg("path", { class: higherIsBetter ? "lost" : "gained", d: area((value) => value < 0) }),
      svg("line.zero", { x1: 0, x2: differences.length, y1: zero, y2: zero }),
    ],
  );
}

/** @param {Scale} scale */
function ticks(scale) {
  const words = (/** @type {number} */ tick) =>
    svg("text", { x: "100%", y: `${100 * (1 - scale.share(tick))}%`, dy: "0.35em", "text-anchor": "end" }, [
      tick ? signed(tick, scale.format(tick).split(".")[1]?.length ?? 0) : "0",
    ]);
  return svg("svg.differences-ticks", { "aria-hidden": "true" }, ...scale.ticks.map(words));
}

/**
 * Draw a bar of the shares of queries that are worse, equal and better, in the order of the columns above.
 * @param {Outcome} outcome @param {boolean} higherIsBetter
 */
function shares({ wins, ties, losses, queries }, higherIsBetter) {
  /** @type {[number: number, words: string, kind: string][]} */
  const all = [
    [losses, higherIsBetter ? "worse" : "better", higherIsBetter ? "lost" : "gained"],
    [ties, "equal", "equal"],
    [wins, higherIsBetter ? "better" : "worse", higherIsBetter ? "gained" : "lost"],
  ];
  const parts = all.filter(([number]) => number > 0);
  let from = 0;
  /** @param {[number: number, words: string, kind: string]} part */
  const segment = ([number, , kind]) => {
    const x = from;
    from += (100 * number) / queries;
    return svg("rect", { class: kind, x: `${x}%`, y: 0, width: `${(100 * number) / queries}%`, height: "100%" });
  };
  return h("div.differences-shares", [
    svg("svg", { "aria-hidden": "true" }, ...parts.map(segment)),
    h(
      "ul",
      parts.map(([number, words, kind]) =>
        h("li", { "data-kind": kind }, h("strong", count(number)), ` ${words} `, h("small", percent(number, queries))),
      ),
    ),
  ]);
}

/** @param {Outcome & {difference: number | null}} outcome @param {string} metric */
function summary({ wins, ties, losses, queries, difference }, metric) {
  return `Differences of ${metric} over ${counted(queries, "query", "queries")}: larger on ${count(wins)}, equal on ${count(ties)}, smaller on ${count(losses)}; ${signed(difference)} on average.`;
}

const INITIAL_ROWS = 30;

/** @typedef {{pair: Schemas["Pair"], name: string, outcome: Schemas["MetricDifference"] | null}} DifferenceRow */

/**
 * Return a table of the differences of pairs by each metric, with their tests.
 * @param {Schemas["Comparison"]} comparison
 * @param {Schemas["Pair"][]} pairs to show
 */
export function differenceTable({ systems, metrics, correction }, pairs) {
  const corrected = correction === "none" ? "without correction" : "after Holm's correction over all pairs and metrics";
  const rows = pairs.flatMap((pair) => metrics.map((name) => ({ pair, name, outcome: pair.metrics[name] })));
  const several = pairs.length > 1;
  /** @param {DifferenceRow} row */
  const names = ({ pair }) => `${systems[pair.b].name} against ${systems[pair.a].name}`;
  /** @typedef {"mean_a" | "mean_b" | "difference" | "adjusted_p" | "randomisation_p" | "t_test_p" | "effect_size" | "queries_needed" | "skipped"} Key */
  /** @param {Key} key @returns {(row: DifferenceRow) => number | null} */
  const valueGetter = (key) => (row) => row.outcome?.[key] ?? null;
  /** @param {string} label @param {Key} key @param {(value: number | null) => string} words @param {string} [title] */
  const number = (label, key, words, title) => numberColumn(label, valueGetter(key), words, { title });
  const [one, other] = several ? ["First", "Second"] : [systems[pairs[0].a].name, systems[pairs[0].b].name];
  /** @type {(Column<DifferenceRow> | false)[]} */ const columns = [
    several && {
      label: "Pair, second against first",
      value: names,
      cell: (row) => h("span.name", { title: names(row) }, names(row)),
    },
    { label: "Metric", value: (row) => row.name },
    {
      label: "Verdict",
      title: `At 0.05, ${corrected}`,
      value: (row) => row.outcome?.verdict ?? null,
      cell: (row) => verdictChip(row.outcome?.verdict),
    },
    number(one, "mean_a", metric),
    number(other, "mean_b", metric),
    {
      label: "Difference, 95% interval",
      title: "Over the queries",
      number: true,
      value: valueGetter("difference"),
      cell: difference,
      parts: intervalParts("Difference", ({ outcome }) => [outcome?.difference, outcome?.lower, outcome?.upper]),
    },
    number("p, adjusted", "adjusted_p", pValue, `Randomisation test ${corrected}; decides the verdict`),
    number("p, randomisation", "randomisation_p", pValue, "Fisher's randomisation test, two-sided"),
    number("p, t-test", "t_test_p", pValue, "Paired t-test, two-sided"),
    {
      label: "Queries better, equal, worse",
      number: true,
      value: (row) => outcomeCounts(row)?.[0] ?? null,
      cell: (row) => outcomeCounts(row)?.map(count).join(" · ") ?? "–",
      parts: ["better", "equal", "worse"].map((outcome, index) => ({
        label: `Queries ${outcome}`,
        value: (row) => outcomeCounts(row)?.[index] ?? null,
      })),
    },
    number(
      "Effect size",
      "effect_size",
      (value) => signed(value, 3),
      "Mean difference divided by the standard deviation of the differences",
    ),
    number("Queries needed", "queries_needed", count, "To detect a difference of this size with 80% power"),
    number("Left out", "skipped", count, "Queries for which the metric is undefined for either system"),
  ];
  const table = sortableTable(
    columns.filter((column) => column !== false),
    { label: "Differences", first: INITIAL_ROWS },
  );
  table.node.classList.add("differences-table");

  /** Return the queries on which the second is better, equal and worse. @param {DifferenceRow} row */
  function outcomeCounts({ pair, name, outcome }) {
    if (!outcome) return null;
    const { wins, ties, losses } = outcome;
    return systems[pair.a].metrics[name].higher_is_better ? [wins, ties, losses] : [losses, ties, wins];
  }

  table.show(rows);
  return table.node;
}

/** @param {DifferenceRow} row */
function difference({ outcome }) {
  return outcome
    ? [
        signed(outcome.difference),
        outcome.lower !== null && h("small", `${signed(outcome.lower)} to ${signed(outcome.upper)}`),
      ]
    : "–";
}
