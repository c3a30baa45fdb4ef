/**
 * Figures of a study: best value so far, parallel coordinates, slices and the timeline of its trials.
 * @module
 */
import { baseAxis, baseLayout, loadPlotly, onThemeChange, theme } from "../figures/plotly.js";
import { h, setAttribute, setText } from "../page/dom.js";
import { counted, metric } from "../page/format.js";
import {
  comparing,
  dimensionsOf,
  finished,
  isNumeric,
  metricOf,
  parameterName,
  valueAt,
  valueLabel,
} from "./labels.js";

/** @typedef {import("./labels.js").Study} Study */
/** @typedef {import("./labels.js").Trial} Trial */
/** @typedef {import("../figures/plotly.js").Trace} Trace */
/** @typedef {import("../figures/plotly.js").Layout} Layout */
/** @typedef {ReturnType<typeof theme>} Colours */
/** @typedef {{traces: Trace[], layout: Layout, summary: string, lacks?: string}} Figure */

/** @type {Partial<import("plotly.js").Config>} */
const CONFIG = { displayModeBar: false, responsive: true, doubleClick: "reset" };

/**
 * A panel with one figure, drawn again when the study or the theme changes.
 *
 * @param {string} title
 * @param {string} hint
 * @param {(study: Study, trials: Trial[], colours: Colours) => Figure} make
 */
function figurePanel(title, hint, make) {
  const plot = h("div", { class: "plot", role: "img", "aria-label": title });
  const note = h("p", { class: "plot-note", hidden: true });
  const node = h(
    "section",
    { class: "panel study-figure", "aria-label": title },
    h("h2", {}, title),
    h("p", { class: "hint" }, hint),
    plot,
    note,
  );
  /** @type {Study | null} */
  let study = null;
  /** @type {Trial[]} */
  let trials = [];

  async function draw() {
    if (!study) return;
    const { traces, layout, summary, lacks } = make(study, trials, theme());
    plot.hidden = Boolean(lacks);
    note.hidden = !lacks;
    setText(note, lacks ?? "");
    if (lacks) return;
    try {
      const plotly = await loadPlotly();
      await plotly.react(plot, traces, layout, CONFIG);
      setAttribute(plot, "aria-label", summary);
      setAttribute(plot, "data-drawn", true);
    } catch {
      note.hidden = false;
      setText(note, "The chart could not be drawn; the numbers are in the table.");
    }
  }

  onThemeChange(draw);
  return {
    node,
    /** @param {Study} newStudy @param {Trial[]} newTrials */
    update(newStudy, newTrials) {
      study = newStudy;
      trials = newTrials;
      return draw();
    },
  };
}

/** Every trial's value, and the best one so far as a line. */
export function historyFigure() {
  return figurePanel(
    "History",
    "Each point is a trial; the line is the best value so far. Pruned trials were stopped after some folds.",
    (study, trials, colours) => {
      const better = comparing(study);
      const done = finished(trials);
      if (!done.length) return nothing("Waiting for the first trial to end.");
      const pruned = trials.filter(({ status, value }) => status === "pruned" && value !== null);
      /** @type {number[]} */
      const best = [];
      for (const { value } of done) {
        const last = best.at(-1);
        best.push(last === undefined || better(Number(value), last) ? Number(value) : last);
      }
      const name = metricOf(study);
      const standard = done.filter(({ number }) => number === 0);
      return {
        traces: [
          points(pruned, "Pruned", {
            color: colours.muted,
            size: 7,
            symbol: "x-thin",
            line: { width: 1.5, color: colours.muted },
          }),
          points(
            done.filter(({ number }) => number !== 0),
            "Finished",
            { color: colours.accent, size: 7 },
          ),
          points(standard, "Default", { color: colours.best, size: 11, symbol: "diamond" }),
          {
            x: done.map(({ number }) => number),
            y: best,
            name: "Best so far",
            mode: "lines",
            line: { color: colours.accent, width: 2, shape: "hv" },
            hoverinfo: "skip",
          },
        ],
        layout: {
          ...baseLayout(colours, 320),
          hovermode: "closest",
          xaxis: {
            ...baseAxis(colours),
            title: { text: "trial", standoff: 8 },
            showgrid: false,
            tick0: 0,
            dtick: Math.ceil(trials.length / 10),
          },
          yaxis: { ...baseAxis(colours), title: { text: name, standoff: 10 }, nticks: 6, tickformat: ".3~f" },
        },
        summary: `${counted(done.length, "finished trial")}; the best ${name} is ${metric(best.at(-1))}.`,
      };
    },
  );
}

/** @param {Trial[]} trials @param {string} name @param {Trace["marker"]} marker @returns {Trace} */
function points(trials, name, marker) {
  return {
    x: trials.map(({ number }) => number),
    y: trials.map(({ value }) => value),
    name,
    mode: "markers",
    marker,
    hovertemplate: "trial %{x}: %{y:.4f}",
  };
}

const MOST_LINES = 300;

/** All parameters of each finished trial as one line, coloured by its value. */
export function parallelFigure() {
  return figurePanel(
    "Parallel coordinates",
    "One line a finished trial, from its parameters to its value. The better the trial, the stronger its line; the best is orange.",
    (study, trials, colours) => {
      const better = comparing(study);
      const done = finished(trials)
        .sort((one, other) => (better(Number(one.value), Number(other.value)) ? 1 : -1))
        .slice(-MOST_LINES);
      if (done.length < 2) return nothing("Waiting for a second trial to end.");
      const name = metricOf(study);
      const axes = [
        ...dimensionsOf(study).map(([pointer, dimension]) => axisOf(pointer, dimension, done)),
        axisOfValues(name, done),
      ];
      const traces = done.map((trial, index) => {
        const isBest = index === done.length - 1;
        const at = axes.flatMap(({ places }, axis) => (places[index] === null ? [] : [axis]));
        return /** @type {Trace} */ ({
          x: at,
          y: at.map((axis) => axes[axis].places[index]),
          mode: "lines+markers",
          line: { color: isBest ? colours.best : colours.accent, width: isBest ? 3 : 1.5 },
          marker: { size: isBest ? 7 : 3 },
          opacity: isBest ? 1 : 0.08 + 0.72 * (index / done.length) ** 2,
          text: at.map((axis) => `trial ${trial.number}, ${axes[axis].label}: ${axes[axis].words[index]}`),
          hovertemplate: "%{text}<extra></extra>",
        });
      });
      const { margin, ...base } = baseLayout(colours, 380);
      const plain = { showgrid: false, zeroline: false, fixedrange: true };
      return {
        traces,
        layout: {
          ...base,
          margin: { ...margin, l: 40, r: 40, t: 16, b: 48 },
          showlegend: false,
          hovermode: "closest",
          xaxis: {
            ...plain,
            range: [-0.35, axes.length - 0.65],
            tickvals: axes.map((_, index) => index),
            ticktext: axes.map(({ label }) => label),
            tickfont: { color: colours.ink },
            automargin: true,
          },
          yaxis: { ...plain, range: [-0.06, 1.06], showticklabels: false },
          shapes: axes.map((_, index) => ({
            type: "line",
            x0: index,
            x1: index,
            y0: 0,
            y1: 1,
            layer: "below",
            line: { color: colours.line, width: 1.5 },
          })),
          annotations: axes.flatMap(({ ticks }, index) =>
            ticks.map(([place, text]) => ({
              x: index,
              y: place,
              text,
              showarrow: false,
              xanchor: "left",
              xshift: 5,
              font: { size: 11, color: colours.muted },
              bgcolor: colours.surface,
              borderpad: 1,
              opacity: 0.85,
            })),
          ),
        },
        summary: `${counted(done.length, "finished trial")} by ${axes.map(({ label }) => label).join(", ")}.`,
      };
    },
  );
}

/** @typedef {{label: string, places: (number | null)[], words: string[], ticks: [number, string][]}} ParallelAxis places: 0 to 1, null where a trial has no such parameter */

/** @param {string} name @param {Trial[]} trials @returns {ParallelAxis} */
function axisOfValues(name, trials) {
  const values = trials.map(({ value }) => Number(value));
  return scaled(name, values, Math.min(...values), Math.max(...values), metric);
}

/** @param {string} pointer @param {import("./labels.js").Dimension} dimension @param {Trial[]} trials @returns {ParallelAxis} */
function axisOf(pointer, dimension, trials) {
  const label = parameterName(pointer);
  const found = trials.map((trial) => valueAt(trial, pointer));
  if (!isNumeric(dimension)) {
    const words = found.map((value) => (value === undefined ? "not used" : valueLabel(value)));
    const names = [...new Set((dimension.choices ?? []).map(valueLabel).concat(words))].filter(
      (word) => word !== "not used",
    );
    /** @param {string} word */
    const place = (word) => (names.length > 1 ? names.indexOf(word) / (names.length - 1) : 0.5);
    return {
      label,
      words,
      places: words.map((word) => (word === "not used" ? null : place(word))),
      ticks: names.map((word) => [place(word), word]),
    };
  }
  const values = found.map((value) => (typeof value === "number" ? value : null));
  const known = values.filter((value) => value !== null);
  const low = Math.min(...known, dimension.low ?? Infinity);
  const high = Math.max(...known, dimension.high ?? -Infinity);
  return scaled(label, values, low, high, valueLabel, dimension.log);
}

/**
 * @param {string} label
 * @param {(number | null)[]} values
 * @param {number} low
 * @param {number} high
 * @param {(value: number) => string} shown
 * @param {boolean} [log]
 * @returns {ParallelAxis}
 */
function scaled(label, values, low, high, shown, log = false) {
  const across = log && low > 0 ? Math.log : Number;
  const width = across(high) - across(low) || 1;
  const middle = log && low > 0 ? Math.sqrt(low * high) : (low + high) / 2;
  return {
    label,
    places: values.map((value) => (value === null ? null : (across(value) - across(low)) / width)),
    words: values.map((value) => (value === null ? "not used" : shown(value))),
    ticks: [
      [0, shown(low)],
      [0.5, shown(middle)],
      [1, shown(high)],
    ],
  };
}

/** The value of finished trials against each parameter by itself. */
export function slicesFigure() {
  return figurePanel(
    "Slices",
    "The value of each finished trial against one parameter at a time; darker points came later.",
    (study, trials, colours) => {
      const done = finished(trials);
      if (!done.length) return nothing("Waiting for the first trial to end.");
      const dimensions = dimensionsOf(study);
      const columns = Math.min(dimensions.length, innerWidth < 640 ? 1 : 3);
      const rows = Math.ceil(dimensions.length / columns);
      /** @type {Layout} */
      const layout = {
        ...baseLayout(colours, Math.max(300, 240 * rows)),
        showlegend: false,
        hovermode: "closest",
        ...{ grid: { rows, columns, pattern: "independent", xgap: 0.16, ygap: 0.3 } },
      };
      const most = Math.max(1, ...done.map(({ number }) => number));
      const traces = dimensions.map(([pointer, dimension], index) => {
        const at = index ? String(index + 1) : "";
        const used = done.filter((trial) => valueAt(trial, pointer) !== undefined);
        const numeric = isNumeric(dimension);
        Object.assign(layout, {
          [`xaxis${at}`]: {
            ...baseAxis(colours),
            title: { text: parameterName(pointer), standoff: 4 },
            showgrid: false,
            ...(numeric ? (dimension.log ? { type: "log", dtick: "D2" } : {}) : { type: "category" }),
          },
          [`yaxis${at}`]: { ...baseAxis(colours), nticks: 5, tickformat: ".3~f" },
        });
        return /** @type {Trace} */ ({
          x: used.map((trial) => (numeric ? valueAt(trial, pointer) : valueLabel(valueAt(trial, pointer)))),
          y: used.map(({ value }) => value),
          text: used.map(({ number }) => `trial ${number}`),
          xaxis: `x${at}`,
          yaxis: `y${at}`,
          mode: "markers",
          marker: {
            size: 8,
            color: used.map(({ number }) => number / most),
            colorscale: [
              [0, colours.train],
              [1, colours.accent],
            ],
            opacity: 0.85,
          },
          hovertemplate: "%{text}: %{y:.4f} at %{x}<extra></extra>",
        });
      });
      const names = dimensions.map(([pointer]) => parameterName(pointer)).join(", ");
      return { traces, layout, summary: `${metricOf(study)} of ${counted(done.length, "trial")} against ${names}.` };
    },
  );
}

/** Timeline of trials with their outcomes. */
export function timelineFigure() {
  return figurePanel("Timeline", "When each trial ran: one bar a trial, by what came of it.", (_, trials, colours) => {
    const started = trials.filter(({ started_at: at }) => at);
    if (!started.length) return nothing("No trial has started yet.");
    const first = Math.min(...started.map(({ started_at: at }) => Date.parse(at ?? "")));
    /** @type {Record<string, string>} */
    const colourOf = {
      succeeded: colours.accent,
      pruned: colours.train,
      failed: colours.best,
      cancelled: colours.line,
      running: colours.hues[3],
    };
    const kinds = Object.keys(colourOf).filter((kind) => started.some(({ status }) => status === kind));
    const seconds = (/** @type {string | null} */ at) => ((at ? Date.parse(at) : Date.now()) - first) / 1000;
    const traces = kinds.map((kind) => {
      const some = started.filter(({ status }) => status === kind);
      return /** @type {Trace} */ ({
        type: "bar",
        orientation: "h",
        name: kind,
        y: some.map(({ number }) => number),
        base: some.map(({ started_at: at }) => seconds(at)),
        x: some.map(({ started_at: from, finished_at: to }) => Math.max(0.05, seconds(to) - seconds(from))),
        marker: { color: colourOf[kind] },
        hovertemplate: "trial %{y}: %{x:.1f} s",
      });
    });
    return {
      traces,
      layout: {
        ...baseLayout(colours, Math.min(640, Math.max(220, 90 + 9 * started.length))),
        barmode: "overlay",
        bargap: 0.25,
        hovermode: "closest",
        xaxis: {
          ...baseAxis(colours),
          title: { text: "seconds since the first trial", standoff: 8 },
          rangemode: "tozero",
        },
        yaxis: { ...baseAxis(colours), title: { text: "trial", standoff: 10 }, autorange: "reversed", showgrid: false },
      },
      summary: `${counted(started.length, "trial")}: ${kinds.map((kind) => `${started.filter(({ status }) => status === kind).length} ${kind}`).join(", ")}.`,
    };
  });
}

/** @param {string} lacks @returns {Figure} */
function nothing(lacks) {
  return { traces: [], layout: {}, summary: "", lacks };
}
