/** Pointer events of a figure: moving reads values, dragging selects a range. @module */
import { h } from "../page/dom.js";

/** @typedef {{left: number, right: number, top: number, bottom: number}} Box in pixels */

const MIN_PIXELS = 6;
/** A thinner box selects a range of one axis only, along its longer side. */
const THIN_PIXELS = 20;

/**
 * @param {HTMLElement} plot
 * @param {{area: () => Box | null, read: (position: [x: number, y: number]) => void, select: (box: Box) => void,
 *   leave: () => void}} callbacks area: returns the box in which values are drawn
 */
export function dragging(plot, { area, read, select, leave }) {
  const selection = h("div.selection", { hidden: true });
  plot.append(selection);
  /** @type {[x: number, y: number] | null} */ let origin = null;
  /** @type {Box | null} */ let box = null;

  /** @param {PointerEvent} event @returns {[x: number, y: number]} */
  function positionOf(event) {
    const { left, top } = plot.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  }

  plot.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    origin = positionOf(event);
    plot.setPointerCapture(event.pointerId);
  });
  plot.addEventListener("pointermove", (event) => {
    const position = positionOf(event);
    const edges = area();
    box = origin && edges && boxOf(origin, position, edges);
    selection.hidden = !box;
    if (!box) return read(position);
    leave();
    for (const [name, pixels] of Object.entries(styleOf(box))) selection.style.setProperty(name, `${pixels}px`);
  });
  plot.addEventListener("pointerup", (event) => {
    const selected = box;
    end();
    if (selected) select(selected);
    else read(positionOf(event));
  });
  plot.addEventListener("pointercancel", end);
  plot.addEventListener("pointerleave", () => {
    if (!origin) leave();
  });

  function end() {
    origin = box = null;
    selection.hidden = true;
  }
}

/**
 * Return the box between two positions; null if they are too close. A thin box spans the full height or width of the area.
 * @param {[x: number, y: number]} one @param {[x: number, y: number]} other @param {Box} area @returns {Box | null}
 */
export function boxOf(one, other, area) {
  const [width, height] = [Math.abs(one[0] - other[0]), Math.abs(one[1] - other[1])];
  if (Math.max(width, height) < MIN_PIXELS) return null;
  /** @param {0 | 1} axis @param {number} low @param {number} high */
  const ends = (axis, low, high) =>
    [Math.min(one[axis], other[axis]), Math.max(one[axis], other[axis])].map((at) => Math.min(high, Math.max(low, at)));
  const [left, right] =
    width < THIN_PIXELS && height > width ? [area.left, area.right] : ends(0, area.left, area.right);
  const [top, bottom] =
    height < THIN_PIXELS && width >= height ? [area.top, area.bottom] : ends(1, area.top, area.bottom);
  return right > left && bottom > top ? { left, right, top, bottom } : null;
}

/** Return the position and size of a box as CSS properties in pixels. @param {Box} box */
const styleOf = ({ left, right, top, bottom }) => ({ left, top, width: right - left, height: bottom - top });
