/**
 * The learning curve: one metric at a time, training and validation, or the training loss; the best iteration marked.
 * @module
 */
import { h, replace, setAttribute, setText } from "../page/dom.js";
import { lossValue, metric } from "../page/format.js";
import { LOSS } from "./job_labels.js";
import { baseAxis, baseLayout, loadPlotly, onThemeChange, theme } from "../figures/plotly.js";

const CONFIG = { displayModeBar: false, responsive: true, doubleClick: "reset" };

/** @returns {{node: HTMLElement, update: (job: import("./job_labels.js").Job, history: import("./history.js").History) => void}} */
export function learningCurve() {
  const picker = h("div", { class: "tabs small", role: "group", "aria-label": "Metric or loss of the curve" });
  const plot = h("div", { class: "plot", role: "img", hidden: true });
  const note = h("p", { class: "plot-note" }, "Reading the learning curve…");
  const node = h("section", { class: "curve", "aria-label": "Learning curve" }, h("h3", {}, "Learning curve"), picker, plot, note);
  let chosen = null;
  let job = null;
  let history = null;
  let drawn = 0;

  function update(newJob, newHistory) {
    const same = newHistory === history && newJob.status === job?.status;
    job = newJob;
    history = newHistory;
    if (!same) draw();
  }

  async function draw() {
    const names = metricsOf(history);
    if (names.length === 0) {
      setText(note, job.status === "running" || job.status === "queued" ? "Waiting for the first iteration." : "No iteration was recorded.");
      return;
    }
    const name = names.includes(chosen) ? chosen : names.includes(job.main_metric?.name) ? job.main_metric.name : names[0];
    showPicker(names, name);
    const turn = ++drawn;
    try {
      const plotly = await loadPlotly();
      if (turn !== drawn) return;
      note.hidden = true;
      plot.hidden = false;
      const colours = theme();
      await plotly.react(plot, traces(history, name, colours), layout(history, name, colours), CONFIG);
      // Whoever chose another metric meanwhile has its description already.
      if (turn !== drawn) return;
      setAttribute(plot, "aria-label", summary(history, name));
      setAttribute(plot, "data-points", history.iterations.length);
    } catch {
      note.hidden = false;
      setText(note, "The chart could not be drawn; the numbers are in the table.");
    }
  }

  function showPicker(names, current) {
    if (picker.childElementCount !== names.length) {
      replace(picker, ...names.map((name) => h("button", { type: "button", value: name, click: () => choose(name) }, name)));
    }
    for (const button of picker.children) setAttribute(button, "aria-pressed", String(button.value === current));
  }

  function choose(name) {
    chosen = name;
    draw();
  }

  onThemeChange(() => history && draw());
  return { node, update };
}

/** What there is a curve of, the loss last. */
function metricsOf(history) {
  const names = new Set(["train", "validation"].flatMap((part) => Object.keys(history.curves[part] || {})));
  return [...names].sort((one, other) => (one === LOSS) - (other === LOSS));
}

function traces(history, name, colours) {
  const line = (part, label, color, width) => ({
    x: history.iterations,
    y: history.curves[part][name],
    name: label,
    mode: history.iterations.length === 1 ? "markers" : "lines",
    line: { color, width },
    hovertemplate: name === LOSS ? "%{y:.5~g}" : "%{y:.4f}",
  });
  const found = [];
  if (history.curves.train?.[name]) found.push(line("train", "train", colours.train, 1.5));
  if (history.curves.validation?.[name]) found.push(line("validation", "validation", colours.accent, 2.25));
  const best = bestPoint(history, name);
  if (best) {
    found.push({
      x: [best.iteration],
      y: [best.value],
      name: `best, iteration ${best.iteration}`,
      mode: "markers",
      marker: { color: colours.best, size: 10, line: { color: colours.surface, width: 2 } },
      hoverinfo: "skip",
    });
  }
  return found;
}

function bestPoint(history, name) {
  const iteration = history.best_iteration;
  const at = iteration ? history.iterations.indexOf(iteration) : -1;
  const value = (history.curves.validation?.[name] || history.curves.train?.[name])?.[at];
  return typeof value === "number" ? { iteration, value } : null;
}

function layout(history, name, colours) {
  const best = bestPoint(history, name);
  const axis = baseAxis(colours);
  return {
    ...baseLayout(colours, 280),
    uirevision: name,
    hovermode: "x unified",
    xaxis: { ...axis, title: { text: "iteration", standoff: 8 }, rangemode: "tozero", tickformat: ",d", showgrid: false },
    yaxis: { ...axis, nticks: 6, ...(name === LOSS ? { title: { text: LOSS, standoff: 10 }, exponentformat: "power" } : { tickformat: ".3~f" }) },
    shapes: best
      ? [{ type: "line", x0: best.iteration, x1: best.iteration, yref: "paper", y0: 0, y1: 1, line: { color: colours.best, width: 1, dash: "dot" } }]
      : [],
  };
}

function summary(history, name) {
  const words = name === LOSS ? lossValue : metric;
  const ends = ["train", "validation"].filter((part) => history.curves[part]?.[name]).map((part) => `${part} ${words(history.curves[part][name].at(-1))}`);
  const best = bestPoint(history, name);
  const end = `Learning curve of ${name} over ${history.iterations.length} measurements: ${ends.join(", ")}`;
  return best ? `${end}; best at iteration ${best.iteration} with ${words(best.value)}.` : `${end}.`;
}
