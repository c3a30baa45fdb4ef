/**
 * The differences of two systems on every query, sorted: how many gain, how many lose, and how much.
 * @module
 */
import { h, svg } from "../page/dom.js";
import { count, counted, percent } from "../page/format.js";
import { linearScale } from "../figures/scale.js";
import { signed } from "./verdict.js";

const HEIGHT = 100;

/**
 * @param {number[]} differences ascending, evenly picked
 * @param {{wins: number, ties: number, losses: number, queries: number, difference: number}} found
 * @param {{metric: string, higherIsBetter: boolean, names: [string, string]}} what names: the first system and the one set against it
 */
export function differencePlot(differences, found, { metric, higherIsBetter, names }) {
  const scale = linearScale([0, ...differences], 4);
  return h(
    "figure",
    { class: "differences" },
    h("figcaption", {}, `${metric} of ${names[1]} minus that of ${names[0]}, one column a query, sorted`),
    h("div", { class: "differences-plot" }, ticks(scale), columns(differences, scale, higherIsBetter, summary(found, metric))),
    shares(found, higherIsBetter),
  );
}

function columns(differences, scale, higherIsBetter, words) {
  const y = (value) => HEIGHT * (1 - scale.share(value));
  const zero = y(0);
  const area = (keep) => `M0 ${zero}${differences.map((value, index) => `V${keep(value) ? y(value).toFixed(3) : zero}H${index + 1}`).join("")}V${zero}Z`;
  return svg(
    "svg",
    { viewBox: `0 0 ${Math.max(1, differences.length)} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": words },
    ...scale.ticks.map((tick) => svg("line", { class: "tick", x1: 0, x2: differences.length, y1: y(tick), y2: y(tick) })),
    svg("path", { class: higherIsBetter ? "gained" : "lost", d: area((value) => value > 0) }),
    svg("path", { class: higherIsBetter ? "lost" : "gained", d: area((value) => value < 0) }),
    svg("line", { class: "zero", x1: 0, x2: differences.length, y1: zero, y2: zero }),
  );
}

function ticks(scale) {
  const words = (tick) => svg("text", { x: "100%", y: `${100 * (1 - scale.share(tick))}%`, dy: "0.35em", "text-anchor": "end" }, tick ? signed(tick, decimals(scale, tick)) : "0");
  return svg("svg", { class: "differences-ticks", "aria-hidden": "true" }, ...scale.ticks.map(words));
}

function decimals(scale, tick) {
  return scale.words(tick).split(".")[1]?.length ?? 0;
}

/** The three kinds of queries, as wide as they are many, in the order of the columns above. */
function shares({ wins, ties, losses, queries }, higherIsBetter) {
  const parts = [
    [losses, higherIsBetter ? "worse" : "better", higherIsBetter ? "lost" : "gained"],
    [ties, "equal", "equal"],
    [wins, higherIsBetter ? "better" : "worse", higherIsBetter ? "gained" : "lost"],
  ].filter(([number]) => number > 0);
  let from = 0;
  const segment = ([number, , kind]) => {
    const x = from;
    from += (100 * number) / queries;
    return svg("rect", { class: kind, x: `${x}%`, y: 0, width: `${(100 * number) / queries}%`, height: "100%" });
  };
  return h(
    "div",
    { class: "differences-shares" },
    svg("svg", { "aria-hidden": "true" }, ...parts.map(segment)),
    h("ul", {}, ...parts.map(([number, words, kind]) => h("li", { "data-kind": kind }, h("strong", {}, count(number)), ` ${words} `, h("small", {}, percent(number, queries))))),
  );
}

function summary({ wins, ties, losses, queries, difference }, metric) {
  return `Differences of ${metric} over ${counted(queries, "query", "queries")}: larger on ${count(wins)}, equal on ${count(ties)}, smaller on ${count(losses)}; ${signed(difference)} on average.`;
}
