/**
 * What the latest attempt of a job did, how long each phase took and how much memory.
 * @module
 */
import { bar } from "../figures/bars.js";
import { h, replace, setText } from "../page/dom.js";
import { duration, size } from "../page/format.js";

/**
 * @typedef {object} Phase
 * @property {string} phase
 * @property {number} seconds
 * @property {number | null} peak_memory_bytes
 */

/** @returns {{node: HTMLElement, update: (job: import("./job_labels.js").Job) => void}} hidden where nothing was recorded */
export function phasesPanel() {
  const rows = h("tbody");
  const column = (words, attributes = {}) => h("th", { scope: "col", ...attributes }, words);
  const memory = column("Peak memory", { class: "number" });
  const head = h("tr", {}, column("Phase"), column("Took", { class: "number" }), memory, h("td", { class: "bar-cell" }));
  const note = h("p", { class: "hint" });
  const node = h("section", { class: "panel phases", hidden: true }, h("h2", {}, "Phases"), h("table", {}, h("thead", {}, head), rows), note);
  let shown = "";

  function update({ attempts = [] }) {
    const phases = attempts.at(-1)?.phases || [];
    node.hidden = phases.length === 0;
    const state = JSON.stringify(phases);
    if (node.hidden || state === shown) return;
    shown = state;
    const most = Math.max(0, ...phases.map(({ peak_memory_bytes: bytes }) => bytes ?? 0));
    memory.hidden = most === 0;
    replace(rows, ...phases.map((phase) => row(phase, most)));
    setText(note, noteWords(attempts.length, most));
  }
  return { node, update };
}

function noteWords(attempts, most) {
  const whose = attempts > 1 ? "These are the phases of the last attempt." : "";
  return [whose, most > 0 && "Memory is what the job added to its process, as its limit counts it."].filter(Boolean).join(" ");
}

/** @param {Phase} phase @param {number} most the largest peak of all phases */
function row({ phase, seconds, peak_memory_bytes: bytes }, most) {
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, phase),
    h("td", { class: "number" }, secondsWords(seconds)),
    most > 0 && h("td", { class: "number" }, bytes === null ? "–" : size(bytes)),
    h("td", { class: "bar-cell" }, most > 0 && bar((bytes ?? 0) / most)),
  );
}

function secondsWords(seconds) {
  if (seconds < 0.1) return "<0.1 s";
  return seconds < 10 ? `${seconds.toFixed(1)} s` : duration(seconds);
}
