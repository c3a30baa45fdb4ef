import assert from "node:assert/strict";
import { test } from "node:test";
import { contractLabel, presetLabel } from "../../app/dashboard/static/evaluation/metrics.js";

test("conventions are described in a fixed order, which does not depend on the contract's order", () => {
  const words = "gain 2^y − 1 · discount log2(1 + rank) · ties in input order";
  assert.equal(contractLabel({ gain: "exp2", discount: "log2", ties: "stable" }), words);
  assert.equal(contractLabel({ ties: "stable", discount: "log2", gain: "exp2" }), words);
});

test("a list of gains is shown by label", () => {
  assert.equal(contractLabel({ gain: [0, 1, 3.5] }), "gain 0, 1, 3.5 by label");
});

test("conventions that are absent, or change nothing, are not described", () => {
  assert.equal(contractLabel(null), "");
  assert.equal(contractLabel({ gain: null, short_lists: "truncate" }), "");
  assert.equal(contractLabel({ preset: "letor" }), "");
});

test("a relevance threshold of zero is described", () => {
  assert.equal(contractLabel({ relevance_threshold: 0 }), "relevant above label 0");
});

test("queries without relevant documents are left out or have a value", () => {
  assert.equal(contractLabel({ queries_without_relevant: "skip" }), "queries without relevant documents left out");
  assert.equal(contractLabel({ queries_without_relevant: 1 }), "queries without relevant documents count as 1");
});

test("only a contract with the name of a preset is a preset", () => {
  assert.equal(presetLabel({ preset: "trec_eval" }), "preset trec_eval");
  assert.equal(presetLabel({ preset: null }), "custom conventions");
  assert.equal(presetLabel(null), "custom conventions");
});
