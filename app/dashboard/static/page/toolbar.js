/**
 * Toolbars: a single tab stop, with the arrow keys between the controls.
 * @module
 */
import { findAll } from "./dom.js";

/** @type {Record<string, (place: number, last: number) => number>} */
const MOVES = {
  ArrowRight: (place, last) => (place === last ? 0 : place + 1),
  ArrowLeft: (place, last) => (place === 0 ? last : place - 1),
  Home: () => 0,
  End: (_place, last) => last,
};

/** Bind the keys of a toolbar; its tab stop is the control that had the focus last. @param {HTMLElement} toolbar */
export function bindToolbar(toolbar) {
  const controls = findAll(toolbar, "a, button", HTMLElement);
  const show = (/** @type {HTMLElement} */ stop) => {
    for (const control of controls) control.tabIndex = control === stop ? 0 : -1;
  };
  toolbar.addEventListener("focusin", ({ target }) => show(/** @type {HTMLElement} */ (target)));
  toolbar.addEventListener("keydown", (event) => {
    const move = MOVES[event.key];
    const place = controls.findIndex((control) => control === document.activeElement);
    if (!move || place < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    controls[move(place, controls.length - 1)].focus();
  });
  show(controls[0]);
}
