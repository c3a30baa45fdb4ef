/** Learning curves of several trainings in one figure. @module */
import { metricTabs } from "../evaluation/metrics.js";
import { figureView } from "../figures/figure.js";
import { lineStyle, swatch } from "../figures/legend.js";
import { jobPage } from "../page/paths.js";
import { findAll, h, replace, setAttribute, setText } from "../page/dom.js";
import { count, metric, joined } from "../page/format.js";
import { iterationAxis } from "./curves.js";
import { LOSS } from "./labels.js";

const HEIGHT = 400;

/**
 * Show the learning curves of several trainings in one figure, one metric at a time; validation data is preferred.
 *
 * @typedef {{id: string, name: string, title: string, slot: number, word: string, history: LearningCurves}} Line
 *   title: the full name; slot: index of the colour; word: noun of its iterations, such as epoch
 * @param {{metric: string | null, smoothing: number}} start
 * @param {{chosen: (name: string) => void, smoothed: (share: number) => void}} callbacks
 */
export function comparedCurves(start, { chosen, smoothed }) {
  const tabs = metricTabs([], choose, "Metric of the curves");
  const figure = figureView();
  figure.node.hidden = true;
  const note = h("p.plot-note", "Waiting for the first iteration.");
  const chips = h("ul.line-chips", { "aria-label": "Lines of the figure" });
  const words = h("p.hint.drawn");
  const slider = h("input", {
    type: "range",
    min: "0",
    max: "0.9",
    step: "0.1",
    value: start.smoothing,
    input: smooth,
  });
  const amount = h("output");
  const node = h("section.panel.curve.compared-curves", { "aria-label": "Learning curves" }, [
    h("div.panel-head", h("h2", "Learning curves"), h("label.smoothing", "Smoothing ", slider, amount)),
    tabs.node,
    words,
    figure.node,
    note,
    chips,
  ]);
  /** @type {Line[]} */ let lines = [];
  let current = start.metric;
  let total = 0;
  /** @type {string | null} */ let main = null;

  /** @param {Line[]} newLines @param {number} newTotal @param {string | null} rankingMetric */
  function update(newLines, newTotal, rankingMetric) {
    lines = newLines;
    total = newTotal;
    main = rankingMetric;
    const chosenLines = main ? "the best by validation" : "the first in the table, as there is no validation data";
    setText(
      words,
      total > lines.length ? `${lines.length} of ${count(total)} trainings are drawn: ${chosenLines}.` : "",
    );
    words.hidden = total <= lines.length;
    const metrics = curveMetrics(lines);
    if (!metrics.length) return;
    replace(chips, ...lines.map(chip));
    show([current, main].find((name) => name && metrics.includes(name)) ?? metrics[0]);
  }

  /** @param {string} name */
  function choose(name) {
    current = name;
    chosen(name);
    show(name);
  }

  function smooth() {
    smoothed(Number(slider.value));
    update(lines, total, main);
  }

  /** @param {string} name */
  function show(name) {
    tabs.show(name, curveMetrics(lines));
    setText(amount, Number(slider.value) ? slider.value : "none");
    note.hidden = true;
    figure.node.hidden = false;
    figure.draw({
      summary: summary(lines, name),
      key: axisTitle(lines, name),
      height: HEIGHT,
      x: iterationAxis(iterationLabel(lines)),
      y: { title: axisTitle(lines, name), read: metric },
      reading: "nearest",
      series: lines.flatMap((line) => seriesOf(line, name, Number(slider.value))),
    });
    setAttribute(figure.plot, "data-lines", lines.length);
  }

  /** Highlight one line by fading the others; null ends the highlight. @param {string | null} id */
  function highlight(id) {
    const line = lines.find((each) => each.id === id);
    setAttribute(figure.plot, "data-highlighted", line?.id);
    for (const each of findAll(chips, "li", HTMLLIElement))
      each.classList.toggle("faint", Boolean(line) && each.dataset.job !== id);
    figure.highlight(line ? line.id : null);
  }

  return { node, update, highlight };
}

/** Return the legend entry of a line. @param {Line} line */
export const chip = ({ id, name, title, slot }) =>
  h("li", { "data-job": id, title }, swatch(lineStyle(slot)), h("a.quiet-link", { href: jobPage(id) }, name));

/**
 * Return the metrics, those of validation data first. The loss is left out, as each loss has its own scale.
 * @param {Line[]} lines
 */
function curveMetrics(lines) {
  /** @param {string} part */
  const namesOf = (part) => lines.flatMap(({ history }) => Object.keys(history.curves[part] || {}));
  return [...new Set([...namesOf("validation"), ...namesOf("train")])].filter((name) => name !== LOSS);
}

/** @param {LearningCurves} history @param {string} name */
const valuesOf = ({ curves }, name) => curves.validation?.[name] || curves.train?.[name] || [];

/**
 * Return "validation ndcg@5", "training ndcg@5", or both where only some trainings have validation data.
 * @param {Line[]} lines @param {string} name
 */
function axisTitle(lines, name) {
  const parts = [
    lines.some(({ history }) => history.curves.validation?.[name]) && "validation",
    lines.some(({ history }) => !history.curves.validation?.[name] && history.curves.train?.[name]) && "training",
  ];
  return `${joined(parts, " or ")} ${name}`;
}

/** Return the exponential moving average with bias correction. @param {(number | null)[]} values @param {number} share weight of the previous values */
function smoothValues(values, share) {
  let sum = 0;
  let weight = 0;
  return values.map((value) => {
    if (value === null) return null;
    sum = sum * share + value * (1 - share);
    weight = weight * share + (1 - share);
    return sum / weight;
  });
}

/**
 * Return the line of a training, and a dot at its best iteration.
 * @param {Line} drawn @param {string} name
 * @param {number} share weight of the previous values
 * @returns {Series[]}
 */
function seriesOf({ id, title, slot, history }, name, share) {
  const { iterations, best_iteration: best } = history;
  const values = smoothValues(valuesOf(history, name), share);
  const part = history.curves.validation?.[name] ? "" : " (train)";
  const { colour, dash } = lineStyle(slot);
  const line = { name: title + part, group: id, colour, unnamed: true };
  const at = best === null ? -1 : iterations.indexOf(best);
  return [
    { ...line, dash, x: iterations, y: values },
    ...(at < 0 ? [] : [{ ...line, kind: /** @type {const} */ ("points"), x: [best], y: [values[at]], quiet: true }]),
  ];
}

/** Return "iteration", "epoch" or, where there are trees and networks, "iteration or epoch". @param {Line[]} lines */
export const iterationLabel = (lines) => [...new Set(lines.map(({ word }) => word))].sort().reverse().join(" or ");

/** @param {Line[]} lines @param {string} name */
function summary(lines, name) {
  const ends = lines.map(({ title, history }) => `${title} ${metric(valuesOf(history, name).at(-1))}`);
  return `${name} of ${lines.length} trainings, at the last measurement: ${ends.join("; ")}.`;
}
