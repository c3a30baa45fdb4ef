/** A tree as labels, positions and SVG. @module */
import { svg } from "../page/dom.js";
import { count, counted, percent, short } from "../page/format.js";

/** @typedef {Schemas["TreeSplit"]} Split */
/** @typedef {Split | Schemas["TreeLeaf"]} TreeNode */

/** Upper bound of the absolute threshold, about 1e-35, that LightGBM stores for 0. */
const ZERO = 1.1e-35;

/** @param {Split} split */
const threshold = ({ threshold: value }) => short(Math.abs(value ?? 0) < ZERO ? 0 : value);

/** Return "≤ 12.5", "in 1, 4, 7", "is present" or "is missing". @param {Split} node */
export function condition(node) {
  if (node.categories) return `in ${node.categories.join(", ")}`;
  if (node.threshold !== null) return `≤ ${threshold(node)}`;
  return node.missing_goes === "left" ? "is missing" : "is present";
}

/** Return the condition of one side: "bm25 ≤ 12.5", "bm25 > 12.5 or missing". @param {Split} node @param {"left" | "right"} side */
export function sideCondition(node, side) {
  const also = node.missing_goes === side ? ` or ${node.missing === "zero" ? "0 or missing" : "missing"}` : "";
  if (node.threshold === null && !node.categories)
    return `${node.feature} ${side === node.missing_goes ? "is missing" : "is present"}`;
  if (side === "left") return `${node.feature} ${condition(node)}${also}`;
  return `${node.feature} ${node.categories ? `not ${condition(node)}` : `> ${threshold(node)}`}${also}`;
}

/** Return the score that a leaf adds: "+0.0451". @param {Schemas["TreeLeaf"]} leaf */
export const scoreLabel = ({ value }) =>
  `${value > 0 ? "+" : value < 0 ? "−" : ""}${short(Number(Math.abs(value).toPrecision(4)))}`;

/** Return the text alternative of a node. @param {TreeNode} node */
function sentence(node) {
  const documents = node.documents === null ? "" : `, ${counted(node.documents, "document")}`;
  if (node.kind === "leaf") return `adds ${scoreLabel(node)}${documents}`;
  return `${node.feature} ${condition(node)}${documents}, ${counted(node.leaves, "leaf", "leaves")} below`;
}

/**
 * Return the facts about a node, by name.
 * @param {TreeNode} node
 * @param {string[]} path conditions from the root to the node
 * @param {number | null} all documents of the tree
 */
export function facts(node, path, all) {
  /** @type {[string, string] | false} */ const documents = node.documents !== null && [
    "Training documents",
    `${count(node.documents)}${all ? ` (${percent(node.documents, all)})` : ""}`,
  ];
  /** @type {([string, string] | false | null | undefined)[]} */
  const entries =
    node.kind === "leaf"
      ? [
          ["Adds to the score", String(node.value)],
          node.linear && ["Adds if no value is missing", linearLabel(node.linear)],
          documents,
        ]
      : [
          ["Missing values", missingBranch(node)],
          documents,
          ["Gain", short(node.gain)],
          ["Leaves below", count(node.leaves)],
        ];
  if (path.length > 0) entries.push(["Path", path.join(" and ")]);
  return entries.filter((fact) => !!fact);
}

/** @param {Split} split */
function missingBranch({ missing, missing_goes: goes }) {
  if (missing === "none") return "count as 0";
  return `${missing === "zero" ? "and 0 take" : "take"} the ${goes === "left" ? "yes" : "no"} branch`;
}

/** @param {NonNullable<Schemas["TreeLeaf"]["linear"]>} linear */
function linearLabel({ constant, coefficients }) {
  return [short(constant), ...Object.entries(coefficients).map(([name, factor]) => `${short(factor)} × ${name}`)].join(
    " + ",
  );
}

/**
 * @typedef {object} Placed
 * @property {TreeNode} node
 * @property {string} key identifies the node in its tree
 * @property {number} level
 * @property {number} row counted from the top; a fraction where the node is between two rows
 * @property {Placed | null} parent
 * @property {"left" | "right" | null} side branch of the parent that the node is on; null for the root
 * @property {Placed[]} children empty for a folded split
 */
/**
 * @typedef {object} Layout
 * @property {Placed[]} nodes each before its children, the left ones first
 * @property {boolean} outline whether each node has a row and is indented by its level, as in a list of folders
 * @property {number} rows
 * @property {number} levels
 */

const MAX_LEVELLED_ENDS = 12; // a tree with more visible end nodes is drawn as an outline

/** @param {TreeNode} node */
const keyOf = (node) => (node.kind === "leaf" ? `leaf-${node.leaf}` : `split-${node.split}`);

/**
 * Return the positions of the visible nodes of a tree.
 * @param {TreeNode} root
 * @param {Set<string>} open keys of the splits whose children are shown
 * @param {boolean} narrow whether there is no room for levels side by side
 */
export function treeLayout(root, open, narrow) {
  /** @type {Placed[]} */ const nodes = [];

  /** @param {TreeNode} node @param {number} level @param {Placed | null} parent @param {Placed["side"]} side */
  function place(node, level, parent, side) {
    /** @type {Placed} */
    const placed = { node, key: keyOf(node), level, row: 0, parent, side, children: [] };
    nodes.push(placed);
    if (node.kind === "split" && node.left && node.right && open.has(placed.key)) {
      placed.children = [place(node.left, level + 1, placed, "left"), place(node.right, level + 1, placed, "right")];
    }
    return placed;
  }

  place(root, 0, null, null);
  const ends = nodes.filter(({ children }) => children.length === 0);
  const outline = narrow || ends.length > MAX_LEVELLED_ENDS;
  (outline ? nodes : ends).forEach((each, row) => {
    each.row = row;
  });
  if (!outline) centre(nodes);
  return {
    nodes,
    outline,
    rows: (outline ? nodes : ends).length,
    levels: 1 + Math.max(...nodes.map(({ level }) => level)),
  };
}

/** Centre each open split between its two children. @param {Placed[]} nodes */
function centre(nodes) {
  for (const each of [...nodes].reverse()) {
    const [yes, no] = each.children;
    if (yes) each.row = (yes.row + no.row) / 2;
  }
}

/** Return the keys of the splits down to a level. @param {TreeNode} root @param {number} levels @returns {Set<string>} */
export function openTo(root, levels) {
  /** @type {Set<string>} */ const open = new Set();
  /** @param {TreeNode | null | undefined} node @param {number} remaining levels */
  const visit = (node, remaining) => {
    if (!node || node.kind === "leaf" || remaining === 0) return;
    open.add(keyOf(node));
    visit(node.left, remaining - 1);
    visit(node.right, remaining - 1);
  };
  visit(root, levels);
  return open;
}

const BOX = { width: 148, height: 38 };
const GAP = { x: 58, y: 8 };
const INDENT = { step: 48, stem: 12 }; // of a level in an outline, and of the line below a split
const MARGIN = 8;
const MAX_BOX_CHARACTERS = 19;
const MAX_EDGE_WIDTH = 7;

/**
 * Draw a tree as SVG: boxes for nodes, and lines that are thicker where more documents pass.
 * @param {Layout} layout
 * @param {{label: string, current: string, open: Set<string>}} how current: key of the node with the keyboard focus
 */
export function treeDrawing({ nodes, outline, rows, levels }, { label, current, open }) {
  const [{ node: root }] = nodes;
  const most = largestLeaf(root);
  const step = outline ? INDENT.step : BOX.width + GAP.x;
  const width = 2 * MARGIN + BOX.width + (levels - 1) * step;
  const height = 2 * MARGIN + rows * (BOX.height + GAP.y) - GAP.y;
  return svg("svg.tree", { role: "tree", "aria-label": label, width, height, viewBox: `0 0 ${width} ${height}` }, [
    ...nodes.map((each) => each.parent && edge(each, each.parent, { outline, step, all: root.documents })),
    ...nodes.map((each) => box(each, { step, current, most, open })),
  ]);
}

/** @param {Placed} each @param {number} step */
const corner = ({ level, row }, step) => ({ x: MARGIN + level * step, y: MARGIN + row * (BOX.height + GAP.y) });

/** @param {Placed} each @param {Placed} parent @param {{outline: boolean, step: number, all: number | null}} how */
function edge(each, parent, { outline, step, all }) {
  const { side, node } = each;
  const from = corner(parent, step);
  const to = corner(each, step);
  const y2 = to.y + BOX.height / 2;
  const line = outline
    ? `M${from.x + INDENT.stem} ${from.y + BOX.height}V${y2}H${to.x}`
    : curve(from.x + BOX.width, from.y + BOX.height / 2, to.x, y2);
  const width = all && node.documents ? Math.max(1, MAX_EDGE_WIDTH * Math.sqrt(node.documents / all)) : 1.5;
  const missing = parent.node.kind === "split" && parent.node.missing_goes === side;
  const words = `${side === "left" ? "yes" : "no"}${missing ? " ∅" : ""}`;
  return svg("g.edge", { "data-missing": missing, "aria-hidden": "true" }, [
    svg("path", { d: line, "stroke-width": width.toFixed(2) }),
    svg("text", { x: to.x - 5, y: outline || side === "left" ? y2 - 6 : y2 + 14, "text-anchor": "end" }, words),
  ]);
}

/** @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 */
function curve(x1, y1, x2, y2) {
  const middle = (x1 + x2) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
}

/** @param {Placed} each @param {{step: number, current: string, most: number, open: Set<string>}} how */
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
    [
      folded && svg("rect.pile", { x: 5, y: 4, width: BOX.width, height: BOX.height, rx: 6 }),
      svg("rect.box", { width: BOX.width, height: BOX.height, rx: 6 }),
      leaf && svg("rect.tint", { width: BOX.width, height: BOX.height, rx: 6, opacity: strength }),
      svg("text.first", { x: 9, y: 16 }, leaf ? scoreLabel(node) : clipped(node.feature)),
      svg("text.second", { x: 9, y: 30 }, clipped(leaf ? documentsOf(node) : condition(node))),
      !leaf &&
        svg("text.count", { x: BOX.width - 8, y: 30, "text-anchor": "end" }, folded ? `▸ ${count(node.leaves)}` : ""),
    ],
  );
}

/** @param {TreeNode} node */
const documentsOf = ({ documents }) => (documents === null ? "" : counted(documents, "document"));

/** @param {string | undefined} words */
function clipped(words) {
  const text = String(words);
  return text.length > MAX_BOX_CHARACTERS ? `${text.slice(0, MAX_BOX_CHARACTERS - 1)}…` : text;
}

/** Return the largest absolute value of a leaf. @param {TreeNode | null | undefined} node @returns {number} */
export function largestLeaf(node) {
  if (!node) return 0;
  return node.kind === "leaf" ? Math.abs(node.value) : Math.max(largestLeaf(node.left), largestLeaf(node.right));
}
