/**
 * Where the nodes of a tree stand: while few are seen, levels from left to right; else one below the other, as in an outline.
 * @module
 */

/** @typedef {import("./tree_labels.js").TreeNode} TreeNode */
/**
 * @typedef {object} Placed
 * @property {TreeNode} node
 * @property {string} key the same for the same node of a tree
 * @property {number} level
 * @property {number} row may lie between two rows
 * @property {Placed | null} parent
 * @property {"left" | "right" | null} side of the parent
 * @property {Placed[]} children none of a folded split
 */
/**
 * @typedef {object} Layout
 * @property {Placed[]} nodes each before its children, the left ones first
 * @property {boolean} outline
 * @property {number} rows
 * @property {number} levels
 */

const MOST_ENDS = 12; // that stand beside their splits, where all is seen at once

/** @param {TreeNode} node */
export function keyOf(node) {
  return node.kind === "leaf" ? `leaf-${node.leaf}` : `split-${node.split}`;
}

/**
 * @param {TreeNode} root
 * @param {Set<string>} open keys of the splits whose children are seen
 * @param {boolean} narrow whether there is no room for levels side by side
 * @returns {Layout}
 */
export function placed(root, open, narrow) {
  const nodes = [];

  function place(node, level, parent, side) {
    const found = { node, key: keyOf(node), level, row: 0, parent, side, children: [] };
    nodes.push(found);
    if (node.kind === "split" && node.left && open.has(found.key)) {
      found.children = [place(node.left, level + 1, found, "left"), place(node.right, level + 1, found, "right")];
    }
    return found;
  }

  place(root, 0, null, null);
  const ends = nodes.filter(({ children }) => children.length === 0);
  const outline = narrow || ends.length > MOST_ENDS;
  (outline ? nodes : ends).forEach((each, row) => Object.assign(each, { row }));
  if (!outline) centre(nodes);
  return { nodes, outline, rows: (outline ? nodes : ends).length, levels: 1 + Math.max(...nodes.map(({ level }) => level)) };
}

/** Splits stand in the middle of what is below them. */
function centre(nodes) {
  for (const each of [...nodes].reverse()) {
    const [yes, no] = each.children;
    if (yes) each.row = (yes.row + no.row) / 2;
  }
}

/** The splits down to a level. @param {TreeNode} root @param {number} levels @returns {Set<string>} */
export function openTo(root, levels) {
  const open = new Set();
  const visit = (node, left) => {
    if (!node || node.kind === "leaf" || left === 0) return;
    open.add(keyOf(node));
    visit(node.left, left - 1);
    visit(node.right, left - 1);
  };
  visit(root, levels);
  return open;
}
