/**
 * plotly.js, loaded from our own server when the first chart is drawn.
 * @module
 */
import { h } from "../page/dom.js";

/** @typedef {typeof import("plotly.js")} Plotly */
/** @typedef {Partial<import("plotly.js").Layout>} Layout */
/** @typedef {Partial<import("plotly.js").PlotData>} Trace */

/** @type {Promise<Plotly> | null} */
let loading = null;

/** @returns {Promise<Plotly>} */
export function loadPlotly() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = document.body.dataset.plotly ?? "";
    script.addEventListener("load", () => resolve(window.Plotly));
    script.addEventListener("error", () => {
      loading = null;
      script.remove();
      reject(new Error("plotly.js did not load"));
    });
    document.head.append(script);
  });
  return loading;
}

const HUES = 10;

/** Colours and fonts for charts, as the style sheets have them now. */
export function theme() {
  // A token holds a colour for each theme; only where it is used, one of them is meant.
  const probe = h("span", { hidden: true });
  document.body.append(probe);
  /** @param {string} name */
  const colour = (name) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const colours = {
    ink: colour("--ink"),
    muted: colour("--muted"),
    line: colour("--line"),
    surface: colour("--surface"),
    accent: colour("--accent"),
    train: colour("--curve-train"),
    best: colour("--curve-best"),
    /** For lines of many; which of them differ for whom is tested. */
    hues: Array.from({ length: HUES }, (_, index) => colour(`--hue-${index + 1}`)),
    font: getComputedStyle(document.body).fontFamily,
  };
  probe.remove();
  return colours;
}

/**
 * Return a colour of `theme`, which is `rgb(…)`, with a low opacity, as bands have it.
 *
 * @param {string} colour
 * @param {number} [opacity]
 */
export function soft(colour, opacity = 0.18) {
  return colour.replace("rgb(", "rgba(").replace(")", `, ${opacity})`);
}

/**
 * Return the shared layout of charts.
 *
 * @param {ReturnType<typeof theme>} colours
 * @param {number} height
 * @returns {Layout}
 */
export function baseLayout({ surface, line, ink, muted, font }, height) {
  return {
    height,
    margin: { l: 52, r: 12, t: 8, b: 40 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: font, size: 12, color: muted },
    hoverlabel: { bgcolor: surface, bordercolor: line, font: { color: ink } },
    legend: { orientation: "h", x: 0, y: 1.02, xanchor: "left", yanchor: "bottom", font: { color: ink } },
    showlegend: true,
  };
}

/**
 * Return the shared options of axes.
 *
 * @param {ReturnType<typeof theme>} colours
 * @returns {Partial<import("plotly.js").LayoutAxis>}
 */
export function baseAxis({ line }) {
  return { gridcolor: line, zeroline: false, linecolor: line, tickcolor: line, automargin: true };
}

/**
 * Return the horizontal axis of curves by iteration.
 *
 * @param {ReturnType<typeof theme>} colours
 * @param {string} [word] what an iteration is called
 * @returns {Partial<import("plotly.js").LayoutAxis>}
 */
export function iterationAxis(colours, word = "iteration") {
  return {
    ...baseAxis(colours),
    title: { text: word, standoff: 8 },
    rangemode: "tozero",
    tickformat: ",d",
    showgrid: false,
  };
}

/**
 * Return how a line of many is drawn: ten hues, and dashes from the eleventh on.
 *
 * @param {number} index
 * @param {ReturnType<typeof theme>} colours
 * @returns {{color: string, dash: import("plotly.js").Dash}}
 */
export function lineStyle(index, { hues }) {
  return { color: hues[index % HUES], dash: isDashed(index) ? "dash" : "solid" };
}

/** Return whether the hues have been used up before a line. @param {number} index */
export function isDashed(index) {
  return index >= HUES;
}

/** Escape a name for Plotly, which interprets some HTML tags. @param {string} name */
export function literal(name) {
  return name.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Call back when another theme is chosen, here or in the system. @param {() => void} callback */
export function onThemeChange(callback) {
  document.addEventListener("themechange", callback);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", callback);
}
