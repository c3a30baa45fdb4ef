import assert from "node:assert/strict";
import { test } from "node:test";
import * as labels from "../../app/dashboard/static/experiments/labels.js";

const COUNTS = { planned: 0, queued: 0, running: 0, succeeded: 0, failed: 0, cancelled: 0 };

test("tables are named as in the papers", () => {
  assert.equal(labels.tableName("table-4"), "Table 4");
  assert.equal(labels.tableName("figure-2"), "Figure 2");
});

test("progress counts successes and failures", () => {
  assert.equal(labels.progressLabel(COUNTS), "–");
  assert.equal(labels.progressLabel({ ...COUNTS, planned: 13, succeeded: 3 }), "3 of 16");
  assert.equal(labels.progressLabel({ ...COUNTS, running: 2, failed: 1 }), "0 of 3, 2 running, 1 failed");
});

test("numbers have the decimals of the paper's unit, and differences have a sign", () => {
  assert.equal(labels.numberLabel(0.47114, "fraction"), "0.4711");
  assert.equal(labels.numberLabel(47.114, "percent"), "47.11");
  assert.equal(labels.numberLabel(null, "percent"), "–");
  assert.equal(labels.signedLabel(0.5, "percent"), "+0.50");
  assert.equal(labels.signedLabel(-0.5, "percent"), "−0.50");
  assert.equal(labels.signedLabel(null, "percent"), "–");
});

test("a difference that rounds to zero has no sign, from either side", () => {
  assert.equal(labels.signedLabel(0.001, "percent"), "0.00");
  assert.equal(labels.signedLabel(-0.001, "percent"), "0.00");
  assert.equal(labels.signedLabel(0, "fraction"), "0.0000");
});

test("a corpus with the name of its data is shown once", () => {
  assert.equal(labels.dataLabel({ data: "mslr", corpus: "mslr", folds: [1, 2] }), "mslr · folds 1, 2");
  assert.equal(labels.dataLabel({ data: "folder", corpus: "mslr", folds: [] }), "folder · mslr");
});
