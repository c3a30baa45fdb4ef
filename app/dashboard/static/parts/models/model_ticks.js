/**
 * Models ticked to be compared, wherever on the page their boxes stand, and the link that compares them.
 * @module
 */
import { compareWith } from "../page/addresses.js";
import { h, setAttribute, setText } from "../page/dom.js";

/**
 * @param {HTMLAnchorElement} link
 * @returns {(reference: string, made: string) => HTMLInputElement} a box for a model made at a time
 */
export function modelTicks(link) {
  /** @type {Map<string, string>} when the ticked models were made, by reference */
  const ticked = new Map();

  function tick(reference, made, wanted) {
    if (wanted) ticked.set(reference, made);
    else ticked.delete(reference);
    for (const box of document.querySelectorAll(`input[value="${CSS.escape(reference)}"]`)) box.checked = wanted;
    show();
  }

  /** Older models come first: the newer ones are set against them. */
  function show() {
    const enough = ticked.size > 1;
    const ordered = [...ticked].sort(([, one], [, other]) => one.localeCompare(other)).map(([name]) => name);
    setText(link, enough ? `Compare ${ticked.size} models` : "Compare");
    setAttribute(link, "href", enough && compareWith(ordered));
    setAttribute(link, "aria-disabled", !enough && "true");
    setAttribute(link, "title", !enough && "Tick two or more models");
  }

  return (reference, made) => {
    const box = h("input", { type: "checkbox", value: reference, "aria-label": `Compare ${reference}`, change: () => tick(reference, made, box.checked) });
    box.checked = ticked.has(reference);
    return box;
  };
}
