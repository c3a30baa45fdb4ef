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

/** Calls back when the user's light or dark preference changes. */
export function onThemeChange(callback) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", callback);
}
