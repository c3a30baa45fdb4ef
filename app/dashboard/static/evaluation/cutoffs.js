/** A metric against its cutoff, for one system with baselines or for several systems. @module */
import { figureView } from "../figures/figure.js";
import { lineStyle } from "../figures/legend.js";
import { intervalLabel } from "../figures/whiskers.js";
import { h, replace, setAttribute, setText } from "../page/dom.js";
import { dataTable, disclosure, hint, numberHeads } from "../page/parts.js";
import { metric } from "../page/format.js";
import { metricTabs } from "./metrics.js";

/** Dash patterns of the baselines' lines, and their colours. */
const DASHES = ["6 4", "2 3", "6 3 2 3", "12 4"];
const COLOURS = ["best", "train", "ink", "muted"];
const HEIGHT = 320;
const CUTOFF = /^(.+)@(\d+)$/;

/**
 * @typedef {object} MeasuredSystem
 * @property {string} name
 * @property {Record<string, MeanInterval>} metrics by spelling, such as `ndcg@10`
 * @property {number} [slot] index of the colour of its line
 * @property {boolean} [baseline] whether the system needs no training: drawn dashed and without an interval
 */

/**
 * Return a panel that plots a metric against its cutoff, with 95% intervals as bands.
 * @param {string} words below the figure
 * @returns {{node: HTMLElement, update: (systems: MeasuredSystem[]) => void}} hidden if no metric has at
 *   least `MIN_CUTOFFS` cutoffs
 */
export function cutoffPanel(words) {
  const tabs = metricTabs([], choose, "Metric against its cutoff");
  const figure = figureView();
  const note = hint(words);
  const numbers = h("div");
  const title = h("h2");
  const node = h("section.panel.cutoffs", { hidden: true }, [
    h("div.panel-head", title, tabs.node),
    figure.node,
    note,
    disclosure("As a table", numbers),
  ]);
  /** @type {MeasuredSystem[]} */ let systems = [];
  /** @type {Map<string, number[]>} */ let families = new Map();
  let family = "";

  /** @param {MeasuredSystem[]} measured */
  function update(measured) {
    systems = measured;
    families = cutoffsByMetric(systems.flatMap(({ metrics }) => Object.keys(metrics)));
    node.hidden = families.size === 0;
    if (node.hidden) return;
    choose(families.has(family) ? family : [...families.keys()][0]);
  }

  /** @param {string} name */
  function choose(name) {
    family = name;
    const cutoffs = families.get(name) ?? [];
    tabs.show(name, [...families.keys()]);
    setText(title, `${name.length <= 4 ? name.toUpperCase() : name}@k against k`);
    replace(numbers, table(systems, name, cutoffs));
    figure.draw(cutoffFigure(systems, name, cutoffs));
    setAttribute(figure.plot, "data-cutoffs", cutoffs.length);
    setAttribute(figure.plot, "data-lines", systems.length);
  }
  return { node, update };
}

/** Return the cutoffs, ascending, of each metric that has at least `MIN_CUTOFFS`. @param {string[]} spellings */
function cutoffsByMetric(spellings) {
  /** @type {Map<string, Set<number>>} */ const families = new Map();
  for (const [, name, cutoff] of spellings.flatMap((spelling) => [CUTOFF.exec(spelling) ?? []])) {
    if (name) families.set(name, (families.get(name) ?? new Set()).add(Number(cutoff)));
  }
  return new Map(
    [...families]
      .filter(([, cutoffs]) => cutoffs.size >= MIN_CUTOFFS)
      .map(([name, cutoffs]) => [name, [...cutoffs].sort((one, other) => one - other)]),
  );
}

/** Minimum number of cutoffs for a curve; fewer values are readable without a figure. */
const MIN_CUTOFFS = 4;

/**
 * Return the figure of the systems; the bands are drawn first, then the lines, then the baselines.
 * @param {MeasuredSystem[]} systems @param {string} name @param {number[]} cutoffs @returns {Figure}
 */
function cutoffFigure(systems, name, cutoffs) {
  const measured = systems.filter(({ baseline }) => !baseline);
  const single = measured.length === 1;
  /** @param {MeasuredSystem} system @param {"mean" | "lower" | "upper"} key */
  const values = ({ metrics }, key) => cutoffs.map((cutoff) => metrics[`${name}@${cutoff}`]?.[key] ?? null);
  /** @param {MeasuredSystem} system @param {Partial<Series>} style @returns {Series} */
  const line = (system, style) => ({
    name: system.name,
    colour: "accent",
    x: cutoffs,
    y: values(system, "mean"),
    ...style,
  });
  const styles = measured.map(({ slot }, index) => (single ? { colour: "accent" } : lineStyle(slot ?? index)));
  const lines = measured.map((system, index) => line(system, { ...styles[index], width: 2.25, dots: true, size: 3 }));
  const band = { kind: /** @type {const} */ ("band"), dash: null, unnamed: true, opacity: single ? 1 : 0.55 };
  const bands = lines.map((each, index) => ({
    ...each,
    ...band,
    y: [],
    low: values(measured[index], "lower"),
    high: values(measured[index], "upper"),
  }));
  const baselineLines = systems
    .filter(({ baseline }) => baseline)
    .map((system, index) =>
      line(system, { colour: COLOURS[index % COLOURS.length], width: 1.5, dash: DASHES[index % DASHES.length] }),
    );
  return {
    summary: summary(systems, name, cutoffs),
    key: name,
    height: HEIGHT,
    x: { title: "k, number of top documents", ticks: cutoffs.map((cutoff) => [cutoff, String(cutoff)]) },
    y: { title: `${name}@k`, read: metric },
    series: [...bands, ...lines, ...baselineLines],
  };
}

/** @param {MeasuredSystem[]} systems @param {string} name @param {number[]} cutoffs */
function summary(systems, name, cutoffs) {
  const parts = systems
    .filter(({ baseline }) => !baseline)
    .map(({ name: system, metrics }) => {
      const at = (/** @type {number} */ cutoff) => `${metric(metrics[`${name}@${cutoff}`]?.mean)} at ${cutoff}`;
      return `${system} ${at(cutoffs[0])}, ${at(cutoffs[cutoffs.length - 1])}`;
    });
  return `${name} against the cutoff: ${parts.join("; ")}.`;
}

/** @param {MeasuredSystem[]} systems @param {string} name @param {number[]} cutoffs */
function table(systems, name, cutoffs) {
  /** @param {MeasuredSystem} system @param {number} cutoff */
  const cell = ({ metrics, baseline }, cutoff) => {
    const interval = metrics[`${name}@${cutoff}`];
    return baseline
      ? metric(interval?.mean)
      : [h("strong", metric(interval?.mean)), " ", h("small.missing", intervalLabel(interval))];
  };
  const heads = ["k", numberHeads(...systems.map((system) => system.name))];
  return dataTable(`${name} by cutoff`, heads, cutoffs, (cutoff) => [
    cutoff,
    ...systems.map((system) => cell(system, cutoff)),
  ]);
}
