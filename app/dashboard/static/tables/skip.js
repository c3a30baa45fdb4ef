/** Link that skips to the first row of a list, the second tab stop of the page. @module */
import { find, h } from "../page/dom.js";

/** @param {HTMLElement} container of the list */
export function offerSkip(container) {
  const link = h("a.skip", { href: `#${container.id}`, click }, "Skip to the first row");
  find(document, ".skip").after(link);

  /** @param {Event} event */
  function click(event) {
    const first = container.querySelector("tbody :is(a, button, input)");
    if (!(first instanceof HTMLElement)) return;
    event.preventDefault();
    first.focus();
  }
}
