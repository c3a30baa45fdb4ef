/**
 * Learning curves of several trainings in one figure.
 * @module
 */
import { metricTabs } from "../evaluation/metrics.js";
import {
  baseAxis,
  baseLayout,
  isDashed,
  iterationAxis,
  lineStyle,
  literal,
  loadPlotly,
  onThemeChange,
  theme,
} from "../figures/plotly.js";
import { jobPage } from "../page/addresses.js";
import { findAll, h, replace, setAttribute, setText, svg } from "../page/dom.js";
import { count, metric } from "../page/format.js";
import { LOSS } from "./labels.js";

/** @typedef {import("./curves.js").History} History */

const HEIGHT = 400; // that of .compared-curves .plot, too
/** @type {Partial<import("plotly.js").Config>} */
const CONFIG = { displayModeBar: false, responsive: true, doubleClick: "reset" };
const FAINT = 0.18;

/**
 * The learning curves of several trainings in one figure, one metric at a time: validation where there is one.
 *
 * @typedef {{id: string, name: string, title: string, slot: number, word: string, history: History}} Line
 *   title: the whole name; slot: which colour it has; word: what its iterations are called
 * @param {{metric: string | null, smoothing: number}} start
 * @param {{chosen: (name: string) => void, smoothed: (share: number) => void}} callbacks
 */
export function comparedCurves(start, { chosen, smoothed }) {
  const picker = h("div", {});
  const plot = h("div", { class: "plot", role: "img", hidden: true });
  const note = h("p", { class: "plot-note" }, "Waiting for the first iteration.");
  const chips = h("ul", { class: "line-chips", "aria-label": "Lines of the figure" });
  const words = h("p", { class: "hint drawn" });
  const slider = h("input", {
    type: "range",
    min: "0",
    max: "0.9",
    step: "0.1",
    value: start.smoothing,
    input: smooth,
  });
  const amount = h("output", {});
  const node = h(
    "section",
    { class: "panel curve compared-curves", "aria-label": "Learning curves" },
    h(
      "div",
      { class: "panel-head" },
      h("h2", {}, "Learning curves"),
      h("label", { class: "smoothing" }, "Smoothing ", slider, amount),
    ),
    picker,
    words,
    plot,
    note,
    chips,
  );
  /** @type {Line[]} */
  let lines = [];
  /** @type {ReturnType<typeof metricTabs> | null} */
  let tabs = null;
  let known = "";
  let current = start.metric;
  /** @type {string[]} the job of each trace */
  let drawnTraces = [];
  let total = 0;
  /** @type {string | null} */
  let main = null;

  /** @param {Line[]} newLines @param {number} all @param {string | null} ranked */
  function update(newLines, all, ranked) {
    lines = newLines;
    total = all;
    main = ranked;
    setText(words, total > lines.length ? `${lines.length} of ${count(total)} are drawn: the best by validation.` : "");
    words.hidden = total <= lines.length;
    const metrics = curveMetrics(lines);
    if (!metrics.length) return;
    if (known !== metrics.join()) {
      known = metrics.join();
      tabs = metricTabs(metrics, choose, "Metric of the curves");
      replace(picker, tabs.node);
    }
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
    if (tabs) update(lines, total, main);
  }

  /** @param {string} name */
  function show(name) {
    tabs?.show(name);
    setText(amount, Number(slider.value) ? slider.value : "none");
    draw(name).catch(() => {
      note.hidden = false;
      setText(note, "The chart could not be drawn; the numbers are in the table.");
    });
  }

  /** @param {string} name */
  async function draw(name) {
    const plotly = await loadPlotly();
    note.hidden = true;
    plot.hidden = false;
    const colours = theme();
    const found = lines.map((line) => traces(line, name, Number(slider.value), colours));
    drawnTraces = found.flatMap((some, index) => some.map(() => lines[index].id));
    await plotly.react(plot, found.flat(), layout(axisTitle(lines, name), iterationLabel(lines), colours), CONFIG);
    setAttribute(plot, "aria-label", summary(lines, name));
    setAttribute(plot, "data-lines", lines.length);
  }

  /** Leaves one line as it is and lets the others fade; all are as they were with null. @param {string | null} id */
  function highlight(id) {
    const some = id !== null && drawnTraces.includes(id);
    setAttribute(plot, "data-highlighted", some && id);
    for (const each of findAll(chips, "li", HTMLLIElement))
      each.classList.toggle("faint", some && each.dataset.job !== id);
    if (!drawnTraces.length) return;
    const opacity = drawnTraces.map((each) => (some && each !== id ? FAINT : 1));
    const width = drawnTraces.map((each) => (some && each === id ? 3.5 : 2));
    window.Plotly.restyle(plot, /** @type {{}} */ ({ opacity, "line.width": width }));
  }

  onThemeChange(() => tabs && update(lines, total, main));
  return { node, update, highlight };
}

/** A line of a figure, named. @param {Line} line */
export function chip({ id, name, title, slot }) {
  return h("li", { "data-job": id, title }, swatch(slot), h("a", { class: "quiet-link", href: jobPage(id) }, name));
}

/** A piece of a line as the figure has it. @param {number} slot */
export function swatch(slot) {
  return svg(
    "svg",
    { class: `swatch hue-${(slot % 10) + 1}`, viewBox: "0 0 18 6", "aria-hidden": "true" },
    svg("line", { x1: 0, x2: 18, y1: 3, y2: 3, "stroke-dasharray": isDashed(slot) && "5 3" }),
  );
}

/**
 * Return the metrics, those of validation data first. The loss is left out, as each loss has another scale.
 *
 * @param {Line[]} lines
 */
function curveMetrics(lines) {
  /** @param {string} part */
  const of = (part) => lines.flatMap(({ history }) => Object.keys(history.curves[part] || {}));
  return [...new Set([...of("validation"), ...of("train")])].filter((name) => name !== LOSS);
}

/** @param {History} history @param {string} name */
function valuesOf({ curves }, name) {
  return curves.validation?.[name] || curves.train?.[name] || [];
}

/**
 * Return "validation ndcg@5", "training ndcg@5", or both where trainings differ in that.
 *
 * @param {Line[]} lines
 * @param {string} name
 */
function axisTitle(lines, name) {
  const parts = [
    lines.some(({ history }) => history.curves.validation?.[name]) && "validation",
    lines.some(({ history }) => !history.curves.validation?.[name] && history.curves.train?.[name]) && "training",
  ];
  return `${parts.filter(Boolean).join(" or ")} ${name}`;
}

/** The exponential moving average, without the pull of its first value. @param {(number | null)[]} values @param {number} share of what was before */
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
 * @param {Line} drawn
 * @param {string} name
 * @param {number} share
 * @param {ReturnType<typeof theme>} colours
 * @returns {import("../figures/plotly.js").Trace[]}
 */
function traces({ name: title, slot, history }, name, share, colours) {
  const values = smoothValues(valuesOf(history, name), share);
  const style = lineStyle(slot, colours);
  const part = history.curves.validation?.[name] ? "" : " (train)";
  /** @type {import("../figures/plotly.js").Trace} */
  const line = {
    x: history.iterations,
    y: values,
    name: literal(title + part),
    mode: values.length === 1 ? "markers" : "lines",
    line: { ...style, width: 2 },
    hovertemplate: "%{y:.4f}",
  };
  const { best_iteration: iteration } = history;
  const at = iteration === null ? -1 : history.iterations.indexOf(iteration);
  /** @type {import("../figures/plotly.js").Trace} */
  const best = {
    x: [iteration],
    y: [values[at]],
    mode: "markers",
    marker: { color: style.color, size: 9, line: { color: colours.surface, width: 2 } },
    hoverinfo: "skip",
  };
  return at >= 0 ? [line, best] : [line];
}

/** Return "iteration", "epoch" or, where there are trees and networks, "iteration or epoch". @param {Line[]} lines */
export function iterationLabel(lines) {
  return [...new Set(lines.map(({ word }) => word))].sort().reverse().join(" or ");
}

/**
 * @param {string} title
 * @param {string} word of an iteration
 * @param {ReturnType<typeof theme>} colours
 * @returns {import("../figures/plotly.js").Layout}
 */
function layout(title, word, colours) {
  const axis = baseAxis(colours);
  return {
    ...baseLayout(colours, HEIGHT),
    uirevision: title,
    hovermode: "closest",
    showlegend: false,
    xaxis: iterationAxis(colours, word),
    yaxis: { ...axis, title: { text: title, standoff: 10 }, nticks: 6, tickformat: ".3~f" },
  };
}

/** @param {Line[]} lines @param {string} name */
function summary(lines, name) {
  const ends = lines.map(({ title, history }) => `${title} ${metric(valuesOf(history, name).at(-1))}`);
  return `${name} of ${lines.length} trainings, at the last measurement: ${ends.join("; ")}.`;
}
