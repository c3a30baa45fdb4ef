/**
 * How much of an upload has been sent, how fast, and how long the rest may take.
 * @module
 */
import { setText } from "../page/dom.js";
import { duration, size } from "../page/format.js";

/** @param {HTMLElement} box a progress bar and a paragraph @returns {(sent: number, total: number) => void} bytes */
export function sentWatcher(box) {
  const bar = box.querySelector("progress");
  const words = box.querySelector("p");
  const start = performance.now();
  return (sent, total) => {
    const seconds = (performance.now() - start) / 1000;
    const rate = sent / Math.max(seconds, 0.001);
    box.hidden = false;
    bar.max = total || 1;
    bar.value = sent;
    const left = seconds > 1 ? ` · ${size(rate)}/s · ${duration((total - sent) / rate)} left` : "";
    setText(words, sent < total ? `${size(sent)} of ${size(total)}${left}` : "sent; waiting for the answer");
  };
}
