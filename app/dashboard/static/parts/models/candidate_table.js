/**
 * Candidate documents as a model ranks them, with the features that matter most to be edited, and the reasons.
 * @module
 */
import { contributions } from "./contributions.js";
import { h, replace, setAttribute } from "../page/dom.js";
import { metric, short } from "../page/format.js";
import { grade } from "../figures/grade.js";

/**
 * @param {string[]} telling names of the features to edit
 */
export function candidateTable(telling) {
  const body = h("tbody");
  const heads = ["Rank", "", "Document", "Label", "Score", ...telling, ""];
  const node = h(
    "div",
    { class: "scroll", role: "region", "aria-label": "Documents in the order of the model", tabindex: "0" },
    h("table", { class: "candidates" }, h("thead", {}, h("tr", {}, ...heads.map(head))), body),
  );
  /** @type {import("./scored.js").Candidate[]} */
  let candidates = [];
  /** @type {Map<string, number>} ranks before the last change */
  let before = new Map();
  const open = new Set();

  function head(words, index) {
    if (!words) return h("td", {});
    return h("th", { scope: "col", class: index > 3 && "number" }, index > 4 ? h("span", { class: "name", title: words }, words) : words);
  }

  /** @param {{id: string, rank: number, score: number, explanation: any}[]} ranking */
  function show(ranking) {
    const { feature, document: edited } = document.activeElement?.dataset || {};
    const byId = new Map(candidates.map((candidate) => [candidate.id, candidate]));
    const largest = Math.max(1, ...candidates.map(({ label }) => label ?? 0));
    replace(body, ...ranking.flatMap((scored) => rows(byId.get(scored.id), scored, largest)));
    before = new Map(ranking.map(({ id, rank }) => [id, rank]));
    if (feature) [...body.querySelectorAll("input")].find((input) => input.dataset.feature === feature && input.dataset.document === edited)?.focus();
  }

  function rows(candidate, { id, rank, score, explanation }, largest) {
    const reasons = h("tr", { class: "reasons", hidden: !open.has(id) }, h("td", { colspan: heads.length }, h("div", { class: "in-sight" }, contributions(explanation))));
    const why = h("button", { type: "button", class: "quiet small", "aria-expanded": String(open.has(id)), "aria-label": `Why ${id} is there`, click: toggle }, "Why");
    function toggle() {
      if (open.has(id)) open.delete(id);
      else open.add(id);
      reasons.hidden = !open.has(id);
      setAttribute(why, "aria-expanded", String(open.has(id)));
    }
    const row = h(
      "tr",
      { "data-document": id },
      h("td", { class: "number" }, rank),
      h("td", {}, moved(before.get(id), rank)),
      h("th", { scope: "row" }, h("span", { class: "name", title: id }, id)),
      h("td", { class: "number" }, candidate.label === null ? "–" : grade(candidate.label, largest)),
      h("td", { class: "number" }, metric(score)),
      ...telling.map((feature) => h("td", {}, field(candidate, feature))),
      h("td", {}, why),
    );
    return [row, reasons];
  }

  function field(candidate, feature) {
    const { id, features } = candidate;
    const value = features[feature];
    const input = h("input", {
      type: "text",
      inputmode: "decimal",
      autocomplete: "off",
      "aria-label": `${feature} of ${id}`,
      "data-feature": feature,
      "data-document": id,
      placeholder: "missing",
      value: typeof value === "number" ? short(value) : "",
      change: () => edit(candidate, feature, input),
    });
    return input;
  }

  return {
    node,
    show,
    candidates: () => candidates,
    /** Others to be ranked, in an order of their own. @param {import("./scored.js").Candidate[]} others */
    take(others) {
      candidates = others.map((candidate) => ({ ...candidate, features: { ...candidate.features } }));
      before = new Map();
      open.clear();
    },
  };
}

/** An empty field is a missing value; what is no number counts as missing, too, and is told. */
function edit(candidate, feature, input) {
  const text = input.value.trim();
  const number = Number(text);
  candidate.features[feature] = text === "" || Number.isNaN(number) ? null : number;
  setAttribute(input, "aria-invalid", text !== "" && Number.isNaN(number) && "true");
}

/** How far it has come since the ranking before. */
function moved(from, to) {
  if (from === undefined || from === to) return h("span", { class: "shift" }, from === undefined ? "" : "=");
  const risen = from - to;
  const words = `${Math.abs(risen)} ${Math.abs(risen) === 1 ? "place" : "places"} ${risen > 0 ? "up" : "down"}`;
  return h("span", { class: "shift", "data-shift": risen > 0 ? "up" : "down", role: "img", title: words, "aria-label": words }, `${risen > 0 ? "↑" : "↓"}${Math.abs(risen)}`);
}
