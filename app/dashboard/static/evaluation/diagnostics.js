/**
 * Diagnostics of losses: at the scores of a model, and by iteration.
 * @module
 */
import { metricTabs } from "./metrics.js";
import { baseAxis, baseLayout, iterationAxis, lineStyle, loadPlotly, onThemeChange, theme } from "../figures/plotly.js";
import { LOSS } from "../jobs/labels.js";
import { get } from "../page/api.js";
import { helpLink, loaded } from "../page/content.js";
import { h, replace, setAttribute, setText } from "../page/dom.js";
import { lossValue, percent } from "../page/format.js";

/** @typedef {Schemas["DiagnosticDescription"]} Diagnostic */
/** @typedef {import("../jobs/curves.js").History} History */
/** @typedef {ReturnType<typeof theme>} Colours */

/** @returns {Promise<Diagnostic[]>} */
async function readDiagnostics() {
  return (await get("/v1/metrics")).diagnostics || [];
}

/** Check whether it is a share of queries, 0 to 1; the others are costs. @param {{unit: string}} diagnostic */
function isShare({ unit }) {
  return unit === "share";
}

/** @param {Schemas["LossDiagnostics"]} diagnostics */
export function diagnosticsPanel({ loss, cutoff, values }) {
  const place = h("div", {});
  loaded(place, async () => [list(values, await readDiagnostics())]);
  return h(
    "section",
    { class: "panel diagnostics" },
    h("div", { class: "panel-head" }, h("h2", {}, "Diagnostics"), helpLink("concepts/losses/", "Losses")),
    h("p", { class: "hint" }, `Of the loss ${loss.name} at these scores, with the top ${cutoff} looked at.`),
    place,
  );
}

/** @param {Record<string, number | null>} values @param {Diagnostic[]} catalogue */
function list(values, catalogue) {
  const known = new Map(catalogue.map((each) => [each.name, each]));
  /** @param {[string, number | null]} entry */
  const entry = ([name, value]) => {
    const diagnostic = known.get(name) || { title: name, summary: "", source: "", unit: "" };
    return h(
      "div",
      { class: "diagnostic" },
      h("dt", {}, diagnostic.title),
      h("dd", { class: "value" }, shown(value, diagnostic)),
      h("dd", { class: "hint" }, diagnostic.summary, diagnostic.source && h("small", {}, diagnostic.source)),
    );
  };
  return h("dl", {}, ...Object.entries(values).map(entry));
}

/** @param {number | null} value @param {{unit: string}} diagnostic */
function shown(value, diagnostic) {
  if (typeof value !== "number") return "–";
  return isShare(diagnostic) ? percent(value, 1) : lossValue(value);
}

/** @type {Partial<import("plotly.js").Config>} */
const CONFIG = { displayModeBar: false, responsive: true, doubleClick: "reset" };
const SHARES = "Shares of queries";

/** @returns {{node: HTMLElement, update: (history: import("../jobs/curves.js").History) => void}} hidden while there is nothing to draw */
export function diagnosticsCurve() {
  const picker = h("div", {});
  const plot = h("div", { class: "plot", role: "img" });
  const note = h("p", { class: "hint" });
  const node = h(
    "section",
    { class: "curve diagnostics-curve", "aria-label": "Diagnostics", hidden: true },
    h("h3", {}, "Diagnostics"),
    picker,
    plot,
    note,
  );
  /** @type {History | null} */
  let history = null;
  /** @type {Map<string, Diagnostic[]> | null} */
  let groups = null;
  /** @type {ReturnType<typeof metricTabs> | null} */
  let tabs = null;
  let chosen = "";

  /** @param {History} newHistory */
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
    choose(groups.has(chosen) ? chosen : [...groups.keys()][0]);
  }

  /** @param {string} name */
  function choose(name) {
    chosen = name;
    tabs?.show(name);
    draw().catch(() => setText(note, "The chart could not be drawn."));
  }

  async function draw() {
    const group = groups?.get(chosen);
    if (!history || !group) return;
    const plotly = await loadPlotly();
    await plotly.react(plot, traces(history, group, theme()), layout(chosen, theme()), CONFIG);
    setAttribute(plot, "aria-label", summary(history, chosen, group));
    setAttribute(plot, "data-lines", group.length);
    replace(note, ...group.map(({ title, summary: words }) => h("span", {}, h("strong", {}, title), ` ${words}`)));
  }

  onThemeChange(draw);
  return { node, update };
}

/**
 * Group diagnostics: shares first, then each paper's costs, as the catalogue lists them.
 *
 * @param {Diagnostic[]} catalogue
 * @param {string[]} names
 */
function grouped(catalogue, names) {
  /** @type {Map<string, Diagnostic[]>} */
  const groups = new Map();
  for (const diagnostic of catalogue.filter(({ name }) => names.includes(name))) {
    const group = isShare(diagnostic) ? SHARES : diagnostic.source.split(",")[0];
    groups.set(group, [...(groups.get(group) || []), diagnostic]);
  }
  return groups;
}

/**
 * Return the iterations at which a diagnostic was measured, with its values.
 *
 * @param {History} history
 * @param {string} name
 */
function points({ iterations, curves }, name) {
  const values = curves.diagnostics[name] || [];
  const at = values.flatMap((value, index) => (typeof value === "number" ? [index] : []));
  return { x: at.map((index) => iterations[index]), y: at.map((index) => values[index]) };
}

/**
 * @param {History} history
 * @param {Diagnostic[]} group
 * @param {Colours} colours
 * @returns {import("../figures/plotly.js").Trace[]}
 */
function traces(history, group, colours) {
  /** @type {import("../figures/plotly.js").Trace[]} */
  const lines = group.map(({ name, title }, index) => ({
    ...points(history, name),
    name: title,
    mode: "lines+markers",
    marker: { size: 5 },
    line: { ...lineStyle(index, colours), width: 1.75 },
    hovertemplate: "%{y:.4~g}",
  }));
  const loss = history.curves.train?.[LOSS];
  if (!loss) return lines;
  /** @type {import("../figures/plotly.js").Trace} */
  const beside = {
    x: history.iterations,
    y: loss,
    yaxis: "y2",
    name: "Training loss",
    mode: "lines",
    line: { color: colours.muted, width: 1, dash: "dot" },
    hovertemplate: "%{y:.5~g}",
  };
  return [...lines, beside];
}

/** @param {string} group @param {Colours} colours @returns {import("../figures/plotly.js").Layout} */
function layout(group, colours) {
  const axis = baseAxis(colours);
  return {
    ...baseLayout(colours, 280),
    uirevision: group,
    hovermode: "x unified",
    xaxis: iterationAxis(colours),
    yaxis: { ...axis, nticks: 6, rangemode: "tozero", ...(group === SHARES ? { tickformat: ".3~p" } : {}) },
    yaxis2: {
      ...axis,
      overlaying: "y",
      side: "right",
      showgrid: false,
      nticks: 4,
      title: { text: "training loss", standoff: 8 },
    },
  };
}

/** @param {History} history @param {string} group @param {Diagnostic[]} diagnostics */
function summary(history, group, diagnostics) {
  /** @param {Diagnostic} diagnostic */
  const last = ({ name, title }) => `${title} ${lossValue(points(history, name).y.at(-1))}`;
  return `${group} while training, at the last look: ${diagnostics.map(last).join(", ")}.`;
}
