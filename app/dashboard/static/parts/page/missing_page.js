/**
 * A page whose subject the API refuses to show.
 * @module
 */
import { emptyState, problemBox, replace } from "./dom.js";

/**
 * @param {HTMLElement} place
 * @param {import("./api.js").Problem} problem
 * @param {{title: string, sentence: string, href: string, action: string}} missing said where there is no such thing
 */
export function showMissing(place, problem, { title, sentence, href, action }) {
  place.removeAttribute("aria-busy");
  replace(place, problem.status === 404 ? emptyState(title, sentence, href, action) : problemBox(problem));
}
