/**
 * One quantity by iteration in several trainings: a line for each, one quantity at a time.
 * @module
 */
import { metricTabs } from "../evaluation/metrics.js";
import {
  baseAxis,
  baseLayout,
  iterationAxis,
  lineStyle,
  literal,
  loadPlotly,
  onThemeChange,
  theme,
} from "../figures/plotly.js";
import { get } from "../page/api.js";
import { helpLink } from "../page/content.js";
import { h, replace, setAttribute, setText } from "../page/dom.js";
import { lossValue, milliseconds, percent } from "../page/format.js";
import { chip, iterationLabel } from "./compared_curves.js";

/** @typedef {import("./compared_curves.js").Line} Line */
/** @typedef {import("./curves.js").History} History */
/** @typedef {ReturnType<typeof theme>} Colours */

/**
 * @typedef {object} Quantity
 * @property {string} name
 * @property {string} label of its button
 * @property {string} axis title of the vertical axis
 * @property {string} words what it means
 * @property {string} [source] where it is defined
 * @property {string} ticks format of the axis, of d3
 * @property {(value: number | undefined) => string} shown a value in words
 * @property {(history: History) => (number | null)[]} values one for each iteration, null where it was not measured
 */

const HEIGHT = 320;
/** @type {Partial<import("plotly.js").Config>} */
const CONFIG = { displayModeBar: false, responsive: true, doubleClick: "reset" };

/**
 * A figure with a line for each training that measured the chosen quantity; hidden while none did.
 *
 * @param {string} title
 * @param {{help: [page: string, label: string], find: (lines: Line[]) => Promise<Quantity[]> | Quantity[]}} options
 *   find: the quantities that at least one of the trainings measured
 */
export function overlay(title, { help, find }) {
  const place = h("div", {});
  const plot = h("div", { class: "plot", role: "img" });
  const words = h("p", { class: "hint" });
  const absent = h("p", { class: "hint", hidden: true });
  const chips = h("ul", { class: "line-chips", "aria-label": `Lines of ${title.toLowerCase()}` });
  const node = h(
    "section",
    { class: "panel overlay", "aria-label": title, hidden: true },
    h("div", { class: "panel-head" }, h("h2", {}, title, " ", helpLink(...help)), place),
    words,
    plot,
    chips,
    absent,
  );
  /** @type {Line[]} */
  let lines = [];
  /** @type {Quantity[]} */
  let quantities = [];
  /** @type {ReturnType<typeof metricTabs> | null} */
  let tabs = null;
  let chosen = "";

  /** @param {Line[]} newLines */
  async function update(newLines) {
    const known = quantities.map(({ name }) => name).join();
    lines = newLines;
    quantities = await find(lines);
    node.hidden = quantities.length === 0;
    if (node.hidden) return;
    if (known !== quantities.map(({ name }) => name).join()) {
      tabs = metricTabs(
        quantities.map(({ label }) => label),
        (label) => choose(quantities.find((each) => each.label === label)?.name ?? ""),
        `${title}: what is drawn`,
      );
      replace(place, tabs.node);
    }
    choose(quantities.some(({ name }) => name === chosen) ? chosen : quantities[0].name);
  }

  /** @param {string} name */
  function choose(name) {
    chosen = name;
    draw().catch(() => setText(words, "The chart could not be drawn."));
  }

  async function draw() {
    const quantity = quantities.find(({ name }) => name === chosen);
    if (!quantity) return;
    tabs?.show(quantity.label);
    const measured = lines.filter(({ history }) => quantity.values(history).some((value) => value !== null));
    const plotly = await loadPlotly();
    if (chosen !== quantity.name) return;
    replace(words, quantity.words, quantity.source && h("small", {}, ` ${quantity.source}`));
    replace(chips, ...measured.map(chip));
    const lacking = lines.length - measured.length;
    absent.hidden = lacking === 0;
    setText(absent, `${lacking} of the trainings did not record it.`);
    const colours = theme();
    await plotly.react(
      plot,
      measured.map((line) => trace(line, quantity, colours)),
      layout(quantity, iterationLabel(measured), colours),
      CONFIG,
    );
    setAttribute(plot, "aria-label", summary(measured, quantity));
    setAttribute(plot, "data-lines", measured.length);
  }

  onThemeChange(() => draw());
  return { node, update };
}

/** Return the iterations at which a quantity was measured, with its values. @param {History} history @param {Quantity} quantity */
function points(history, quantity) {
  const values = quantity.values(history);
  const at = values.flatMap((value, index) => (typeof value === "number" ? [index] : []));
  return { x: at.map((index) => history.iterations[index]), y: at.map((index) => values[index]) };
}

/** @param {Line} line @param {Quantity} quantity @param {Colours} colours @returns {import("../figures/plotly.js").Trace} */
function trace({ name, slot, history }, quantity, colours) {
  const found = points(history, quantity);
  return {
    ...found,
    name: literal(name),
    mode: found.x.length < 60 ? "lines+markers" : "lines",
    marker: { size: 5 },
    line: { ...lineStyle(slot, colours), width: 2 },
    hovertemplate: `%{y:${quantity.ticks}}`,
  };
}

/**
 * @param {Quantity} quantity
 * @param {string} word of an iteration
 * @param {Colours} colours
 * @returns {import("../figures/plotly.js").Layout}
 */
function layout({ name, axis, ticks }, word, colours) {
  return {
    ...baseLayout(colours, HEIGHT),
    uirevision: name,
    hovermode: "x unified",
    showlegend: false,
    xaxis: iterationAxis(colours, word),
    yaxis: {
      ...baseAxis(colours),
      nticks: 6,
      rangemode: "tozero",
      tickformat: ticks,
      title: { text: axis, standoff: 10 },
    },
  };
}

/** @param {Line[]} lines @param {Quantity} quantity */
function summary(lines, quantity) {
  const ends = lines.map(({ title, history }) => {
    const last = points(history, quantity).y.at(-1);
    return `${title} ${quantity.shown(last ?? undefined)}`;
  });
  return `${quantity.label} of ${lines.length} trainings, at the last measurement: ${ends.join("; ")}.`;
}

/** @type {Promise<Schemas["DiagnosticDescription"][]> | null} */
let catalogue = null;

/** The diagnostics that the losses of the trainings were asked for. @param {Line[]} lines @returns {Promise<Quantity[]>} */
export async function diagnosticsOf(lines) {
  const names = new Set(lines.flatMap(({ history }) => Object.keys(history.curves.diagnostics ?? {})));
  if (!names.size) return [];
  catalogue ??= get("/v1/metrics").then(({ diagnostics }) => diagnostics || []);
  const known = await catalogue;
  return known
    .filter(({ name }) => names.has(name))
    .map(({ name, title, summary: words, source, unit }) => {
      const share = unit === "share";
      return {
        name,
        label: title,
        axis: share ? "share of queries" : title,
        words,
        source,
        ticks: share ? ".3~p" : ".4~g",
        shown: (value) => (value === undefined ? "–" : share ? percent(value, 1) : lossValue(value)),
        values: ({ curves, iterations }) => curves.diagnostics?.[name] ?? iterations.map(() => null),
      };
    });
}

/** @type {Record<string, string>} */
const TIME_WORDS = {
  objective: "The loss and its gradient.",
  tree: "The rest of LightGBM's work on a tree.",
  network: "The network's scores, gradients and steps.",
  metrics: "Measuring on training and validation data.",
  diagnostics: "The diagnostics that the job asked for.",
};

/** The parts of an iteration's time that were recorded. @param {Line[]} lines @returns {Quantity[]} */
export function timesOf(lines) {
  const names = Object.keys(TIME_WORDS).filter((name) => lines.some(({ history }) => history.milliseconds[name]));
  return names.map((name) => ({
    name,
    label: name,
    axis: "milliseconds",
    words: `${TIME_WORDS[name]} Wall time of an ${iterationLabel(lines)}; trainings that ran beside others took longer.`,
    ticks: ",.3~f",
    shown: (value) => (value === undefined ? "–" : milliseconds(value)),
    values: ({ milliseconds: times, iterations }) => times[name] ?? iterations.map(() => null),
  }));
}
