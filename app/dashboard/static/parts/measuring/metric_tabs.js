/**
 * The choice of one metric of several; nothing where there is one only.
 * @module
 */
import { h, setAttribute } from "../page/dom.js";

/**
 * @param {string[]} names
 * @param {(name: string) => void} choose
 * @param {string} [label]
 * @returns {{node: HTMLElement, show: (name: string) => void}}
 */
export function metricTabs(names, choose, label = "Metric") {
  const buttons = names.map((name) => h("button", { type: "button", value: name, click: () => choose(name) }, name));
  const node = h("div", { class: "tabs small", role: "group", "aria-label": label, hidden: names.length < 2 }, ...buttons);
  return {
    node,
    show(current) {
      for (const button of buttons) setAttribute(button, "aria-pressed", String(button.value === current));
    },
  };
}
