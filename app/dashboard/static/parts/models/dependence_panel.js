/**
 * Partial dependence: the mean score as one feature goes through its values, with the band of most documents,
 * where the values lie, and what becomes of documents that lack it. All features share one scale of scores.
 * @module
 */
import { h, replace, setAttribute, setText } from "../page/dom.js";
import { count, metric, percent } from "../page/format.js";
import { failureBox } from "../page/loaded.js";
import { metricTabs } from "../measuring/metric_tabs.js";
import { dependenceLayout, dependenceTraces, middleOf, scoresOf, valueOf } from "./dependence_plot.js";
import { loadPlotly, onThemeChange, theme } from "../figures/plotly.js";

const CONFIG = { displayModeBar: false, responsive: true, doubleClick: "reset+autosize" };
const AXES = ["values", "ranks"];

/**
 * @param {HTMLElement} node
 * @param {string | null} wanted the feature that is shown first, where it was followed
 * @param {(changed: Record<string, string>) => void} told hears what is looked at
 */
export function dependencePanel(node, wanted, told) {
  const picker = h("select", { "aria-label": "Feature", change: () => choose(picker.value) });
  const tabs = metricTabs(AXES, spread, "Spread the feature by");
  const controls = h("div", { class: "dependence-controls", hidden: true }, h("label", {}, "Feature ", picker), h("span", { class: "axis-choice" }, "by ", tabs.node));
  const plot = h("div", { class: "plot", role: "img", hidden: true });
  const note = h("p", { class: "plot-note" }, "Inspect the model on a dataset below to see how its scores follow the most important features.");
  const words = h("p", { class: "hint" });
  const numbers = h("details", { class: "more", hidden: true });
  let inspection = null;
  let axis = AXES[0];
  let drawn = 0;

  node.firstElementChild.append(controls);
  node.append(plot, note, words, numbers);
  onThemeChange(() => inspection && draw());

  function choose(feature) {
    wanted = feature;
    told({ feature });
    draw();
  }

  function spread(by) {
    axis = by;
    draw();
  }

  function show(newInspection) {
    inspection = newInspection;
    const names = inspection.partial_dependence.map(({ feature }) => feature);
    replace(picker, ...names.map((name) => h("option", { value: name }, name)));
    controls.hidden = !names.length;
    if (names.length) draw();
    else fold("Its trees ask for no feature: there is nothing to follow.");
  }

  function fold(sentence) {
    plot.hidden = true;
    numbers.hidden = true;
    note.hidden = false;
    setText(words, "");
    setText(note, sentence);
  }

  async function draw() {
    const all = inspection.partial_dependence;
    const found = all.find(({ feature }) => feature === wanted) || all[0];
    picker.value = found.feature;
    tabs.show(axis);
    const beyond = middleOf(found.percentiles) ? " The outermost are beyond the edges: press twice to see them." : "";
    setText(words, `Mean score of ${count(inspection.sample)} sampled documents if all had the same value; the band holds the middle 80% of them. ${axis === "values" ? `Strokes below tell where the values lie: one for each hundredth of them, and one for all that are equal.${beyond}` : "Here the values stand as far apart as documents lie between them."}`);
    replace(numbers, h("summary", {}, "As a table"), table(found));
    numbers.hidden = false;
    const turn = ++drawn;
    try {
      const plotly = await loadPlotly();
      if (turn !== drawn) return;
      note.hidden = true;
      plot.hidden = false;
      await plotly.react(plot, dependenceTraces(found, axis, theme()), dependenceLayout(found, axis, scoresOf(all), theme()), CONFIG);
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
    /** Says why there is nothing, with a way to try again. */
    fail(error, retry) {
      replace(note, failureBox(error, retry));
    },
  };
}

function summary({ feature, points, missing }) {
  const ends = points.length ? `from ${metric(points[0].mean)} at ${valueOf(points[0])} to ${metric(points.at(-1).mean)} at ${valueOf(points.at(-1))}` : "no value";
  return `Mean score as ${feature} grows: ${ends}${missing ? `; ${metric(missing.mean)} where it is missing` : ""}.`;
}

function table({ feature, points, missing }) {
  const head = [feature, "Documents up to it", "Mean score", "10%", "90%"];
  const row = (name, share, { mean, lower, upper }) => h("tr", {}, h("th", { scope: "row" }, name), ...[share, metric(mean), metric(lower), metric(upper)].map((cell) => h("td", { class: "number" }, cell)));
  return h(
    "div",
    { class: "scroll", role: "region", "aria-label": `Scores by ${feature}`, tabindex: "0" },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, ...head.map((label, index) => h("th", { scope: "col", class: index && "number" }, label)))),
      h("tbody", {}, missing && row("missing", `${percent(missing.share, 1)} lack it`, missing), ...points.map((point) => row(valueOf(point), percent(point.share, 1), point))),
    ),
  );
}
