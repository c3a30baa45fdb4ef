/**
 * Content that is asked for once: a skeleton until it is there, a way to try again where it does not come.
 * @module
 */
import { Away, Problem } from "./api.js";
import { h, problemBox, replace } from "./dom.js";

/**
 * @param {HTMLElement} place
 * @param {() => Promise<Node[]>} read what to show in the place
 */
export async function loaded(place, read) {
  place.setAttribute("aria-busy", "true");
  replace(place, h("div", { class: "skeleton chart" }));
  try {
    replace(place, ...(await read()));
  } catch (error) {
    replace(place, failureBox(error, () => loaded(place, read)));
  } finally {
    place.removeAttribute("aria-busy");
  }
}

/** What went wrong, with a button; anything but an answer of the API is a fault of ours and goes on. */
export function failureBox(error, retry) {
  if (!(error instanceof Problem) && !(error instanceof Away)) throw error;
  const box = problemBox(error);
  box.append(h("div", { class: "actions" }, h("button", { type: "button", class: "small", click: retry }, "Try again")));
  return box;
}
