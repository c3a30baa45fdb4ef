/**
 * The trees of a model, one at a time: drawn, by pointer and keyboard, and as a table.
 * @module
 */
import { get } from "../page/api.js";
import { modelApi } from "../page/addresses.js";
import { h, replace, setAttribute, setText } from "../page/dom.js";
import { count, counted, short } from "../page/format.js";
import { failureBox } from "../page/loaded.js";
import { largest, treeDrawing } from "./tree_drawing.js";
import { openTo, placed } from "./tree_layout.js";
import { added, answer, condition, facts } from "./tree_labels.js";

const FIRST_LEVELS = 3;
const MOST_DEPTH = 64;
const NARROW = 600; // pixels
const KEYS = { ArrowRight: "in", ArrowLeft: "out", ArrowDown: "next", ArrowUp: "before", Home: "first", End: "last", Enter: "toggle", " ": "toggle", PageDown: "later", PageUp: "earlier" };

/**
 * @param {HTMLElement} node
 * @param {string} model id
 * @param {number} trees
 * @param {string | null} wanted number of the tree that is shown first, from 1
 * @param {(changed: Record<string, number>) => void} told hears which tree is looked at
 */
export function treePanel(node, model, trees, wanted, told) {
  if (!trees) {
    node.append(h("p", { class: "hint" }, "It has none."));
    return;
  }
  const field = h("input", { type: "text", inputmode: "numeric", "aria-label": "Number of the tree", autocomplete: "off", change: () => go(Number(field.value) - 1 || 0) });
  const before = h("button", { type: "button", class: "quiet", "aria-label": "Tree before", click: () => go(index - 1) }, "←");
  const after = h("button", { type: "button", class: "quiet", "aria-label": "Next tree", click: () => go(index + 1) }, "→");
  const fold = h("button", { type: "button", class: "quiet small", click: () => unfold(FIRST_LEVELS) }, `${FIRST_LEVELS} levels`);
  const all = h("button", { type: "button", class: "quiet small", click: () => unfold(MOST_DEPTH) }, "All levels");
  const canvas = h("div", { class: "tree-canvas", role: "region", "aria-label": "Tree" });
  const detail = h("div", { class: "tree-detail" });
  const numbers = h("details", { class: "more" });
  let index = Math.min(trees, Math.max(1, Number(wanted) || 1)) - 1;
  let root = null;
  let open = new Set();
  let layout = null;
  let current = "";
  let turn = 0;

  node.firstElementChild.append(h("div", { class: "tree-controls" }, before, h("label", {}, "Tree ", field, ` of ${count(trees)}`), after));
  node.append(
    h("div", { class: "tree-bar" }, h("p", { class: "hint" }, "Yes comes before no; ∅ is where missing values go. A thicker line carries more documents."), h("div", { class: "actions" }, fold, all)),
    h("div", { class: "tree-view" }, canvas, detail),
    numbers,
  );
  canvas.addEventListener("click", (event) => keyAt(event) && press(keyAt(event)));
  canvas.addEventListener("pointerover", (event) => keyAt(event) && tell(keyAt(event)));
  canvas.addEventListener("pointerleave", () => layout && tell(current));
  canvas.addEventListener("focusin", (event) => event.target.dataset.node && look(event.target.dataset.node));
  canvas.addEventListener("keydown", pressed);
  numbers.addEventListener("toggle", () => numbers.open && root && showTable());
  load();

  function go(wantedIndex) {
    index = Math.min(trees - 1, Math.max(0, wantedIndex));
    told({ tree: index + 1 });
    return load();
  }

  async function load() {
    const mine = ++turn;
    field.value = String(index + 1);
    before.disabled = index === 0;
    after.disabled = index === trees - 1;
    canvas.setAttribute("aria-busy", "true");
    try {
      const tree = await get(modelApi(model, `/trees/${index}?depth=${MOST_DEPTH}`));
      if (mine !== turn) return;
      root = tree.root;
      open = openTo(root, FIRST_LEVELS);
      current = "";
      draw();
      if (numbers.open) showTable();
      setText(summaryOf(numbers), "As a table");
      setAttribute(node, "data-tree", index + 1);
    } catch (error) {
      replace(detail);
      replace(canvas, failureBox(error, load));
    } finally {
      if (mine === turn) canvas.removeAttribute("aria-busy");
    }
  }

  /** The node that the keyboard is at stays where it is seen, a new root comes into sight. */
  function draw() {
    const focused = canvas.contains(document.activeElement);
    const seen = boxOf(current)?.getBoundingClientRect().top ?? canvas.getBoundingClientRect().top + canvas.clientHeight / 2;
    layout = placed(root, open, canvas.clientWidth < NARROW);
    current = layout.nodes.some(({ key }) => key === current) ? current : layout.nodes[0].key;
    const label = `Tree ${index + 1}: ${counted(root.leaves ?? 1, "leaf", "leaves")}`;
    replace(canvas, treeDrawing(layout, { label, current, most: largest(root), all: root.documents, open }));
    const box = boxOf(current);
    canvas.scrollTop += box.getBoundingClientRect().top - seen;
    if (focused) box.focus();
    look(current);
  }

  /** Lets the keyboard go on from a node. */
  function look(key) {
    for (const each of canvas.querySelectorAll("[data-node]")) setAttribute(each, "tabindex", each.dataset.node === key ? 0 : -1);
    current = key;
    tell(key);
  }

  function tell(key) {
    const found = layout.nodes.find((each) => each.key === key);
    const title = found.node.kind === "leaf" ? `Leaf ${found.node.leaf}` : `${found.node.feature} ${condition(found.node)}?`;
    replace(detail, h("h3", {}, title), h("dl", {}, ...facts(found.node, pathTo(found), root.documents).map(([name, words]) => h("div", {}, h("dt", {}, name), h("dd", {}, words)))));
  }

  function press(key) {
    boxOf(key).focus({ preventScroll: true });
    toggle(key);
  }

  async function toggle(key) {
    const { node: split } = layout.nodes.find((each) => each.key === key);
    if (split.kind === "leaf") return;
    if (open.has(key)) open.delete(key);
    else {
      // Below the depth of the answer there is more to ask for.
      if (!split.left) Object.assign(split, (await get(modelApi(model, `/trees/${index}?depth=${MOST_DEPTH}&root=${split.split}`))).root);
      open.add(key);
    }
    draw();
  }

  function unfold(levels) {
    current = "";
    open = openTo(root, levels);
    draw();
  }

  function pressed(event) {
    const action = KEYS[event.key];
    if (!action || !event.target.dataset.node || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const { nodes } = layout;
    const at = nodes.findIndex(({ key }) => key === current);
    const here = nodes[at];
    const isOpen = open.has(here.key);
    if (action === "later" || action === "earlier") go(index + (action === "later" ? 1 : -1)).then(() => focus(layout.nodes[0]));
    else if (action === "toggle" || (action === "in" && here.node.kind === "split" && !isOpen) || (action === "out" && isOpen)) toggle(current);
    else focus({ in: here.children[0], out: here.parent, next: nodes[at + 1], before: nodes[at - 1], first: nodes[0], last: nodes.at(-1) }[action]);
  }

  function focus(each) {
    if (each) boxOf(each.key).focus();
  }

  function boxOf(key) {
    return canvas.querySelector(`[data-node="${key}"]`);
  }

  function showTable() {
    const { nodes } = placed(root, openTo(root, MOST_DEPTH), true);
    replace(numbers, summaryOf(numbers), table(nodes));
  }
}

function keyAt(event) {
  return event.target.closest?.("[data-node]")?.dataset.node;
}

function summaryOf(details) {
  if (!details.querySelector("summary")) details.prepend(h("summary", {}, ""));
  return details.querySelector("summary");
}

/** @param {import("./tree_layout.js").Placed} each @returns {string[]} */
function pathTo({ parent, side }) {
  return parent ? [...pathTo(parent), answer(parent.node, side)] : [];
}

function table(nodes) {
  const numbered = new Map(nodes.map(({ key }, number) => [key, number + 1]));
  const head = ["Node", "Question or value", "Yes", "No", "Documents", "Gain"];
  const row = ({ node, key, children }) => {
    const cells =
      node.kind === "leaf"
        ? [`adds ${added(node)}`, "", "", count(node.documents), ""]
        : [`${node.feature} ${condition(node)}`, ...[0, 1].map((side) => (children[side] ? numbered.get(children[side].key) : "…")), count(node.documents), short(node.gain)];
    return h("tr", {}, h("th", { scope: "row" }, numbered.get(key)), ...cells.map((cell, place) => h("td", { class: place && "number" }, cell)));
  };
  return h(
    "div",
    { class: "scroll tree-table", role: "region", "aria-label": "Nodes of the tree", tabindex: "0" },
    h("table", {}, h("thead", {}, h("tr", {}, ...head.map((words, place) => h("th", { scope: "col", class: place > 1 && "number" }, words)))), h("tbody", {}, ...nodes.map(row))),
  );
}
