/**
 * Partial dependence: the panel and its Plotly figure.
 * @module
 */
import { metricTabs } from "../evaluation/metrics.js";
import { baseAxis, baseLayout, literal, loadPlotly, onThemeChange, soft, theme } from "../figures/plotly.js";
import { failureBox } from "../page/content.js";
import { h, replace, setAttribute, setText } from "../page/dom.js";
import { count, metric, percent, short } from "../page/format.js";

const MISSING_WIDTH = 0.07; // of the plot's width, left of the others
const RUG_HEIGHT = 0.06; // of its height, below the others
const MOST_TICKS = 6;

/**
 * Return the range of values without the outermost hundredths, where these would take most of the axis.
 *
 * @param {number[]} percentiles
 * @returns {[number, number] | undefined}
 */
function middleOf(percentiles) {
  const [low, high] = [percentiles[1], percentiles.at(-2) ?? NaN];
  if (!(high > low) || 2 * (high - low) > (percentiles.at(-1) ?? NaN) - percentiles[0]) return undefined;
  return [low - 0.03 * (high - low), high + 0.03 * (high - low)];
}

/** @typedef {Schemas["FeatureDependence"]} Dependence */
/** @typedef {ReturnType<typeof theme>} Colours */

/**
 * Return the least and the largest score of any feature.
 *
 * @param {Dependence[]} all
 * @returns {[number, number]}
 */
function scoresOf(all) {
  const responses = all.flatMap(({ points, missing }) => [...points, ...(missing ? [missing] : [])]);
  const least = Math.min(...responses.map(({ lower }) => lower));
  const largest = Math.max(...responses.map(({ upper }) => upper));
  const margin = 0.04 * (largest - least) || 0.5;
  return [least - margin, largest + margin];
}

/** Return a value, or the text of a category. @param {{value: number, text?: string | null}} point */
function featureValue({ value, text }) {
  return text ?? short(value);
}

/**
 * @param {Dependence} found
 * @param {string} axis `values` or `ranks`
 * @param {Colours} colours
 * @returns {import("../figures/plotly.js").Trace[]}
 */
function dependenceTraces({ feature, points, missing, percentiles }, axis, colours) {
  const x = points.map(({ value, share }) => (axis === "ranks" ? share : value));
  const words = points.map(
    (point) => `${literal(feature)} ${literal(featureValue(point))}, ${percent(point.share, 1)} up to it`,
  );
  /** @param {"lower" | "upper"} name @returns {import("../figures/plotly.js").Trace} */
  const edge = (name) => ({
    x,
    y: points.map((point) => point[name]),
    mode: "lines",
    line: { width: 0 },
    hoverinfo: "skip",
    showlegend: false,
  });
  const single = points.length === 1;
  /** @type {(import("../figures/plotly.js").Trace | null | false)[]} */
  const traces = [
    edge("lower"),
    { ...edge("upper"), fill: "tonexty", fillcolor: soft(colours.accent), name: "most documents", showlegend: !single },
    {
      x,
      y: points.map(({ mean }) => mean),
      text: words,
      name: "mean",
      mode: single ? "markers" : "lines+markers",
      line: { color: colours.accent, width: 2.25 },
      marker: { size: 5, color: colours.accent },
      hovertemplate: "%{text}<br>%{y:.4f}<extra></extra>",
    },
    missing && absent(missing, colours),
    axis === "values" && rug(percentiles, colours),
  ];
  return traces.filter((trace) => !!trace);
}

/**
 * @param {Schemas["MissingResponse"]} missing
 * @param {Colours} colours
 * @returns {import("../figures/plotly.js").Trace}
 */
function absent({ mean, lower, upper, share }, { best, surface }) {
  return {
    x: ["missing"],
    y: [mean],
    xaxis: "x2",
    name: `missing, ${percent(share, 1)}`,
    mode: "markers",
    marker: { color: best, size: 9, symbol: "diamond", line: { color: surface, width: 1.5 } },
    error_y: {
      type: "data",
      symmetric: false,
      array: [upper - mean],
      arrayminus: [mean - lower],
      color: best,
      thickness: 1.5,
      width: 4,
    },
    hovertemplate: "missing<br>%{y:.4f}<extra></extra>",
  };
}

/**
 * Draw one stroke for each hundredth of the data
 *
 * @param {number[]} percentiles
 * @param {Colours} colours
 * @param where values repeat, one stroke for all of them.
 * @returns {import("../figures/plotly.js").Trace}
 */
function rug(percentiles, { muted }) {
  const x = [...new Set(percentiles)];
  return {
    x,
    y: x.map(() => 0),
    yaxis: "y2",
    mode: "markers",
    marker: { symbol: "line-ns-open", size: 10, color: muted },
    hoverinfo: "skip",
    showlegend: false,
  };
}

/**
 * @param {Dependence} found
 * @param {string} axis `values` or `ranks`
 * @param {[number, number]} scores the range of all features
 * @param {Colours} colours
 * @returns {import("../figures/plotly.js").Layout}
 */
function dependenceLayout({ feature, points, missing, percentiles }, axis, scores, colours) {
  const plain = baseAxis(colours);
  const along =
    axis === "ranks"
      ? { ...ranked(points), title: { text: `${literal(feature)}, by the share of the documents`, standoff: 8 } }
      : { range: middleOf(percentiles), title: { text: literal(feature), standoff: 8 } };
  return {
    ...baseLayout(colours, 340),
    uirevision: `${feature} ${axis}`,
    hovermode: "closest",
    xaxis: { ...plain, ...along, domain: [missing ? MISSING_WIDTH + 0.03 : 0, 1], anchor: "y2", showgrid: false },
    xaxis2: {
      ...plain,
      domain: [0, MISSING_WIDTH],
      anchor: "y2",
      type: "category",
      fixedrange: true,
      showgrid: false,
      visible: Boolean(missing),
    },
    yaxis: {
      ...plain,
      domain: [RUG_HEIGHT + 0.03, 1],
      range: scores,
      nticks: 6,
      title: { text: "score", standoff: 10 },
      anchor: "free",
      position: 0,
    },
    yaxis2: { domain: [0, RUG_HEIGHT], range: [-1, 1], fixedrange: true, visible: false, anchor: "x" },
  };
}

/** Return even places for uneven values, with some of them as ticks. @param {Dependence["points"]} points */
function ranked(points) {
  const step = Math.max(1, Math.ceil(points.length / MOST_TICKS));
  const ticks = points.filter((_, index) => index % step === 0);
  return { tickvals: ticks.map(({ share }) => share), ticktext: ticks.map((point) => literal(featureValue(point))) };
}

/** @type {Partial<import("plotly.js").Config>} */
const CONFIG = { displayModeBar: false, responsive: true, doubleClick: "reset+autosize" };
const AXES = ["values", "ranks"];

/**
 * Show partial dependence: the mean score as one feature goes through its values, with the band of most documents, the
 * distribution of values, and the score of documents without the feature. All features share one scale of scores.
 *
 * @param {HTMLElement} node
 * @param {string | null} wanted the feature that is shown first, where it was followed
 * @param {(changed: Record<string, string>) => void} remember called with the shown feature
 */
export function dependencePanel(node, wanted, remember) {
  const picker = h("select", { "aria-label": "Feature", change: () => void choose(picker.value) });
  const tabs = metricTabs(AXES, spread, "Spread the feature by");
  const controls = h(
    "div",
    { class: "dependence-controls", hidden: true },
    h("label", {}, "Feature ", picker),
    h("span", { class: "axis-choice" }, "by ", tabs.node),
  );
  const plot = h("div", { class: "plot", role: "img", hidden: true });
  const note = h(
    "p",
    { class: "plot-note" },
    "Inspect the model on a dataset below to see how its scores follow the most important features.",
  );
  const words = h("p", { class: "hint" });
  const numbers = h("details", { class: "more", hidden: true });
  /** @type {Schemas["Inspection"] | null} */
  let inspection = null;
  let axis = AXES[0];
  let drawn = 0;

  node.firstElementChild?.append(controls);
  node.append(plot, note, words, numbers);
  onThemeChange(draw);

  /** @param {string} feature */
  function choose(feature) {
    wanted = feature;
    remember({ feature });
    draw();
  }

  /** @param {string} by */
  function spread(by) {
    axis = by;
    draw();
  }

  /** @param {Schemas["Inspection"]} newInspection */
  function show(newInspection) {
    inspection = newInspection;
    const names = newInspection.partial_dependence.map(({ feature }) => feature);
    replace(picker, ...names.map((name) => h("option", { value: name }, name)));
    controls.hidden = !names.length;
    if (names.length) draw();
    else fold("The model uses no feature: there is nothing to follow.");
  }

  /** @param {string} sentence */
  function fold(sentence) {
    plot.hidden = true;
    numbers.hidden = true;
    note.hidden = false;
    setText(words, "");
    setText(note, sentence);
  }

  async function draw() {
    if (!inspection?.partial_dependence.length) return;
    const all = inspection.partial_dependence;
    const found = all.find(({ feature }) => feature === wanted) || all[0];
    picker.value = found.feature;
    tabs.show(axis);
    const beyond = middleOf(found.percentiles) ? " The outermost are beyond the edges: press twice to see them." : "";
    setText(
      words,
      `Mean score of ${count(inspection.sample)} sampled documents if all had the same value; the band holds the middle 80% of them. ${axis === "values" ? `Strokes below mark the values: one for each hundredth of them, and one for all that are equal.${beyond}` : "Here the distance of values is the number of documents between them."}`,
    );
    replace(numbers, h("summary", {}, "As a table"), table(found));
    numbers.hidden = false;
    const turn = ++drawn;
    try {
      const plotly = await loadPlotly();
      if (turn !== drawn) return;
      note.hidden = true;
      plot.hidden = false;
      await plotly.react(
        plot,
        dependenceTraces(found, axis, theme()),
        dependenceLayout(found, axis, scoresOf(all), theme()),
        CONFIG,
      );
      setAttribute(plot, "aria-label", summary(found));
      setAttribute(plot, "data-feature", found.feature);
    } catch {
      plot.hidden = true;
      note.hidden = false;
      setText(note, "The chart could not be drawn; the numbers are in the table.");
    }
  }

  return {
    show,
    /** Show why there is nothing, with a way to try again. @param {unknown} error @param {() => void} retry */
    fail(error, retry) {
      replace(note, failureBox(error, retry));
    },
  };
}

/** @param {Dependence} found */
function summary({ feature, points, missing }) {
  const last = points.at(-1);
  const ends = last
    ? `from ${metric(points[0].mean)} at ${featureValue(points[0])} to ${metric(last.mean)} at ${featureValue(last)}`
    : "no value";
  return `Mean score as ${feature} grows: ${ends}${missing ? `; ${metric(missing.mean)} where it is missing` : ""}.`;
}

/** @param {Dependence} found */
function table({ feature, points, missing }) {
  const head = [feature, "Documents up to it", "Mean score", "10%", "90%"];
  /** @param {string} name @param {string} share @param {{mean: number, lower: number, upper: number}} scores */
  const row = (name, share, { mean, lower, upper }) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, name),
      ...[share, metric(mean), metric(lower), metric(upper)].map((cell) => h("td", { class: "number" }, cell)),
    );
  return h(
    "div",
    { class: "scroll", role: "region", "aria-label": `Scores by ${feature}`, tabindex: "0" },
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h("tr", {}, ...head.map((label, index) => h("th", { scope: "col", class: index && "number" }, label))),
      ),
      h(
        "tbody",
        {},
        missing && row("missing", `${percent(missing.share, 1)} lack it`, missing),
        ...points.map((point) => row(featureValue(point), percent(point.share, 1), point)),
      ),
    ),
  );
}
