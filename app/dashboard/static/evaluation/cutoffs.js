/**
 * A metric against its cutoff, of one system beside baselines or of several.
 * @module
 */
import { baseAxis, baseLayout, lineStyle, literal, loadPlotly, onThemeChange, soft, theme } from "../figures/plotly.js";
import { intervalLabel } from "../figures/whiskers.js";
import { h, replace, setAttribute, setText } from "../page/dom.js";
import { metric } from "../page/format.js";
import { metricTabs } from "./metrics.js";

/** @type {Partial<import("plotly.js").Config>} */
const CONFIG = { displayModeBar: false, responsive: true, doubleClick: "reset" };
/** @type {import("plotly.js").Dash[]} */
const DASHES = ["dash", "dot", "dashdot", "longdash"];
const CUTOFF = /^(.+)@(\d+)$/;

/** @typedef {import("../figures/whiskers.js").Interval} Interval */
/** @typedef {import("../figures/plotly.js").Trace} Trace */
/** @typedef {ReturnType<typeof theme>} Colours */
/**
 * @typedef {object} Measured
 * @property {string} name
 * @property {Record<string, Interval>} metrics by spelling, such as `ndcg@10`
 * @property {number} [slot] colour of its line
 * @property {boolean} [baseline] whether it needs no training: drawn broken and without an interval
 */

/**
 * A panel of a metric against its cutoff, with 95% intervals as bands.
 *
 * @param {string} hint below the figure
 * @returns {{node: HTMLElement, update: (systems: Measured[]) => void}} hidden where no metric has two cutoffs
 */
export function cutoffPanel(hint) {
  const place = h("div", {});
  const plot = h("div", { class: "plot", role: "img" });
  const note = h("p", { class: "hint" }, hint);
  const numbers = h("div", {});
  const title = h("h2", {});
  const node = h(
    "section",
    { class: "panel cutoffs", hidden: true },
    h("div", { class: "panel-head" }, title, place),
    plot,
    note,
    h("details", { class: "more" }, h("summary", {}, "As a table"), numbers),
  );
  /** @type {Measured[]} */
  let systems = [];
  /** @type {Map<string, number[]>} */
  let families = new Map();
  /** @type {ReturnType<typeof metricTabs> | null} */
  let tabs = null;
  let family = "";

  /** @param {Measured[]} measured */
  function update(measured) {
    systems = measured;
    const before = [...families.keys()].join();
    families = familiesOf(systems.flatMap(({ metrics }) => Object.keys(metrics)));
    node.hidden = families.size === 0;
    if (node.hidden) return;
    if (before !== [...families.keys()].join()) {
      tabs = metricTabs([...families.keys()], choose, "Metric against its cutoff");
      replace(place, tabs.node);
    }
    choose(families.has(family) ? family : [...families.keys()][0]);
  }

  /** @param {string} name */
  function choose(name) {
    family = name;
    tabs?.show(name);
    setText(title, `${spelled(name)}@k against k`);
    replace(numbers, table(systems, name, families.get(name) ?? []));
    draw();
  }

  async function draw() {
    const drawn = family;
    const cutoffs = families.get(drawn) ?? [];
    if (!cutoffs.length) return;
    setAttribute(plot, "aria-label", summary(systems, drawn, cutoffs));
    try {
      const plotly = await loadPlotly();
      if (drawn !== family) return;
      await plotly.react(
        plot,
        traces(systems, drawn, cutoffs, theme()),
        layout(systems, drawn, cutoffs, theme()),
        CONFIG,
      );
      setAttribute(plot, "data-cutoffs", cutoffs.length);
      setAttribute(plot, "data-lines", systems.length);
    } catch {
      plot.hidden = true;
      setText(note, "The chart could not be drawn; the numbers are in the table.");
    }
  }

  onThemeChange(draw);
  return { node, update };
}

/**
 * Return the cutoffs, ascending, of each metric that has several.
 *
 * @param {string[]} spellings
 * @returns {Map<string, number[]>}
 */
function familiesOf(spellings) {
  /** @type {Map<string, Set<number>>} */
  const families = new Map();
  for (const [, name, cutoff] of spellings.flatMap((spelling) => [CUTOFF.exec(spelling) ?? []])) {
    if (name) families.set(name, (families.get(name) ?? new Set()).add(Number(cutoff)));
  }
  return new Map(
    [...families]
      .filter(([, cutoffs]) => cutoffs.size > 1)
      .map(([name, cutoffs]) => [name, [...cutoffs].sort((one, other) => one - other)]),
  );
}

/** @param {string} name */
function spelled(name) {
  return name.length <= 4 ? name.toUpperCase() : name;
}

/**
 * @param {Measured[]} systems
 * @param {string} name
 * @param {number[]} cutoffs
 * @param {Colours} colours
 * @returns {Trace[]}
 */
function traces(systems, name, cutoffs, colours) {
  const measured = systems.filter(({ baseline }) => !baseline);
  const single = measured.length === 1;
  const broken = [colours.best, colours.train, colours.ink, colours.muted];
  const bands = measured.flatMap((system, index) => {
    const { color } = colourOf(system, index, single, colours);
    return band(system, name, cutoffs, soft(color, single ? 0.18 : 0.1));
  });
  const beside = systems
    .filter(({ baseline }) => baseline)
    .map((system, index) => {
      const dash = DASHES[index % DASHES.length];
      const color = broken[index % broken.length];
      return /** @type {Trace} */ ({
        ...line(system, name, cutoffs),
        mode: "lines",
        line: { color, width: 1.5, dash },
      });
    });
  const lines = measured.map((system, index) => ({
    ...line(system, name, cutoffs),
    ...solid(colourOf(system, index, single, colours)),
  }));
  return [...bands, ...beside, ...lines];
}

/** @param {Measured} system @param {number} index @param {boolean} single @param {Colours} colours */
function colourOf({ slot }, index, single, colours) {
  return single ? { color: colours.accent, dash: /** @type {const} */ ("solid") } : lineStyle(slot ?? index, colours);
}

/** @param {{color: string, dash: import("plotly.js").Dash}} style @returns {Trace} */
function solid(style) {
  return { mode: "lines+markers", line: { ...style, width: 2.25 }, marker: { color: style.color, size: 6 } };
}

/** @param {Measured} system @param {string} name @param {number[]} cutoffs @param {"mean" | "lower" | "upper"} key */
function values({ metrics }, name, cutoffs, key) {
  return cutoffs.map((cutoff) => metrics[`${name}@${cutoff}`]?.[key] ?? null);
}

/** @param {Measured} system @param {string} name @param {number[]} cutoffs @returns {Trace} */
function line(system, name, cutoffs) {
  return {
    x: cutoffs,
    y: values(system, name, cutoffs, "mean"),
    name: literal(system.name),
    hovertemplate: "%{y:.4f}",
  };
}

/** @param {Measured} system @param {string} name @param {number[]} cutoffs @param {string} fillcolor @returns {Trace[]} */
function band(system, name, cutoffs, fillcolor) {
  /** @param {"lower" | "upper"} key @returns {Trace} */
  const edge = (key) => ({
    x: cutoffs,
    y: values(system, name, cutoffs, key),
    mode: "lines",
    line: { width: 0 },
    hoverinfo: "skip",
    showlegend: false,
  });
  return [edge("lower"), { ...edge("upper"), fill: "tonexty", fillcolor }];
}

/**
 * @param {Measured[]} systems
 * @param {string} name
 * @param {number[]} cutoffs
 * @param {Colours} colours
 * @returns {import("../figures/plotly.js").Layout}
 */
function layout(systems, name, cutoffs, colours) {
  const axis = baseAxis(colours);
  const base = baseLayout(colours, 320);
  return {
    ...base,
    legend: { ...base.legend, traceorder: systems.some(({ baseline }) => baseline) ? "reversed" : "normal" },
    uirevision: name,
    hovermode: "x unified",
    xaxis: { ...axis, title: { text: "k, documents looked at", standoff: 8 }, tickvals: cutoffs, showgrid: false },
    yaxis: { ...axis, nticks: 6, tickformat: ".3~f", title: { text: `${name}@k`, standoff: 10 } },
  };
}

/** @param {Measured[]} systems @param {string} name @param {number[]} cutoffs */
function summary(systems, name, cutoffs) {
  const parts = systems
    .filter(({ baseline }) => !baseline)
    .map(({ name: system, metrics }) => {
      /** @param {number} cutoff */
      const at = (cutoff) => `${metric(metrics[`${name}@${cutoff}`]?.mean)} at ${cutoff}`;
      return `${system} ${at(cutoffs[0])}, ${at(cutoffs[cutoffs.length - 1])}`;
    });
  return `${name} against the cutoff: ${parts.join("; ")}.`;
}

/** @param {Measured[]} systems @param {string} name @param {number[]} cutoffs */
function table(systems, name, cutoffs) {
  /** @param {Measured} system @param {number} cutoff */
  const cell = ({ metrics, baseline }, cutoff) => {
    const interval = metrics[`${name}@${cutoff}`];
    return h(
      "td",
      { class: "number" },
      baseline
        ? metric(interval?.mean)
        : [h("strong", {}, metric(interval?.mean)), " ", h("small", { class: "missing" }, intervalLabel(interval))],
    );
  };
  const rows = cutoffs.map((cutoff) =>
    h("tr", {}, h("th", { scope: "row" }, cutoff), ...systems.map((system) => cell(system, cutoff))),
  );
  const heads = ["k", ...systems.map((system) => system.name)];
  return h(
    "div",
    { class: "scroll", role: "region", "aria-label": `${name} by cutoff`, tabindex: "0" },
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h("tr", {}, ...heads.map((words, index) => h("th", { scope: "col", class: index > 0 && "number" }, words))),
      ),
      h("tbody", {}, ...rows),
    ),
  );
}
