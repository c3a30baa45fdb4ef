/**
 * The learning curves of several trainings in one figure, one metric at a time: validation where there is one.
 * @module
 */
import { h, replace, setAttribute, setText } from "../page/dom.js";
import { metric } from "../page/format.js";
import { LOSS } from "./job_labels.js";
import { metricTabs } from "../measuring/metric_tabs.js";
import { baseAxis, baseLayout, lineStyle, literal, loadPlotly, onThemeChange, theme } from "../figures/plotly.js";

const HEIGHT = 420; // that of .compared-curves .plot, too
const CONFIG = { displayModeBar: false, responsive: true, doubleClick: "reset" };

/**
 * @typedef {{id: string, name: string, history: import("./history.js").History}} Line
 * @param {string} wanted the metric to begin with
 * @param {(name: string) => void} chosen told which metric is looked at
 * @returns {{node: HTMLElement, update: (lines: Line[]) => void}}
 */
export function comparedCurves(wanted, chosen) {
  const picker = h("div", {});
  const plot = h("div", { class: "plot", role: "img", hidden: true });
  const note = h("p", { class: "plot-note" }, "Waiting for the first iteration.");
  const node = h("section", { class: "panel curve compared-curves", "aria-label": "Learning curves" }, h("h2", {}, "Learning curves"), picker, plot, note);
  let lines = [];
  let tabs = null;
  let known = "";
  let current = wanted;

  function update(newLines) {
    lines = newLines;
    const metrics = metricsOf(lines);
    if (!metrics.length) return;
    if (known !== metrics.join()) {
      known = metrics.join();
      tabs = metricTabs(metrics, choose, "Metric of the curves");
      replace(picker, tabs.node);
    }
    show(metrics.includes(current) ? current : metrics[0]);
  }

  function choose(name) {
    current = name;
    chosen(name);
    show(name);
  }

  function show(name) {
    tabs.show(name);
    draw(name).catch(() => {
      note.hidden = false;
      setText(note, "The chart could not be drawn; the numbers are in the table.");
    });
  }

  async function draw(name) {
    const plotly = await loadPlotly();
    note.hidden = true;
    plot.hidden = false;
    const colours = theme();
    await plotly.react(plot, lines.flatMap((line, index) => traces(line, name, index, colours)), layout(name, colours), CONFIG);
    setAttribute(plot, "aria-label", summary(lines, name));
    setAttribute(plot, "data-lines", lines.length);
  }

  onThemeChange(() => tabs && update(lines));
  return { node, update };
}

/** Those measured on validation data first; the loss has no place here, for each loss has a scale of its own. */
function metricsOf(lines) {
  const of = (part) => lines.flatMap(({ history }) => Object.keys(history.curves[part] || {}));
  return [...new Set([...of("validation"), ...of("train")])].filter((name) => name !== LOSS);
}

function valuesOf({ curves }, name) {
  return curves.validation?.[name] || curves.train?.[name] || [];
}

function traces({ name: title, history }, name, index, colours) {
  const values = valuesOf(history, name);
  const style = lineStyle(index, colours);
  const part = history.curves.validation?.[name] ? "" : " (train)";
  const line = { x: history.iterations, y: values, name: literal(title + part), mode: values.length === 1 ? "markers" : "lines", line: { ...style, width: 2 }, legendgroup: index, hovertemplate: "%{y:.4f}" };
  const at = history.iterations.indexOf(history.best_iteration);
  const best = { x: [history.best_iteration], y: [values[at]], mode: "markers", marker: { color: style.color, size: 9, line: { color: colours.surface, width: 2 } }, legendgroup: index, showlegend: false, hoverinfo: "skip" };
  return at >= 0 ? [line, best] : [line];
}

function layout(name, colours) {
  const axis = baseAxis(colours);
  return {
    ...baseLayout(colours, HEIGHT),
    uirevision: name,
    hovermode: "x unified",
    legend: { orientation: "h", x: 0, y: -0.18, xanchor: "left", yanchor: "top", font: { color: colours.ink } },
    xaxis: { ...axis, title: { text: "iteration", standoff: 8 }, rangemode: "tozero", tickformat: ",d", showgrid: false },
    yaxis: { ...axis, nticks: 6, tickformat: ".3~f" },
  };
}

function summary(lines, name) {
  const ends = lines.map(({ name: title, history }) => `${title} ${metric(valuesOf(history, name).at(-1))}`);
  return `${name} of ${lines.length} trainings, at the last measurement: ${ends.join("; ")}.`;
}
