import assert from "node:assert/strict";
import { test } from "node:test";
import * as drawing from "../../app/dashboard/static/models/tree_drawing.js";

const SPLIT = { kind: "split", split: 0, feature: "bm25", threshold: 12.5, missing: "nan", missing_goes: "right" };
const leaf = (number, value) => ({ kind: "leaf", leaf: number, value, documents: 5 });
const TREE = {
  ...SPLIT,
  documents: 15,
  left: leaf(0, 0.5),
  right: { ...SPLIT, split: 1, documents: 10, left: leaf(1, -2), right: leaf(2, 1) },
};

test("missing values are named on the side to which they go", () => {
  assert.equal(drawing.sideCondition(SPLIT, "left"), "bm25 ≤ 12.5");
  assert.equal(drawing.sideCondition(SPLIT, "right"), "bm25 > 12.5 or missing");
  const zero = { ...SPLIT, missing: "zero", missing_goes: "left" };
  assert.equal(drawing.sideCondition(zero, "left"), "bm25 ≤ 12.5 or 0 or missing");
});

test("a split without a threshold asks whether the value is present", () => {
  const split = { ...SPLIT, threshold: null, missing_goes: "left" };
  assert.equal(drawing.condition(split), "is missing");
  assert.equal(drawing.sideCondition(split, "left"), "bm25 is missing");
  assert.equal(drawing.sideCondition(split, "right"), "bm25 is present");
});

test("categories are enumerated", () => {
  const split = { ...SPLIT, threshold: null, categories: [1, 4], missing_goes: null };
  assert.equal(drawing.sideCondition(split, "left"), "bm25 in 1, 4");
  assert.equal(drawing.sideCondition(split, "right"), "bm25 not in 1, 4");
});

test("a threshold that LightGBM takes for zero is zero", () => {
  assert.equal(drawing.condition({ ...SPLIT, threshold: 1e-35 }), "≤ 0");
  assert.equal(drawing.condition({ ...SPLIT, threshold: -1e-35 }), "≤ 0");
  assert.equal(drawing.condition({ ...SPLIT, threshold: 1e-34 }), "≤ 1e-34");
});

test("the score of a leaf has four digits and a sign, and zero has no sign", () => {
  assert.equal(drawing.scoreLabel({ value: 0.045123 }), "+0.04512");
  assert.equal(drawing.scoreLabel({ value: -3 }), "−3");
  assert.equal(drawing.scoreLabel({ value: -0 }), "0");
});

test("the facts of a node have its share of the documents", () => {
  const facts = Object.fromEntries(
    drawing.facts({ ...TREE, documents: 5, gain: 1.5, leaves: 3 }, ["a ≤ 1", "b > 2"], 20),
  );
  assert.equal(facts["Training documents"], "5 (25%)");
  assert.equal(facts["Missing values"], "take the no branch");
  assert.equal(facts["Path"], "a ≤ 1 and b > 2");
  assert.equal(Object.fromEntries(drawing.facts(leaf(0, 0.5), [], null))["Training documents"], "5");
});

test("collapsed splits hide their subtrees, and a split is centred between its children", () => {
  const folded = drawing.treeLayout(TREE, new Set(["split-0"]), false);
  assert.deepEqual(
    folded.nodes.map(({ key, row, level }) => [key, row, level]),
    [
      ["split-0", 0.5, 0],
      ["leaf-0", 0, 1],
      ["split-1", 1, 1],
    ],
  );
  assert.deepEqual([folded.rows, folded.levels], [2, 2]);
  assert.equal(drawing.treeLayout(TREE, drawing.openTo(TREE, 9), false).rows, 3);
});

test("an outline has a row for every node", () => {
  const { outline, rows, nodes } = drawing.treeLayout(TREE, drawing.openTo(TREE, 9), true);
  assert.deepEqual([outline, rows], [true, 5]);
  assert.deepEqual(
    nodes.map(({ row }) => row),
    [0, 1, 2, 3, 4],
  );
});

test("splits are opened down to a level", () => {
  assert.deepEqual([...drawing.openTo(TREE, 0)], []);
  assert.deepEqual([...drawing.openTo(TREE, 1)], ["split-0"]);
  assert.deepEqual([...drawing.openTo(TREE, 2)], ["split-0", "split-1"]);
});

test("the largest leaf is the largest absolute value of a leaf", () => {
  assert.equal(drawing.largestLeaf(TREE), 2);
  assert.equal(drawing.largestLeaf(null), 0);
});
