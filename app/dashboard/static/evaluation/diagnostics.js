/** Diagnostics of losses: values at the scores of a model, and curves by iteration. @module */
import { lineStyle } from "../figures/legend.js";
import { metricTabs } from "./metrics.js";
import { figureView } from "../figures/figure.js";
import { shareLabel } from "../figures/scales.js";
import { iterationAxis, measuredPoints } from "../jobs/curves.js";
import { LOSS } from "../jobs/labels.js";
import { getOnce } from "../page/api.js";
import { helpLink, loadInto } from "../page/content.js";
import { h, replace, setAttribute } from "../page/dom.js";
import { hint } from "../page/parts.js";
import { lossValue, percent } from "../page/format.js";

/** @typedef {Schemas["DiagnosticDescription"]} Diagnostic */

/** Return the descriptions of all diagnostics. @type {() => Promise<Diagnostic[]>} */
export const readDiagnostics = async () => (await getOnce("/v1/metrics")).diagnostics || [];

/** Check whether a diagnostic is a share of queries, 0 to 1; other diagnostics are costs. @param {{unit: string}} diagnostic */
export const isShare = ({ unit }) => unit === "share";

/** @param {Schemas["LossDiagnostics"]} diagnostics */
export function diagnosticsPanel({ loss, cutoff, values }) {
  const container = h("div");
  loadInto(container, async () => [diagnosticList(values, await readDiagnostics())]);
  return h("section.panel.diagnostics", [
    h("div.panel-head", h("h2", "Diagnostics"), helpLink("concepts/losses/", "Losses")),
    hint(`Diagnostics of the loss ${loss.name} at these scores, for the top ${cutoff} documents.`),
    container,
  ]);
}

/** @param {Record<string, number | null>} values @param {Diagnostic[]} catalogue */
function diagnosticList(values, catalogue) {
  const known = new Map(catalogue.map((each) => [each.name, each]));
  const entry = (/** @type {[string, number | null]} */ [name, value]) => {
    const diagnostic = known.get(name) || { title: name, summary: "", source: "", unit: "" };
    return h("div.diagnostic", [
      h("dt", diagnostic.title),
      h("dd.value", diagnosticLabel(value, diagnostic)),
      h("dd.hint", diagnostic.summary, diagnostic.source && h("small", diagnostic.source)),
    ]);
  };
  return h("dl", ...Object.entries(values).map(entry));
}

/** @param {number | null | undefined} value @param {{unit: string}} diagnostic */
export function diagnosticLabel(value, diagnostic) {
  if (typeof value !== "number") return "–";
  return isShare(diagnostic) ? percent(value, 1) : lossValue(value);
}

const SHARES = "Shares of queries";

/** @returns {{node: HTMLElement, update: (history: LearningCurves) => void}} hidden until the history has diagnostics */
export function diagnosticsCurve() {
  const tabs = metricTabs([], choose, "Diagnostics in the figure");
  const figure = figureView();
  const note = hint();
  const node = h("section.curve.diagnostics-curve", { "aria-label": "Diagnostics", hidden: true }, [
    h("h3", "Diagnostics"),
    tabs.node,
    figure.node,
    note,
  ]);
  /** @type {LearningCurves | null} */ let history = null;
  /** @type {Map<string, Diagnostic[]> | null} */ let groups = null;
  let chosen = "";

  /** @param {LearningCurves} newHistory */
  async function update(newHistory) {
    const values = newHistory.curves.diagnostics;
    if (newHistory === history || !values) return;
    groups ??= grouped(await readDiagnostics(), Object.keys(values));
    history = newHistory;
    node.hidden = false;
    choose(groups.has(chosen) ? chosen : [...groups.keys()][0]);
  }

  /** @param {string} name */
  function choose(name) {
    chosen = name;
    const group = groups?.get(name);
    if (!history || !groups || !group) return;
    tabs.show(name, [...groups.keys()]);
    figure.draw(diagnosticsFigure(history, name, group));
    setAttribute(figure.plot, "data-lines", group.length);
    replace(note, ...group.map(({ title, summary: words }) => h("span", h("strong", title), ` ${words}`)));
  }
  return { node, update };
}

/**
 * Group diagnostics in the order of the catalogue: all shares form one group, and the costs of each paper
 * form a group.
 * @param {Diagnostic[]} catalogue @param {string[]} names
 */
function grouped(catalogue, names) {
  /** @type {Map<string, Diagnostic[]>} */ const groups = new Map();
  for (const diagnostic of catalogue.filter(({ name }) => names.includes(name))) {
    const group = isShare(diagnostic) ? SHARES : diagnostic.source.split(",")[0];
    groups.set(group, [...(groups.get(group) || []), diagnostic]);
  }
  return groups;
}

/** @param {LearningCurves} history @param {string} name */
const points = ({ iterations, curves }, name) => measuredPoints(iterations, curves.diagnostics[name] || []);

/**
 * Return the diagnostics of a group, with the training loss on a second axis.
 * @param {LearningCurves} history @param {string} group @param {Diagnostic[]} diagnostics @returns {Figure}
 */
function diagnosticsFigure(history, group, diagnostics) {
  const loss = history.curves.train?.[LOSS];
  const lossStyle = { colour: "muted", width: 1, dash: "2 3", right: true };
  const isOfShares = group === SHARES;
  return {
    summary: summary(history, group, diagnostics),
    key: group,
    x: iterationAxis(),
    y: {
      title: isOfShares ? "share of queries" : diagnostics.length === 1 ? diagnostics[0].title : "cost",
      zero: true,
      format: isOfShares ? shareLabel : undefined,
      read: (value) => diagnosticLabel(value, diagnostics[0]),
    },
    right: { title: "training loss", read: lossValue },
    series: [
      ...diagnostics.map(({ name, title }, index) => ({
        name: title,
        ...lineStyle(index),
        dots: true,
        width: 1.75,
        ...points(history, name),
      })),
      ...(loss ? [{ name: "Training loss", x: history.iterations, y: loss, ...lossStyle }] : []),
    ],
  };
}

/** @param {LearningCurves} history @param {string} group @param {Diagnostic[]} diagnostics */
function summary(history, group, diagnostics) {
  /** @param {Diagnostic} diagnostic */
  const last = ({ name, title }) => `${title} ${lossValue(points(history, name).y.at(-1))}`;
  return `${group} during training, last values: ${diagnostics.map(last).join(", ")}.`;
}
