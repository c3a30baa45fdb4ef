/**
 * Code to be read and copied.
 * @module
 */
import { announce, h, setText } from "./dom.js";

/** @param {string} name what it is written in @param {string} code */
export function snippet(name, code) {
  const button = h("button", { type: "button", class: "quiet small", "aria-label": `Copy the ${name} code`, click: copy }, "Copy");
  async function copy() {
    try {
      await navigator.clipboard.writeText(code);
    } catch {
      // Browsers give the clipboard to https and this machine alone; elsewhere it is one key away.
      getSelection().selectAllChildren(text);
      setText(button, "Press Ctrl+C");
      return;
    }
    setText(button, "Copied");
    announce(`The ${name} code was copied.`);
  }
  const text = h("pre", { tabindex: "0", "aria-label": `${name} code`, "data-code": name }, code);
  return h("div", { class: "snippet" }, h("div", { class: "panel-head" }, h("h3", {}, name), button), text);
}
