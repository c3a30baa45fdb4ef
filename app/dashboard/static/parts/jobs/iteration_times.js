/**
 * Where the time of a training's iteration goes: one stacked bar of medians, told in its legend.
 * @module
 */
import { h, replace, setAttribute, svg } from "../page/dom.js";
import { counted, milliseconds } from "../page/format.js";

// As the API names them, in the order in which they are drawn.
const PARTS = {
  tree: "LightGBM's work on the tree",
  objective: "The loss and its gradient",
  metrics: "Measuring on training and validation data",
  diagnostics: "The diagnostics that the job asked for",
};
const GAP = 0.25;
const LEAST = 0.6;

/** @returns {{node: HTMLElement, update: (history: import("./history.js").History) => void}} hidden while no times are known */
export function iterationTimes() {
  const bar = svg("svg", { class: "stacked-bar", role: "img" });
  const legend = h("ul", { class: "legend" });
  const note = h("p", { class: "hint" });
  const node = h("section", { class: "iteration-times", "aria-label": "Time of an iteration", hidden: true }, h("div", { class: "iteration-times-head" }, h("h3", {}, "Time of an iteration"), note), bar, legend);
  let shown = null;

  function update(history) {
    if (history === shown) return;
    shown = history;
    const parts = medians(history.milliseconds);
    node.hidden = parts.length === 0;
    if (node.hidden) return;
    setAttribute(bar, "aria-label", `${parts.map(words).join(", ")} an iteration, medians.`);
    replace(bar, ...segments(parts));
    replace(legend, ...parts.map((part) => h("li", { "data-part": part.name, title: PARTS[part.name] }, `${part.name} `, h("strong", {}, milliseconds(part.time)))));
    const total = parts.reduce((sum, { time }) => sum + time, 0);
    replace(note, `${milliseconds(total)} in all; medians of ${counted(history.iterations.length, "measurement")}.`);
  }
  return { node, update };
}

function words({ name, time }) {
  return `${name} ${milliseconds(time)}`;
}

/** What each part takes, without those that were never recorded. */
function medians(times) {
  return Object.keys(PARTS)
    .map((name) => ({ name, time: median(times[name] || []) }))
    .filter(({ time }) => time !== null);
}

function median(values) {
  const sorted = values.filter((value) => typeof value === "number").sort((one, other) => one - other);
  if (sorted.length === 0) return null;
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.floor(sorted.length / 2)]) / 2;
}

/** Places are in per cent of the width; whatever takes any time can be seen. */
function segments(parts) {
  const total = parts.reduce((sum, { time }) => sum + time, 0) || 1;
  const widths = parts.map(({ time }) => Math.max(LEAST, (100 * time) / total));
  const room = (100 - GAP * (parts.length - 1)) / widths.reduce((sum, width) => sum + width, 0);
  let x = 0;
  return parts.map(({ name }, index) => {
    const width = widths[index] * room;
    const segment = svg("rect", { "data-part": name, x: `${x.toFixed(3)}%`, width: `${width.toFixed(3)}%`, height: "100%" });
    x += width + GAP;
    return segment;
  });
}
