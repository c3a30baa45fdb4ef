/** Keyboard shortcuts: the dialog that lists them, and G with a letter, which opens a page. @module */
import { openPage } from "./paths.js";
import { h } from "./dom.js";
import { factList, showDialog } from "./parts.js";

/** Pages by the key that follows G. @type {Record<string, [name: string, path: string]>} */
const PAGES = {
  o: ["Overview", "/"],
  d: ["Datasets", "/datasets"],
  j: ["Jobs", "/jobs"],
  t: ["New training", "/train"],
  m: ["Models", "/models"],
  e: ["Evaluations", "/evaluations"],
  c: ["Comparisons", "/comparisons"],
  a: ["Aliases", "/aliases"],
  s: ["Settings", "/settings"],
};
const WAIT_MILLISECONDS = 1500;

/** Time at which G was pressed. */
let pressedAt = -Infinity;

/**
 * Remember that G was pressed, or open the page of the key that follows it shortly.
 * @param {KeyboardEvent} event without modifiers, and not in a field
 * @returns {boolean} whether a page was opened
 */
export function goByKey({ key, timeStamp }) {
  const page = timeStamp - pressedAt < WAIT_MILLISECONDS && Object.hasOwn(PAGES, key) ? PAGES[key] : null;
  pressedAt = key === "g" ? timeStamp : -Infinity;
  if (page) openPage(page[1]);
  return page !== null;
}

/** Open the dialog that lists the shortcuts. */
export function openShortcuts() {
  const close = h("button.quiet", { type: "submit" }, "Close");
  /** @param {string} words @param {string[]} keys @param {string} [between] @returns {[string, Child[]]} */
  const line = (words, keys, between = " ") => [words, keys.flatMap((key, at) => [at > 0 && between, h("kbd", key)])];
  const dialog = h("dialog", { "aria-labelledby": "shortcuts-title" }, [
    h("form", { method: "dialog" }, [
      h("h2", { id: "shortcuts-title" }, "Keyboard shortcuts"),
      factList("shortcuts", [
        line("Search", ["/", "Ctrl K"], " or "),
        line("This list", ["?"]),
        ...Object.entries(PAGES).map(([key, [name]]) => line(name, ["G", key.toUpperCase()])),
        line("Open the menu of a section", ["↓"]),
        line("Move between search, theme and help", ["←", "→"]),
        line("Close a dialog or menu", ["Esc"]),
      ]),
      h("div.actions.end", close),
    ]),
  ]);
  showDialog(dialog);
}
