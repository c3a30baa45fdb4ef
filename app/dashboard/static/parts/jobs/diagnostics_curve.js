/**
 * What the papers say of a loss while it trains: shares of queries in one figure, and the bounds of each paper in their order;
 * in each the training loss beside them.
 * @module
 */
import { isShare, readDiagnostics } from "../measuring/diagnostics_list.js";
import { h, replace, setAttribute, setText } from "../page/dom.js";
import { lossValue } from "../page/format.js";
import { LOSS } from "./job_labels.js";
import { metricTabs } from "../measuring/metric_tabs.js";
import { baseAxis, baseLayout, lineStyle, loadPlotly, onThemeChange, theme } from "../figures/plotly.js";

const CONFIG = { displayModeBar: false, responsive: true, doubleClick: "reset" };
const SHARES = "Shares of queries";

/** @returns {{node: HTMLElement, update: (history: import("./history.js").History) => void}} hidden while there is nothing to draw */
export function diagnosticsCurve() {
  const picker = h("div", {});
  const plot = h("div", { class: "plot", role: "img" });
  const note = h("p", { class: "hint" });
  const node = h("section", { class: "curve diagnostics-curve", "aria-label": "Diagnostics", hidden: true }, h("h3", {}, "Diagnostics"), picker, plot, note);
  let history = null;
  let groups = null;
  let tabs = null;
  let chosen = null;

  async function update(newHistory) {
    const values = newHistory.curves.diagnostics;
    if (newHistory === history || !values) return;
    history = newHistory;
    node.hidden = false;
    if (!groups) {
      groups = grouped(await readDiagnostics(), Object.keys(values));
      tabs = metricTabs([...groups.keys()], choose, "Diagnostics drawn");
      picker.replaceWith(tabs.node);
    }
    choose(groups.has(chosen) ? chosen : groups.keys().next().value);
  }

  function choose(name) {
    chosen = name;
    tabs.show(name);
    draw().catch(() => setText(note, "The chart could not be drawn."));
  }

  async function draw() {
    const group = groups.get(chosen);
    const plotly = await loadPlotly();
    await plotly.react(plot, traces(history, group, theme()), layout(chosen, theme()), CONFIG);
    setAttribute(plot, "aria-label", summary(history, chosen, group));
    setAttribute(plot, "data-lines", group.length);
    replace(note, ...group.map(({ title, summary: words }) => h("span", {}, h("strong", {}, title), ` ${words}`)));
  }

  onThemeChange(() => history && groups && draw());
  return { node, update };
}

/** Shares first, then each paper's costs, as the catalogue lists them. */
function grouped(catalogue, names) {
  const groups = new Map();
  for (const diagnostic of catalogue.filter(({ name }) => names.includes(name))) {
    const group = isShare(diagnostic) ? SHARES : diagnostic.source.split(",")[0];
    groups.set(group, [...(groups.get(group) || []), diagnostic]);
  }
  return groups;
}

/** Those iterations alone that were looked at. */
function points({ iterations, curves }, name) {
  const values = curves.diagnostics[name] || [];
  const at = values.flatMap((value, index) => (typeof value === "number" ? [index] : []));
  return { x: at.map((index) => iterations[index]), y: at.map((index) => values[index]) };
}

function traces(history, group, colours) {
  const lines = group.map(({ name, title }, index) => ({
    ...points(history, name),
    name: title,
    mode: "lines+markers",
    marker: { size: 5 },
    line: { ...lineStyle(index, colours), width: 1.75 },
    hovertemplate: "%{y:.4~g}",
  }));
  const loss = history.curves.train?.[LOSS];
  const beside = { x: history.iterations, y: loss, yaxis: "y2", name: "Training loss", mode: "lines", line: { color: colours.muted, width: 1, dash: "dot" }, hovertemplate: "%{y:.5~g}" };
  return loss ? [...lines, beside] : lines;
}

function layout(group, colours) {
  const axis = baseAxis(colours);
  return {
    ...baseLayout(colours, 280),
    uirevision: group,
    hovermode: "x unified",
    xaxis: { ...axis, title: { text: "iteration", standoff: 8 }, rangemode: "tozero", tickformat: ",d", showgrid: false },
    yaxis: { ...axis, nticks: 6, rangemode: "tozero", ...(group === SHARES ? { tickformat: ".3~p" } : {}) },
    yaxis2: { ...axis, overlaying: "y", side: "right", showgrid: false, nticks: 4, title: { text: "training loss", standoff: 8 } },
  };
}

function summary(history, group, diagnostics) {
  const last = ({ name, title }) => `${title} ${lossValue(points(history, name).y.at(-1))}`;
  return `${group} while training, at the last look: ${diagnostics.map(last).join(", ")}.`;
}
