/**
 * A figure described as data: drawn as SVG, read by pointer and arrow keys, enlarged by dragging or by the plus key.
 * @module
 */
import { announce, h, replace, setAttribute, svg } from "../page/dom.js";
import { dragging } from "./dragging.js";
import { drawing } from "./drawing.js";
import { frameOf, HEIGHT, wholeRange } from "./frame.js";
import { figureLegend, groupOf, swatch } from "./legend.js";
import { nearestStop, stopsOf, wordsOf } from "./reading.js";

const STOPS_PER_PAGE = 10;
const READOUT_GAP_PIXELS = 14;

/**
 * @returns {{node: HTMLElement, plot: HTMLElement, draw: (figure: Figure) => void, highlight: (group: string | null) => void}}
 *   plot: the image, which has the text alternative; highlight: fade all series that are not in a group
 */
export function figureView() {
  const readout = h("div.readout", { "aria-hidden": "true", hidden: true });
  const pointer = svg("svg.pointer", { "aria-hidden": "true" });
  const plot = h(
    "div.plot",
    { role: "img", tabindex: "0", "aria-keyshortcuts": "ArrowLeft ArrowRight Plus -", keydown: pressed },
    [h("div"), pointer, readout],
  );
  const showAll = h("button.quiet.small", { hidden: true, click: () => show({}) }, "Show all");
  const legend = figureLegend(redraw);
  const node = h("div.figure", h("div.figure-head", legend.node, showAll), plot);
  /** @type {Figure | null} */ let figure = null;
  /** @type {import("./frame.js").View} */ let view = {};
  /** @type {import("./frame.js").Frame | null} */ let frame = null;
  /** @type {import("./reading.js").Stop[] | null} */
  let stops = null;
  let current = -1;
  let width = 0;
  /** @type {string | null} */ let highlighted = null;

  new ResizeObserver(() => plot.clientWidth !== width && redraw()).observe(plot);
  dragging(plot, {
    area: () => frame && { left: frame.start, right: frame.end, top: frame.top, bottom: frame.bottom },
    read: (position) => read(nearestStop(allStops(), position)),
    select: (box) => frame && show(frame.within(box)),
    leave: () => read(-1),
  });
  plot.addEventListener("dblclick", () => show(wider()));
  plot.addEventListener("blur", () => read(-1));

  /** @param {Figure} newFigure */
  function draw(newFigure) {
    if (newFigure.key !== figure?.key) view = {};
    figure = newFigure;
    // Reserve the height: the figure may be drawn later and must not move the content below it.
    plot.style.setProperty("min-height", `${figure.height ?? HEIGHT}px`);
    setAttribute(plot, "aria-label", figure.summary);
    redraw();
  }

  function redraw() {
    width = plot.clientWidth;
    if (!figure) return;
    legend.show(figure.series);
    showAll.hidden = Object.keys(view).length === 0;
    if (!width) return;
    const shown = visible();
    frame = frameOf(figure, shown, width, view);
    stops = null;
    plot.firstElementChild?.replaceWith(drawing(figure, shown, frame));
    highlight(highlighted);
    read(current);
  }

  function visible() {
    return figure?.series.filter(legend.isShown) ?? [];
  }

  function allStops() {
    if (figure && frame) stops ??= stopsOf(figure, visible(), frame);
    return stops ?? [];
  }

  /** @param {import("./frame.js").View} newView */
  function show(newView) {
    view = newView;
    current = -1;
    redraw();
  }

  /**
   * Return the view of the whole figure; if it is already shown, the range of all values, also of those
   * beyond the ends of the axis.
   * @returns {import("./frame.js").View}
   */
  function wider() {
    const range = wholeRange(visible());
    return Object.keys(view).length || !figure?.x.range || !range ? {} : { x: range };
  }

  /** Show the values at a stop, and return them as a sentence. @param {number} index -1 for no stop */
  function read(index) {
    const stop = index < 0 ? undefined : allStops()[index];
    current = stop ? index : -1;
    readout.hidden = !stop;
    replace(pointer);
    for (const group of plot.querySelectorAll(".series.read")) group.classList.remove("read");
    if (!stop || !figure || !frame) return "";
    const { title, rows } = wordsOf(stop, figure, frame);
    replace(readout, [
      h("strong", title),
      ...rows.map(({ series, words }) =>
        h("span", swatch(series), figure?.series.length === 1 ? "" : h("span", series.name), h("b", words)),
      ),
    ]);
    replace(pointer, [
      stop.y === null && svg("line.ruler", { x1: stop.left, x2: stop.left, y1: frame.top, y2: frame.bottom }),
      ...stop.points.map(({ series, position: [cx, cy] }) =>
        svg("g.series", { "data-colour": series.colour }, svg("circle.circle", { cx, cy, r: 4 })),
      ),
    ]);
    if (stop.y !== null)
      plot.querySelector(`.series[data-series="${CSS.escape(groupOf(stop.points[0].series))}"]`)?.classList.add("read");
    const x = Math.min(stop.points[0].position[0], frame.end);
    const left = x > frame.width / 2 ? x - readout.offsetWidth - READOUT_GAP_PIXELS : x + READOUT_GAP_PIXELS;
    const most = Math.max(0, frame.width - readout.offsetWidth);
    readout.style.setProperty("left", `${Math.min(most, Math.max(0, left))}px`);
    readout.style.setProperty("top", `${Math.max(0, (stop.y ?? frame.top + 30) - 24)}px`);
    return `${title}: ${rows.map(({ series, words }) => `${series.name} ${words}`.trim()).join(", ")}`;
  }

  /** @param {KeyboardEvent} event */
  function pressed(event) {
    const last = allStops().length - 1;
    /** @type {Record<string, number>} */ const next = {
      ArrowRight: current + 1,
      ArrowLeft: current < 0 ? last : current - 1,
      PageDown: current + STOPS_PER_PAGE,
      PageUp: current - STOPS_PER_PAGE,
      Home: 0,
      End: last,
    };
    if (event.key === "Escape" && current >= 0) read(-1);
    else if (event.key === "-") show(wider());
    else if (event.key === "+" && current >= 0) show(frame?.around(allStops()[current].left) ?? {});
    else if (event.key in next && !event.ctrlKey && !event.metaKey && !event.altKey) {
      announce(read(Math.min(last, Math.max(0, next[event.key]))));
    } else return;
    event.preventDefault();
  }

  /** @param {string | null} group */
  function highlight(group) {
    highlighted = group;
    plot.classList.toggle("highlighted", group !== null);
    for (const each of plot.querySelectorAll(".area > .series"))
      each.classList.toggle("highlight", each.getAttribute("data-series") === group);
  }

  return { node, plot, draw, highlight };
}
