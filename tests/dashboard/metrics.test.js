import assert from "node:assert/strict";
import { test } from "node:test";
import { contractWords, presetWords } from "../../app/dashboard/static/evaluation/metrics.js";

test("conventions are words, in one order whatever the order of the contract", () => {
  const words = "gain 2^y − 1 · discount log2(1 + rank) · ties in input order";
  assert.equal(contractWords({ gain: "exp2", discount: "log2", ties: "stable" }), words);
  assert.equal(contractWords({ ties: "stable", discount: "log2", gain: "exp2" }), words);
});

test("a list of gains is shown by label", () => {
  assert.equal(contractWords({ gain: [0, 1, 3.5] }), "gain 0, 1, 3.5 by label");
});

test("conventions that are absent, or change nothing, have no words", () => {
  assert.equal(contractWords(null), "");
  assert.equal(contractWords({ gain: null, short_lists: "truncate" }), "");
  assert.equal(contractWords({ preset: "letor" }), "");
});

test("a threshold of zero is a convention", () => {
  assert.equal(contractWords({ relevance_threshold: 0 }), "relevant above label 0");
});

test("queries without relevant documents are left out or have a value", () => {
  assert.equal(contractWords({ queries_without_relevant: "skip" }), "queries without relevant documents left out");
  assert.equal(contractWords({ queries_without_relevant: 1 }), "queries without relevant documents count as 1");
});

test("only a contract with the name of a preset is a preset", () => {
  assert.equal(presetWords({ preset: "trec_eval" }), "preset trec_eval");
  assert.equal(presetWords({ preset: null }), "custom conventions");
  assert.equal(presetWords(null), "custom conventions");
});
