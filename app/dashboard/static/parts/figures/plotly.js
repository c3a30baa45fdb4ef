/**
 * plotly.js, loaded from our own server when the first chart is drawn.
 * @module
 */

/** @type {Promise<any> | null} */
let loading = null;

/** @returns {Promise<any>} the Plotly object */
export function loadPlotly() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = document.body.dataset.plotly;
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

/** Colours and fonts for charts, as the style sheets have them now. */
export function theme() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(name).trim();
  return {
    ink: colour("--ink"),
    muted: colour("--muted"),
    line: colour("--line"),
    surface: colour("--surface"),
    accent: colour("--accent"),
    train: colour("--curve-train"),
    best: colour("--curve-best"),
    font: getComputedStyle(document.body).fontFamily,
  };
}

/** What all charts have in common. @param {ReturnType<typeof theme>} colours @param {number} height */
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

/** What all their axes have in common. @param {ReturnType<typeof theme>} colours */
export function baseAxis({ line }) {
  return { gridcolor: line, zeroline: false, linecolor: line, tickcolor: line, automargin: true };
}

// One more than there are colours, so that no two of many lines look alike.
const DASHES = ["solid", "dot", "dash", "dashdot", "longdash"];

/** How a line of many is drawn. @param {number} index @param {ReturnType<typeof theme>} colours */
export function lineStyle(index, { accent, best, ink, train }) {
  const all = [accent, best, ink, train];
  return { color: all[index % all.length], dash: DASHES[index % DASHES.length] };
}

/** A name as Plotly is to be given it, which would take some tags for what they mean. @param {string} name */
export function literal(name) {
  return name.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Calls back when the user's light or dark preference changes. */
export function onThemeChange(callback) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", callback);
}
