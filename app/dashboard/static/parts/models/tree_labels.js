/**
 * What a node of a tree says, in words.
 * @module
 */
import { count, counted, percent, short } from "../page/format.js";

/**
 * @typedef {object} TreeNode
 * @property {"split" | "leaf"} kind
 * @property {number} [split]
 * @property {number} [leaf]
 * @property {string} [feature]
 * @property {"<=" | "in"} [decision]
 * @property {number | null} [threshold]
 * @property {(number | string)[] | null} [categories]
 * @property {"none" | "zero" | "nan"} [missing]
 * @property {"left" | "right" | null} [missing_goes]
 * @property {number} [gain]
 * @property {number | null} documents
 * @property {number} [leaves]
 * @property {TreeNode | null} [left]
 * @property {TreeNode | null} [right]
 * @property {number} [value]
 * @property {{constant: number, coefficients: Record<string, number>} | null} [linear]
 */

/** LightGBM takes what is no farther from 0 for 0, and so are its thresholds to be read. */
const ZERO = 1.1e-35;

function threshold({ threshold: value }) {
  return short(Math.abs(value) < ZERO ? 0 : value);
}

/** "≤ 12.5", "in 1, 4, 7", "is there". @param {TreeNode} node */
export function condition(node) {
  if (node.categories) return `in ${node.categories.join(", ")}`;
  if (node.threshold !== null) return `≤ ${threshold(node)}`;
  return node.missing_goes === "left" ? "is missing" : "is there";
}

/** What leads to one side: "bm25 ≤ 12.5", "bm25 > 12.5 or missing". @param {TreeNode} node @param {"left" | "right"} side */
export function answer(node, side) {
  const also = node.missing_goes === side ? ` or ${missingWords(node)}` : "";
  if (node.threshold === null && !node.categories) return `${node.feature} ${side === node.missing_goes ? "is missing" : "is there"}`;
  if (side === "left") return `${node.feature} ${condition(node)}${also}`;
  return `${node.feature} ${node.categories ? `not ${condition(node)}` : `> ${threshold(node)}`}${also}`;
}

function missingWords({ missing }) {
  return missing === "zero" ? "0 or missing" : "missing";
}

/** "+0.0451". @param {TreeNode} leaf */
export function added({ value }) {
  return `${value > 0 ? "+" : value < 0 ? "−" : ""}${short(Number(Math.abs(value).toPrecision(4)))}`;
}

/** A node in one sentence. @param {TreeNode} node */
export function sentence(node) {
  const documents = node.documents === null ? "" : `, ${counted(node.documents, "document")}`;
  if (node.kind === "leaf") return `adds ${added(node)}${documents}`;
  return `${node.feature} ${condition(node)}${documents}, ${counted(node.leaves, "leaf", "leaves")} below`;
}

/**
 * What is known of a node, by name.
 * @param {TreeNode} node
 * @param {string[]} path the answers that lead here
 * @param {number | null} all documents of the tree
 * @returns {[string, string][]}
 */
export function facts(node, path, all) {
  const documents = node.documents !== null && ["Training documents", `${count(node.documents)}${all ? ` (${percent(node.documents, all)})` : ""}`];
  const found =
    node.kind === "leaf"
      ? [["Adds to the score", String(node.value)], node.linear && ["Unless a value is missing", linearWords(node.linear)], documents]
      : [["Missing values", wayOfMissing(node)], documents, ["Gain", short(node.gain)], ["Leaves below", count(node.leaves)]];
  return [...found, path.length > 0 && ["Comes here", path.join(" and ")]].filter(Boolean);
}

function wayOfMissing({ missing, missing_goes: goes }) {
  if (missing === "none") return "count as 0";
  return `${missing === "zero" ? "and 0 go" : "go"} with ${goes === "left" ? "yes" : "no"}`;
}

function linearWords({ constant, coefficients }) {
  return [short(constant), ...Object.entries(coefficients).map(([name, factor]) => `${short(factor)} × ${name}`)].join(" + ");
}
