/**
 * A tree drawn as SVG: boxes for nodes, lines as thick as the documents are many.
 * @module
 */
import { svg } from "../page/dom.js";
import { count, counted } from "../page/format.js";
import { added, condition, sentence } from "./tree_labels.js";

const BOX = { width: 148, height: 38 };
const GAP = { x: 58, y: 8 };
const INDENT = { step: 48, stem: 12 }; // of a level in an outline, and of the line below a split
const MARGIN = 8;
const LONGEST = 19; // characters of a line in a box
const THICKEST = 7;

/**
 * @param {import("./tree_layout.js").Layout} layout
 * @param {{label: string, current: string, most: number, all: number | null, open: Set<string>}} how
 *   current: key of the node that the keyboard is at; most: the largest leaf's value, sign aside; all: documents of the tree
 * @returns {SVGElement}
 */
export function treeDrawing({ nodes, outline, rows, levels }, { label, current, most, all, open }) {
  const step = outline ? INDENT.step : BOX.width + GAP.x;
  const width = 2 * MARGIN + BOX.width + (levels - 1) * step;
  const height = 2 * MARGIN + rows * (BOX.height + GAP.y) - GAP.y;
  return svg(
    "svg",
    { class: "tree", role: "tree", "aria-label": label, width, height, viewBox: `0 0 ${width} ${height}` },
    ...nodes.filter(({ parent }) => parent).map((each) => edge(each, { outline, step, all })),
    ...nodes.map((each) => box(each, { step, current, most, open })),
  );
}

function corner({ level, row }, step) {
  return { x: MARGIN + level * step, y: MARGIN + row * (BOX.height + GAP.y) };
}

function edge(each, { outline, step, all }) {
  const { parent, side, node } = each;
  const from = corner(parent, step);
  const to = corner(each, step);
  const y2 = to.y + BOX.height / 2;
  const line = outline ? `M${from.x + INDENT.stem} ${from.y + BOX.height}V${y2}H${to.x}` : curve(from.x + BOX.width, from.y + BOX.height / 2, to.x, y2);
  const width = all && node.documents ? Math.max(1, THICKEST * Math.sqrt(node.documents / all)) : 1.5;
  const missing = parent.node.missing_goes === side;
  const words = `${side === "left" ? "yes" : "no"}${missing ? " ∅" : ""}`;
  return svg(
    "g",
    { class: "edge", "data-missing": missing, "aria-hidden": "true" },
    svg("path", { d: line, "stroke-width": width.toFixed(2) }),
    svg("text", { x: to.x - 5, y: outline || side === "left" ? y2 - 6 : y2 + 14, "text-anchor": "end" }, words),
  );
}

function curve(x1, y1, x2, y2) {
  const middle = (x1 + x2) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
}

function box(each, { step, current, most, open }) {
  const { node, key, level } = each;
  const { x, y } = corner(each, step);
  const leaf = node.kind === "leaf";
  const folded = !leaf && !open.has(key);
  const strength = leaf && most > 0 ? (0.1 + 0.4 * Math.abs(node.value / most)).toFixed(3) : null;
  return svg(
    "g",
    {
      class: `node ${leaf ? (node.value < 0 ? "leaf lowers" : "leaf raises") : folded ? "folded" : "split"}`,
      role: "treeitem",
      transform: `translate(${x} ${y})`,
      tabindex: key === current ? 0 : -1,
      "data-node": key,
      "aria-level": level + 1,
      "aria-expanded": !leaf && String(!folded),
      "aria-label": `${each.side ? `${each.side === "left" ? "yes" : "no"}: ` : ""}${sentence(node)}`,
    },
    folded && svg("rect", { class: "pile", x: 5, y: 4, width: BOX.width, height: BOX.height, rx: 6 }),
    svg("rect", { class: "box", width: BOX.width, height: BOX.height, rx: 6 }),
    leaf && svg("rect", { class: "tint", width: BOX.width, height: BOX.height, rx: 6, opacity: strength }),
    svg("text", { class: "first", x: 9, y: 16 }, leaf ? added(node) : clipped(node.feature)),
    svg("text", { class: "second", x: 9, y: 30 }, clipped(leaf ? documentsOf(node) : condition(node))),
    !leaf && svg("text", { class: "count", x: BOX.width - 8, y: 30, "text-anchor": "end" }, folded ? `▸ ${count(node.leaves)}` : ""),
  );
}

function documentsOf({ documents }) {
  return documents === null ? "" : counted(documents, "document");
}

function clipped(words) {
  const text = String(words);
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
}

/** The largest value of a leaf, sign aside. @param {import("./tree_labels.js").TreeNode | null} node */
export function largest(node) {
  if (!node) return 0;
  return node.kind === "leaf" ? Math.abs(node.value) : Math.max(largest(node.left), largest(node.right));
}

