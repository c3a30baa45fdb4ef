/** The legend of a figure, whose entries hide and show series; swatches, and the styles of lines. @module */
import { changeDetector, h, replace, svg } from "../page/dom.js";
import { symbolPath } from "./shapes.js";

const HUES = 10;
const DASH = "6 4";

/** Return the style of one of several lines: ten hues, and dashes from the eleventh line on. @param {number} index */
export const lineStyle = (index) => ({ colour: `hue-${(index % HUES) + 1}`, dash: index < HUES ? null : DASH });

/**
 * Return a swatch, a small sample of how a series is drawn.
 * @param {Pick<Series, "colour" | "kind" | "dash" | "symbol" | "opacity">} series
 */
export function swatch({ colour, kind = "line", dash, symbol = "circle", opacity }) {
  const isArea = kind === "band" || kind === "spans";
  return svg("svg.swatch.series", { viewBox: "0 0 18 10", "data-colour": colour, opacity, "aria-hidden": "true" }, [
    kind === "points"
      ? svg("path", { class: symbol, d: symbolPath(symbol, [9, 5], 4) })
      : isArea
        ? svg("rect", { class: kind, x: 2, y: 0, width: 14, height: 10, rx: 2 })
        : svg("path.line", { d: "M0 5H18", "stroke-width": 3, "stroke-dasharray": dash && "5 3" }),
  ]);
}

/** Return the name of a series in the legend. @param {Series} series */
export const groupOf = ({ group, name }) => group ?? name;

/** @param {() => void} changed called after series were hidden or shown */
export function figureLegend(changed) {
  const node = h("ul.figure-legend", { "aria-label": "Legend", hidden: true });
  /** @type {Set<string>} */ const hidden = new Set();
  const hasChanged = changeDetector();
  /** @type {string[]} */ let names = [];

  /** @param {Series[]} series */
  function show(series) {
    const first = new Map(series.filter(({ unnamed }) => !unnamed).map((each) => [groupOf(each), each]));
    names = [...first.keys()];
    node.hidden = names.length < 2;
    if (!hasChanged([...first].map(([name, { colour, kind }]) => [name, colour, kind, hidden.has(name)]))) return;
    const focused = node.contains(document.activeElement) && document.activeElement?.getAttribute("data-name");
    replace(node, ...[...first].map(([name, each]) => h("li", entry(name, each))));
    if (focused)
      /** @type {HTMLElement | null} */ (node.querySelector(`[data-name="${CSS.escape(focused)}"]`))?.focus();
  }

  /** @param {string} name @param {Series} series */
  function entry(name, series) {
    const attributes = { "aria-pressed": String(!hidden.has(name)), "data-name": name };
    return h("button", { ...attributes, click: () => toggle(name), dblclick: () => isolate(name) }, [
      swatch(series),
      name,
    ]);
  }

  /** @param {string} name */
  function toggle(name) {
    if (!hidden.delete(name)) hidden.add(name);
    changed();
  }

  /** Show one series alone; if it is alone already, show all. @param {string} name */
  function isolate(name) {
    const others = names.filter((each) => each !== name);
    const alone = others.every((each) => hidden.has(each));
    hidden.clear();
    if (!alone) others.forEach((each) => hidden.add(each));
    changed();
  }
  return { node, show, isShown: (/** @type {Series} */ series) => !hidden.has(groupOf(series)) };
}
