/**
 * One query as two systems rank it, side by side: lines lead from a document's place in one to its place in the other.
 * @module
 */
import { h, svg } from "../page/dom.js";
import { count, metric } from "../page/format.js";
import { grade } from "../figures/grade.js";

/** Units of the drawing a row; its height comes from the rows of the lists. */
const ROW = 10;
const WIDTH = 100;

/**
 * @typedef {{document_id: string, rank: number, score: number, label: number | null}} Document
 * @typedef {{name: string, values: Record<string, number | null>, documents: number, ranking: Document[]}} Side
 */

/**
 * @param {Side} left
 * @param {Side} right
 * @param {{metric: string, largestLabel: number | null | undefined, open?: (documentId: string) => void}} options
 *   open: shows why a document is where it is, where that can be told
 */
export function twoRankings(left, right, { metric: shown, largestLabel, open }) {
  const rows = Math.max(left.ranking.length, right.ranking.length);
  const placesLeft = places(left);
  const node = h(
    "div",
    { class: "two-rankings" },
    heading(left, shown),
    h("span", {}),
    heading(right, shown),
    h("ol", {}, ...left.ranking.map((each) => before(each, largestLabel, open))),
    lines(left, right, rows, largestLabel),
    h("ol", {}, ...right.ranking.map((each) => after(each, largestLabel, shift(each, placesLeft, left), open))),
    remainder(left),
    h("span", {}),
    remainder(right),
  );
  for (const kind of ["pointerover", "focusin"]) node.addEventListener(kind, (event) => highlight(node, event.target.closest("[data-document]")?.dataset.document));
  for (const kind of ["pointerleave", "focusout"]) node.addEventListener(kind, () => highlight(node, undefined));
  return node;
}

function places({ ranking }) {
  return new Map(ranking.map(({ document_id: id }, index) => [id, index]));
}

function heading({ name, values }, shown) {
  return h("div", { class: "ranking-head" }, h("strong", { class: "name", title: name }, name), h("span", { class: "hint" }, `${shown} ${metric(values[shown])}`));
}

function attributes({ document_id: id, score }, open) {
  return { "data-document": id, tabindex: open ? false : "0", title: `${id}: score ${score}` };
}

function name({ document_id: id }, open) {
  const words = h("span", { class: "name" }, id);
  return open ? h("button", { type: "button", class: "link", value: id, "aria-label": `Why ${id} is there`, click: () => open(id) }, words) : words;
}

function before(document, largestLabel, open) {
  const { rank, label } = document;
  return h("li", { ...attributes(document, open), class: "before" }, h("span", { class: "rank" }, count(rank)), name(document, open), grade(label, largestLabel));
}

function after(document, largestLabel, moved, open) {
  const { rank, label } = document;
  return h("li", attributes(document, open), grade(label, largestLabel), name(document, open), moved, h("span", { class: "rank" }, count(rank)));
}

/** How far a document has come; one from below the other's top is new here. */
function shift({ document_id: id, rank }, placesLeft, { ranking, documents }) {
  const { length: top } = ranking;
  if (!placesLeft.has(id) && documents > top) return h("span", { class: "shift", "data-shift": "up", title: `from below rank ${count(top)}` }, `↑${count(top)}+`);
  if (!placesLeft.has(id)) return h("span", { class: "shift", "data-shift": "up", title: "not ranked by the other" }, "new");
  const risen = ranking[placesLeft.get(id)].rank - rank;
  if (risen === 0) return h("span", { class: "shift" }, "=");
  const words = `${count(Math.abs(risen))} ${Math.abs(risen) === 1 ? "place" : "places"} ${risen > 0 ? "up" : "down"}`;
  return h("span", { class: "shift", "data-shift": risen > 0 ? "up" : "down", title: words, "aria-label": words }, `${risen > 0 ? "↑" : "↓"}${count(Math.abs(risen))}`);
}

/** Lines of relevant documents stand out; those that leave the top, or come into it, run out at the bottom. */
function lines(left, right, rows, largestLabel) {
  const [from, to] = [places(left), places(right)];
  const height = (index) => (index === undefined ? (rows + 1) * ROW : (index + 0.5) * ROW);
  const line = ({ document_id: id, label }) => {
    const [start, end] = [height(from.get(id)), height(to.get(id))];
    const path = `M0 ${start}C${WIDTH / 2} ${start} ${WIDTH / 2} ${end} ${WIDTH} ${end}`;
    const weight = 1 + (2 * Math.max(0, label || 0)) / Math.max(1, largestLabel || 0);
    return svg("path", { d: path, "data-document": id, "data-relevant": String(label > 0), "data-outside": !from.has(id) || !to.has(id), "stroke-width": weight });
  };
  const documents = [...left.ranking, ...right.ranking.filter(({ document_id: id }) => !from.has(id))];
  return svg("svg", { class: "moves", viewBox: `0 0 ${WIDTH} ${rows * ROW}`, preserveAspectRatio: "none", "aria-hidden": "true" }, ...documents.map(line));
}

function remainder({ documents, ranking }) {
  const rest = documents - ranking.length;
  return h("p", { class: "hint remainder" }, rest > 0 ? `and ${count(rest)} more below` : "");
}

function highlight(node, id) {
  node.toggleAttribute("data-following", id !== undefined);
  for (const part of node.querySelectorAll("[data-document]")) part.toggleAttribute("data-followed", part.dataset.document === id);
}
