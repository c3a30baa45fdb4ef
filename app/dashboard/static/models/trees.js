/** Trees of a model, one at a time: as a drawing for pointer and keyboard, and as a table. @module */
import { textInput } from "../forms/controls.js";
import { scoreLabel, sideCondition, condition, facts, openTo, treeLayout, treeDrawing } from "./tree_drawing.js";
import { modelApi } from "../page/paths.js";
import { get } from "../page/api.js";
import { failureBox, latestReader } from "../page/content.js";
import { h, replace, setAttribute } from "../page/dom.js";
import { dataTable, factList, hint, numberHeads } from "../page/parts.js";
import { count, counted, short } from "../page/format.js";

const FIRST_LEVELS = 3;
const MAX_DEPTH = 64;
const NARROW = 600; // pixels
/** @type {Record<string, string>} */ const KEYS = {
  ArrowRight: "in",
  ArrowLeft: "out",
  ArrowDown: "next",
  ArrowUp: "previous",
  Home: "first",
  End: "last",
  Enter: "toggle",
  " ": "toggle",
  PageDown: "nextTree",
  PageUp: "previousTree",
};

/**
 * Show one tree of a model, with controls that choose the tree and its open levels.
 * @param {HTMLElement} node
 * @param {string} model id
 * @param {number} trees
 * @param {string | null} wanted number of the tree that is shown first, from 1
 * @param {(changed: Record<string, number>) => void} remember called with the shown tree
 */
export function treePanel(node, model, trees, wanted, remember) {
  if (!trees) {
    node.append(hint("The model has no trees."));
    return;
  }
  const field = textInput({
    inputmode: "numeric",
    "aria-label": "Number of the tree",
    change: () => void go(Number(field.value) - 1 || 0),
  });
  const before = h("button.quiet", { "aria-label": "Previous tree", click: () => go(index - 1) }, "←");
  const after = h("button.quiet", { "aria-label": "Next tree", click: () => go(index + 1) }, "→");
  const fold = h("button.quiet.small", { click: () => unfold(FIRST_LEVELS) }, `${FIRST_LEVELS} levels`);
  const all = h("button.quiet.small", { click: () => unfold(MAX_DEPTH) }, "All levels");
  const canvas = h("div.tree-canvas", { role: "region", "aria-label": "Tree" });
  const detail = h("div.tree-detail");
  const summary = h("summary", "As a table");
  const numbers = h("details.more");
  let index = Math.min(trees, Math.max(1, Number(wanted) || 1)) - 1;
  /** @type {import("./tree_drawing.js").TreeNode | null} */
  let root = null;
  /** @type {Set<string>} */ let open = new Set();
  /** @type {import("./tree_drawing.js").Layout | null} */
  let layout = null;
  let current = "";
  const read = latestReader(canvas, (error, retry) => {
    replace(detail);
    replace(canvas, failureBox(error, retry));
  });

  node.firstElementChild?.append(
    h("div.tree-controls", before, h("label", "Tree ", field, ` of ${count(trees)}`), after),
  );
  node.append(
    h("div.tree-bar", [
      hint(
        "Yes branches are above no branches; ∅ marks the branch of missing values. Thicker lines have more documents.",
      ),
      h("div.actions", fold, all),
    ]),
    h("div.tree-view", canvas, detail),
    numbers,
  );
  canvas.addEventListener("click", (event) => focusAndToggle(keyAt(event)));
  canvas.addEventListener("pointerover", (event) => showFacts(keyAt(event)));
  canvas.addEventListener("pointerleave", () => layout && showFacts(current));
  canvas.addEventListener("focusin", (event) => moveTo(keyOf(event.target)));
  canvas.addEventListener("keydown", onKey);
  numbers.addEventListener("toggle", () => numbers.open && showTable());
  load();

  /** @param {number} wantedIndex */
  function go(wantedIndex) {
    index = Math.min(trees - 1, Math.max(0, wantedIndex));
    remember({ tree: index + 1 });
    return load();
  }

  function load() {
    field.value = String(index + 1);
    before.disabled = index === 0;
    after.disabled = index === trees - 1;
    return read(
      () => get(modelApi(model, `/trees/${index}?depth=${MAX_DEPTH}`)),
      (tree) => {
        root = tree.root;
        open = openTo(root, FIRST_LEVELS);
        current = "";
        draw();
        if (numbers.open) showTable();
        else if (!numbers.hasChildNodes()) numbers.append(summary);
        setAttribute(node, "data-tree", index + 1);
      },
    );
  }

  /** Draw the tree. The focused node stays in its place on the screen; a new root is scrolled into view. */
  function draw() {
    if (!root) return;
    const focused = canvas.contains(document.activeElement);
    const seen =
      boxOf(current)?.getBoundingClientRect().top ?? canvas.getBoundingClientRect().top + canvas.clientHeight / 2;
    const drawn = treeLayout(root, open, canvas.clientWidth < NARROW);
    layout = drawn;
    current = drawn.nodes.some(({ key }) => key === current) ? current : drawn.nodes[0].key;
    const label = `Tree ${index + 1}: ${counted(root.kind === "leaf" ? 1 : root.leaves, "leaf", "leaves")}`;
    replace(canvas, treeDrawing(drawn, { label, current, open }));
    const box = boxOf(current);
    canvas.scrollTop += (box?.getBoundingClientRect().top ?? seen) - seen;
    if (focused) box?.focus();
    moveTo(current);
  }

  /** Make a node the tab stop of the drawing, and show its facts. @param {string | undefined} key */
  function moveTo(key) {
    if (!key) return;
    for (const each of canvas.querySelectorAll("[data-node]"))
      setAttribute(each, "tabindex", keyOf(each) === key ? 0 : -1);
    current = key;
    showFacts(key);
  }

  /** @param {string | undefined} key */
  function showFacts(key) {
    const placed = layout?.nodes.find((each) => each.key === key);
    if (!placed || !root) return;
    const title =
      placed.node.kind === "leaf" ? `Leaf ${placed.node.leaf}` : `${placed.node.feature} ${condition(placed.node)}?`;
    replace(detail, h("h3", title), factList("", facts(placed.node, pathTo(placed), root.documents)));
  }

  /** @param {string | undefined} key */
  function focusAndToggle(key) {
    if (!key) return;
    boxOf(key)?.focus({ preventScroll: true });
    toggle(key);
  }

  /** Open or fold a split. Levels below the depth of the response are read when they are opened. @param {string} key */
  function toggle(key) {
    const split = layout?.nodes.find((each) => each.key === key)?.node;
    if (!split || split.kind === "leaf") return;
    if (!split.left)
      return void read(
        () => get(modelApi(model, `/trees/${index}?depth=${MAX_DEPTH}&root=${split.split}`)),
        (below) => {
          Object.assign(split, below.root);
          toggle(key);
        },
      );
    if (!open.delete(key)) open.add(key);
    draw();
  }

  /** @param {number} levels */
  function unfold(levels) {
    current = "";
    if (root) open = openTo(root, levels);
    draw();
  }

  /** @param {KeyboardEvent} event */
  function onKey(event) {
    const action = KEYS[event.key];
    if (!action || !layout || !keyOf(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const { nodes } = layout;
    const at = nodes.findIndex(({ key }) => key === current);
    const here = nodes[at];
    const isOpen = open.has(here.key);
    /** @type {Record<string, import("./tree_drawing.js").Placed | null | undefined>} */
    const targets = {
      in: here.children[0],
      out: here.parent,
      next: nodes[at + 1],
      previous: nodes[at - 1],
      first: nodes[0],
      last: nodes.at(-1),
    };
    if (action === "nextTree" || action === "previousTree")
      go(index + (action === "nextTree" ? 1 : -1)).then(() => focus(layout?.nodes[0]));
    else if (
      action === "toggle" ||
      (action === "in" && here.node.kind === "split" && !isOpen) ||
      (action === "out" && isOpen)
    )
      toggle(current);
    else focus(targets[action]);
  }

  /** @param {import("./tree_drawing.js").Placed | null | undefined} each */
  function focus(each) {
    if (each) boxOf(each.key)?.focus();
  }

  /** @param {string} key @returns {SVGGElement | null} */
  function boxOf(key) {
    return canvas.querySelector(`g[data-node="${key}"]`);
  }

  function showTable() {
    if (!root) return;
    const { nodes } = treeLayout(root, openTo(root, MAX_DEPTH), true);
    replace(numbers, summary, table(nodes));
  }
}

/** @param {Event} event */
const keyAt = ({ target }) => (target instanceof Element ? keyOf(target.closest("[data-node]")) : undefined);

/** @param {EventTarget | null} node */
const keyOf = (node) => (node instanceof SVGElement ? node.dataset.node : undefined);

/** @param {import("./tree_drawing.js").Placed} each @returns {string[]} */
const pathTo = ({ parent, side }) =>
  parent?.node.kind === "split" && side ? [...pathTo(parent), sideCondition(parent.node, side)] : [];

/** @param {import("./tree_drawing.js").Placed[]} nodes */
function table(nodes) {
  const numbered = new Map(nodes.map(({ key }, number) => [key, number + 1]));
  const heads = ["Node", "Condition or value", numberHeads("Yes", "No", "Documents", "Gain")];
  const table = dataTable("Nodes of the tree", heads, nodes, ({ node, key, children }) =>
    node.kind === "leaf"
      ? [numbered.get(key), `adds ${scoreLabel(node)}`, "", "", count(node.documents), ""]
      : [
          numbered.get(key),
          `${node.feature} ${condition(node)}`,
          ...[0, 1].map((side) => (children[side] ? numbered.get(children[side].key) : "…")),
          count(node.documents),
          short(node.gain),
        ],
  );
  table.classList.add("tree-table");
  return table;
}
