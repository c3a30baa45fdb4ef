/** Figures of one quantity by iteration, with a line for each training. @module */
import { lineStyle } from "../figures/legend.js";
import { diagnosticLabel, isShare, readDiagnostics } from "../evaluation/diagnostics.js";
import { metricTabs } from "../evaluation/metrics.js";
import { figureView } from "../figures/figure.js";
import { shareLabel } from "../figures/scales.js";
import { helpLink } from "../page/content.js";
import { h, replace, setAttribute, setText } from "../page/dom.js";
import { hint } from "../page/parts.js";
import { milliseconds } from "../page/format.js";
import { chip, iterationLabel } from "./compared_curves.js";
import { iterationAxis, measuredPoints, TIME_PARTS } from "./curves.js";

/** @typedef {import("./compared_curves.js").Line} Line */

/**
 * @typedef {object} Quantity
 * @property {string} name
 * @property {string} label of its button
 * @property {string} axis title of the vertical axis
 * @property {string} words description, shown above the figure
 * @property {string} [source] reference of the definition
 * @property {(value: number) => string} [formatTick] of the axis
 * @property {(value: number | undefined) => string} formatValue
 * @property {(history: LearningCurves) => (number | null)[]} values one for each iteration, null where it was not measured
 */

const HEIGHT = 320;
const MAX_DOTS = 60;

/**
 * Show a figure with a line for each training that measured the chosen quantity. The figure is
 * hidden if no training measured any quantity.
 * @param {string} title
 * @param {{help: [page: string, label: string], find: (lines: Line[]) => Promise<Quantity[]> | Quantity[]}} options
 *   find: the quantities that at least one of the trainings measured
 */
export function overlay(title, { help, find }) {
  const tabs = metricTabs([], choose, `${title}: quantity`);
  const figure = figureView();
  const words = hint();
  const absent = h("p.hint", { hidden: true });
  const chips = h("ul.line-chips", { "aria-label": `Lines of ${title.toLowerCase()}` });
  const node = h("section.panel.overlay", { "aria-label": title, hidden: true }, [
    h("div.panel-head", h("h2", title, " ", helpLink(...help)), tabs.node),
    words,
    figure.node,
    chips,
    absent,
  ]);
  /** @type {Line[]} */ let lines = [];
  /** @type {Quantity[]} */ let quantities = [];
  let chosen = "";

  /** @param {Line[]} newLines */
  async function update(newLines) {
    lines = newLines;
    quantities = await find(lines);
    node.hidden = quantities.length === 0;
    if (node.hidden) return;
    choose((quantities.find(({ name }) => name === chosen) ?? quantities[0]).label);
  }

  /** @param {string} label */
  function choose(label) {
    const quantity = quantities.find((each) => each.label === label);
    if (!quantity) return;
    chosen = quantity.name;
    tabs.show(
      label,
      quantities.map((each) => each.label),
    );
    const measured = lines.filter(({ history }) => quantity.values(history).some((value) => value !== null));
    replace(words, quantity.words, quantity.source && h("small", ` ${quantity.source}`));
    replace(chips, ...measured.map(chip));
    const missing = lines.length - measured.length;
    absent.hidden = missing === 0;
    setText(absent, `${missing} of the trainings did not record this quantity.`);
    figure.draw({
      summary: summary(measured, quantity),
      key: quantity.name,
      height: HEIGHT,
      x: iterationAxis(iterationLabel(measured)),
      y: { title: quantity.axis, zero: true, format: quantity.formatTick, read: quantity.formatValue },
      series: measured.map((line) => seriesOf(line, quantity)),
    });
    setAttribute(figure.plot, "data-lines", measured.length);
  }

  return { node, update };
}

/** Return the iterations at which a quantity was measured, with its values. @param {LearningCurves} history @param {Quantity} quantity */
const points = (history, quantity) => measuredPoints(history.iterations, quantity.values(history));

/** @param {Line} line @param {Quantity} quantity @returns {Series} */
function seriesOf({ id, name, slot, history }, quantity) {
  const { x, y } = points(history, quantity);
  return { name, group: id, ...lineStyle(slot), x, y, dots: x.length < MAX_DOTS, unnamed: true };
}

/** @param {Line[]} lines @param {Quantity} quantity */
function summary(lines, quantity) {
  const ends = lines.map(({ title, history }) => {
    const last = points(history, quantity).y.at(-1);
    return `${title} ${quantity.formatValue(last ?? undefined)}`;
  });
  return `${quantity.label} of ${lines.length} trainings, at the last measurement: ${ends.join("; ")}.`;
}

/** Return the loss diagnostics that the trainings recorded. @param {Line[]} lines @returns {Promise<Quantity[]>} */
export async function diagnosticsOf(lines) {
  const names = new Set(lines.flatMap(({ history }) => Object.keys(history.curves.diagnostics ?? {})));
  if (!names.size) return [];
  return (await readDiagnostics())
    .filter(({ name }) => names.has(name))
    .map((diagnostic) => ({
      name: diagnostic.name,
      label: diagnostic.title,
      axis: isShare(diagnostic) ? "share of queries" : diagnostic.title,
      words: diagnostic.summary,
      source: diagnostic.source,
      formatTick: isShare(diagnostic) ? shareLabel : undefined,
      formatValue: (value) => diagnosticLabel(value, diagnostic),
      values: ({ curves, iterations }) => curves.diagnostics?.[diagnostic.name] ?? iterations.map(() => null),
    }));
}

/** Return the recorded parts of an iteration's time. @param {Line[]} lines @returns {Quantity[]} */
export function timesOf(lines) {
  const names = Object.keys(TIME_PARTS).filter((name) => lines.some(({ history }) => history.milliseconds[name]));
  return names.map((name) => ({
    name,
    label: name,
    axis: "milliseconds",
    words: `${TIME_PARTS[name]}. Wall time of an ${iterationLabel(lines)} after the first, which also prepares the data. Trainings that ran at the same time as others took longer.`,
    formatValue: (value) => (value === undefined ? "–" : milliseconds(value)),
    values: ({ milliseconds: times, iterations }) =>
      iterations.map((_, index) => (index > 0 || iterations.length === 1 ? (times[name]?.[index] ?? null) : null)),
  }));
}
