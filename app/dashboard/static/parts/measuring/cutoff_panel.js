/**
 * A metric against its cutoff, where several were measured: the mean with its interval, and the baselines beside it.
 * @module
 */
import { h, replace, setAttribute, setText } from "../page/dom.js";
import { metric } from "../page/format.js";
import { metricTabs } from "./metric_tabs.js";
import { baseAxis, baseLayout, literal, loadPlotly, onThemeChange, theme } from "../figures/plotly.js";
import { intervalWords } from "../figures/whiskers.js";

const CONFIG = { displayModeBar: false, responsive: true, doubleClick: "reset" };
const DASHES = ["dash", "dot", "dashdot", "longdash"];
const CUTOFF = /^(.+)@(\d+)$/;

/** @param {any} evaluation @returns {HTMLElement | null} null where no metric has two cutoffs */
export function cutoffPanel(evaluation) {
  const families = familiesOf(Object.keys(evaluation.metrics));
  if (!families.size) return null;
  const tabs = metricTabs([...families.keys()], choose, "Metric against its cutoff");
  const plot = h("div", { class: "plot", role: "img" });
  const note = h("p", { class: "hint" }, "95% intervals as a band; lines that are broken need no training.");
  const place = h("div", {});
  const numbers = h("details", { class: "more" }, h("summary", {}, "As a table"), place);
  const title = h("h2", {});
  let family = families.keys().next().value;

  function choose(name) {
    family = name;
    tabs.show(name);
    setText(title, `${spelled(name)}@k against k`);
    replace(place, table(evaluation, name, families.get(name)));
    draw();
  }

  async function draw() {
    const drawn = family;
    const cutoffs = families.get(drawn);
    setAttribute(plot, "aria-label", summary(evaluation, drawn, cutoffs));
    try {
      const plotly = await loadPlotly();
      if (drawn !== family) return;
      await plotly.react(plot, traces(evaluation, drawn, cutoffs, theme()), layout(drawn, cutoffs, theme()), CONFIG);
      setAttribute(plot, "data-cutoffs", cutoffs.length);
    } catch {
      plot.hidden = true;
      setText(note, "The chart could not be drawn; the numbers are in the table.");
    }
  }

  choose(family);
  onThemeChange(draw);
  return h("section", { class: "panel cutoffs" }, h("div", { class: "panel-head" }, title, tabs.node), plot, note, numbers);
}

/** Cutoffs by metric, ascending, of those that have several. @returns {Map<string, number[]>} */
function familiesOf(spellings) {
  const families = new Map();
  for (const [, name, cutoff] of spellings.map((spelling) => CUTOFF.exec(spelling)).filter(Boolean)) {
    families.set(name, [...(families.get(name) || []), Number(cutoff)].sort((one, other) => one - other));
  }
  return new Map([...families].filter(([, cutoffs]) => cutoffs.length > 1));
}

function spelled(name) {
  return name.length <= 4 ? name.toUpperCase() : name;
}

function traces({ system, metrics, baselines }, name, cutoffs, { accent, ink, best, train, muted }) {
  const of = (all) => cutoffs.map((cutoff) => all[`${name}@${cutoff}`]);
  const values = (all, key) => of(all).map((interval) => interval?.[key] ?? null);
  const edge = (key) => ({ x: cutoffs, y: values(metrics, key), mode: "lines", line: { width: 0 }, hoverinfo: "skip", showlegend: false });
  const colours = [best, train, ink, muted];
  return [
    edge("lower"),
    { ...edge("upper"), fill: "tonexty", fillcolor: `${accent}2e` },
    ...(baselines || []).map((baseline, index) => ({
      x: cutoffs,
      y: values(baseline.metrics, "mean"),
      name: literal(baseline.name),
      mode: "lines",
      line: { color: colours[index % colours.length], width: 1.5, dash: DASHES[index % DASHES.length] },
      hovertemplate: "%{y:.4f}",
    })),
    { x: cutoffs, y: values(metrics, "mean"), name: literal(system), mode: "lines+markers", line: { color: accent, width: 2.25 }, marker: { color: accent, size: 6 }, hovertemplate: "%{y:.4f}" },
  ];
}

function layout(name, cutoffs, colours) {
  const axis = baseAxis(colours);
  return {
    ...baseLayout(colours, 320),
    uirevision: name,
    hovermode: "x unified",
    xaxis: { ...axis, title: { text: "k, documents looked at", standoff: 8 }, tickvals: cutoffs, showgrid: false },
    yaxis: { ...axis, nticks: 6, tickformat: ".3~f", title: { text: `${name}@k`, standoff: 10 } },
  };
}

function summary({ system, metrics }, name, cutoffs) {
  const at = (cutoff) => `${metric(metrics[`${name}@${cutoff}`].mean)} at ${cutoff}`;
  return `${name} of ${system} against the cutoff: ${at(cutoffs[0])}, ${at(cutoffs.at(-1))}.`;
}

function table({ system, metrics, baselines }, name, cutoffs) {
  const rows = cutoffs.map((cutoff) => {
    const key = `${name}@${cutoff}`;
    const others = (baselines || []).map((baseline) => h("td", { class: "number" }, metric(baseline.metrics[key]?.mean)));
    return h("tr", {}, h("th", { scope: "row" }, cutoff), h("td", { class: "number" }, h("strong", {}, metric(metrics[key].mean)), " ", h("small", { class: "missing" }, intervalWords(metrics[key]))), ...others);
  });
  const heads = ["k", system, ...(baselines || []).map((baseline) => baseline.name)];
  return h("div", { class: "scroll", role: "region", "aria-label": `${name} by cutoff`, tabindex: "0" }, h("table", {}, h("thead", {}, h("tr", {}, ...heads.map((words, index) => h("th", { scope: "col", class: index > 0 && "number" }, words)))), h("tbody", {}, ...rows)));
}
