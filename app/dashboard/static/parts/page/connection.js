/**
 * The strip under the header that tells when the API is away.
 * @module
 */
import { h, replace } from "./dom.js";

const strip = document.getElementById("connection");

/**
 * @param {string} reason
 * @param {number} seconds until the next attempt
 * @param {() => void} retry
 */
export function showAway(reason, seconds, retry) {
  document.body.classList.add("away");
  strip.hidden = false;
  replace(
    strip,
    h("span", {}, `${reason} What you see may be old. Trying again in ${seconds} s.`),
    h("button", { type: "button", class: "quiet small", click: retry }, "Try now"),
  );
}

export function showBack() {
  if (strip.hidden) return;
  document.body.classList.remove("away");
  strip.hidden = true;
  replace(strip);
}
