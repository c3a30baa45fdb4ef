/** Partial dependence: the panel and its figure. @module */
import { metricTabs } from "../evaluation/metrics.js";
import { figureView } from "../figures/figure.js";
import { failureBox } from "../page/content.js";
import { h, replace, setAttribute, setText } from "../page/dom.js";
import { dataTable, hint, numberHeads } from "../page/parts.js";
import { count, percent, score, short } from "../page/format.js";

const HEIGHT = 340;

/**
 * Return the range from the 1st to the 99th percentile if the tails outside it would take most of the axis.
 * @param {number[]} percentiles @returns {[number, number] | undefined}
 */
function rangeWithoutTails(percentiles) {
  const [low, high] = [percentiles[1], percentiles.at(-2) ?? NaN];
  if (!(high > low) || 2 * (high - low) > (percentiles.at(-1) ?? NaN) - percentiles[0]) return undefined;
  return [low - 0.03 * (high - low), high + 0.03 * (high - low)];
}

/** @typedef {Schemas["FeatureDependence"]} Dependence */

/** Return the range of scores over all features. @param {Dependence[]} all @returns {[number, number]} */
function scoreRange(all) {
  const responses = all.flatMap(({ points, missing }) => [...points, ...(missing ? [missing] : [])]);
  const least = Math.min(...responses.map(({ lower }) => lower));
  const largest = Math.max(...responses.map(({ upper }) => upper));
  const margin = 0.04 * (largest - least) || 0.5;
  return [least - margin, largest + margin];
}

/** Return the text of a category, or the shortened number. @param {{value: number, text?: string | null}} point */
const featureValue = ({ value, text }) => text ?? short(value);

/**
 * Return the figure of one feature.
 * @param {Dependence} dependence
 * @param {string} axis `values` or `ranks`
 * @param {[number, number]} scores range of the score axis, which all features share
 * @returns {Figure}
 */
function dependenceFigure(dependence, axis, scores) {
  const { feature, points, missing, percentiles } = dependence;
  const x = points.map(({ value, share }) => (axis === "ranks" ? share : value));
  const mean = { name: "mean", colour: "accent", x };
  /** @type {import("../figures/frame.js").Axis} */
  const xAxis =
    axis === "ranks"
      ? {
          title: `${feature}, by the share of the documents`,
          ticks: points.map((point) => [point.share, featureValue(point)]),
        }
      : { title: feature, range: rangeWithoutTails(percentiles), read: short };
  const series = [
    points.length > 1 && {
      ...mean,
      name: "most documents",
      kind: /** @type {const} */ ("band"),
      y: [],
      low: points.map(({ lower }) => lower),
      high: points.map(({ upper }) => upper),
    },
    {
      ...mean,
      width: 2.25,
      dots: true,
      y: points.map((point) => point.mean),
      words: points.map((point) => `${feature} ${featureValue(point)}, ${percent(point.share, 1)} at or below`),
    },
    missing && missingMark(missing),
    axis === "values" && percentileStrokes(percentiles),
  ];
  return {
    summary: summary(dependence),
    key: `${feature} ${axis}`,
    height: HEIGHT,
    x: { ...xAxis, absent: missing ? "missing" : undefined },
    y: { title: "score", range: scores, read: score },
    series: series.filter((each) => !!each),
  };
}

/** @param {Schemas["MissingResponse"]} missing @returns {Series} */
function missingMark({ mean, lower, upper, share }) {
  const style = /** @type {const} */ ({ kind: "points", colour: "best", symbol: "diamond", size: 5 });
  return { name: `missing, ${percent(share, 1)}`, ...style, x: [null], y: [mean], low: [lower], high: [upper] };
}

/** Draw one stroke for each percentile of the values; equal percentiles share a stroke. @param {number[]} percentiles @returns {Series} */
const percentileStrokes = (percentiles) => ({
  name: "values",
  kind: "strokes",
  colour: "muted",
  x: [...new Set(percentiles)],
  y: [],
  unnamed: true,
});

const AXES = ["values", "ranks"];

/**
 * Show partial dependence: the mean score by the value of one feature, with the band of most documents, the distribution
 * of values, and the score where the feature is missing. All features share one scale of scores.
 * @param {HTMLElement} node
 * @param {string | null} wanted the feature that is shown first, if the inspection has it
 * @param {(changed: Record<string, string>) => void} remember called with the shown feature
 */
export function dependencePanel(node, wanted, remember) {
  const picker = h("select", { "aria-label": "Feature", change: () => void choose(picker.value) });
  const tabs = metricTabs(AXES, chooseAxis, "Scale of the feature axis");
  const controls = h("div.dependence-controls", { hidden: true }, [
    h("label", "Feature ", picker),
    h("span.axis-choice", "by ", tabs.node),
  ]);
  const figure = figureView();
  figure.node.hidden = true;
  const note = h("p.plot-note", [
    "Inspect the model on a dataset below to see how its scores depend on the most important features.",
  ]);
  const words = hint();
  const numbers = h("details.more", { hidden: true });
  /** @type {Schemas["Inspection"] | null} */ let inspection = null;
  let axis = AXES[0];

  node.firstElementChild?.append(controls);
  node.append(figure.node, note, words, numbers);

  /** @param {string} feature */
  function choose(feature) {
    wanted = feature;
    remember({ feature });
    draw();
  }

  /** @param {string} by */
  function chooseAxis(by) {
    axis = by;
    draw();
  }

  /** @param {Schemas["Inspection"]} newInspection */
  function show(newInspection) {
    inspection = newInspection;
    const names = newInspection.partial_dependence.map(({ feature }) => feature);
    replace(picker, ...names.map((name) => h("option", { value: name }, name)));
    if (!names.length) return showNothing("The model uses no feature, so there is no partial dependence.");
    controls.hidden = false;
    draw();
  }

  /** @param {string} sentence */
  function showNothing(sentence) {
    controls.hidden = true;
    figure.node.hidden = true;
    numbers.hidden = true;
    note.hidden = false;
    setText(words, "");
    setText(note, sentence);
  }

  function draw() {
    if (!inspection?.partial_dependence.length) return;
    const all = inspection.partial_dependence;
    const dependence = all.find(({ feature }) => feature === wanted) || all[0];
    picker.value = dependence.feature;
    tabs.show(axis);
    const tailsHint = rangeWithoutTails(dependence.percentiles)
      ? " The outermost percentiles are outside the axis: double-click to see them."
      : "";
    setText(
      words,
      `Mean score of ${count(inspection.sample)} sampled documents if all had the same value; the band holds the middle 80% of the scores. ${axis === "values" ? `Strokes on the axis mark the percentiles of the values.${tailsHint}` : "The distance between two values is the share of documents between them."}`,
    );
    replace(numbers, h("summary", "As a table"), table(dependence));
    numbers.hidden = false;
    note.hidden = true;
    figure.node.hidden = false;
    figure.draw(dependenceFigure(dependence, axis, scoreRange(all)));
    setAttribute(figure.plot, "data-feature", dependence.feature);
  }

  return {
    show,
    /** Show an error with a button to retry. @param {unknown} error @param {() => void} retry */
    fail(error, retry) {
      showNothing("");
      replace(note, failureBox(error, retry));
    },
  };
}

/** @param {Dependence} dependence */
function summary({ feature, points, missing }) {
  const last = points.at(-1);
  const ends = last
    ? `from ${score(points[0].mean)} at ${featureValue(points[0])} to ${score(last.mean)} at ${featureValue(last)}`
    : "no value";
  return `Mean score as ${feature} grows: ${ends}${missing ? `; ${score(missing.mean)} where it is missing` : ""}.`;
}

/** @param {Dependence} dependence */
function table({ feature, points, missing }) {
  const heads = [feature, numberHeads("Documents at or below", "Mean score", "10%", "90%")];
  const rows = points.map((point) => ({ ...point, name: featureValue(point), words: percent(point.share, 1) }));
  const absent = missing && { ...missing, name: "missing", words: `${percent(missing.share, 1)} without value` };
  return dataTable(`Scores by ${feature}`, heads, absent ? [absent, ...rows] : rows, ({ name, words, ...scores }) => [
    name,
    words,
    ...[scores.mean, scores.lower, scores.upper].map(score),
  ]);
}
