/**
 * Code to be read and copied.
 * @module
 */
import { announce, h, setText } from "./dom.js";

/** @param {string} label what it is written for @param {string} text */
export function codeBlock(label, text) {
  const button = h("button", { type: "button", class: "quiet small", "aria-label": `Copy the code for ${label}`, click: copy }, "Copy");
  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
      setText(button, "Copied");
      announce("Copied.");
    } catch {
      setText(button, "Select and copy it");
    }
  }
  return h("figure", { class: "code-block" }, h("figcaption", {}, label, button), h("pre", { tabindex: "0", "aria-label": label }, h("code", {}, text)));
}
