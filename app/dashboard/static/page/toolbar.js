/** Toolbars: each is one tab stop, and the arrow keys move between its controls. @module */
import { findAll } from "./dom.js";

/** @type {Record<string, (index: number, last: number) => number>} */
const MOVES = {
  ArrowRight: (index, last) => (index === last ? 0 : index + 1),
  ArrowLeft: (index, last) => (index === 0 ? last : index - 1),
  Home: () => 0,
  End: (_index, last) => last,
};

/** Bind the keys of a toolbar; its tab stop is the control that had the focus last. @param {HTMLElement} toolbar */
export function bindToolbar(toolbar) {
  const controls = findAll(toolbar, "a, button", HTMLElement);
  const setTabStop = (/** @type {HTMLElement} */ stop) => {
    for (const control of controls) control.tabIndex = control === stop ? 0 : -1;
  };
  toolbar.addEventListener("focusin", ({ target }) => setTabStop(/** @type {HTMLElement} */ (target)));
  toolbar.addEventListener("keydown", (event) => {
    const move = MOVES[event.key];
    const index = controls.findIndex((control) => control === document.activeElement);
    if (!move || index < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    controls[move(index, controls.length - 1)].focus();
  });
  setTabStop(controls[0]);
}
