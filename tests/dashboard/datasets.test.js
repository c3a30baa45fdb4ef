import assert from "node:assert/strict";
import { test } from "node:test";
import * as datasets from "../../app/dashboard/static/datasets/dataset.js";

test("the source of a dataset is a file, a folder, a seed or an upload", () => {
  const upload = { source: { filename: "train.txt.gz", format: "letor" }, size_bytes: 1.2e9 };
  assert.equal(datasets.sourceLabel(upload), "train.txt.gz, 1.2 GB, LETOR text");
  const folder = { source: { kind: "folder", folder: "mslr", filename: "a.txt", format: "csv" } };
  assert.equal(datasets.sourceLabel(folder), "mslr/a.txt, delimited table");
  const made = { source: { kind: "synthetic", seed: 0, polynomial_seed: 7 } };
  assert.equal(datasets.sourceLabel(made), "synthetic, seed 0, polynomials 7");
  assert.equal(datasets.sourceLabel({ source: null, size_bytes: null }), "upload");
});

test("a range of one value is that value", () => {
  assert.equal(datasets.rangeLabel(0, 4), "0 – 4");
  assert.equal(datasets.rangeLabel(0, 0), "0");
  assert.equal(datasets.rangeLabel(null, null), "none");
});

test("severities are ordered by gravity, without those that have no findings", () => {
  const findings = ["info", "error", "info"].map((severity) => ({ severity }));
  assert.deepEqual(datasets.severities(findings), [
    ["error", 1],
    ["info", 2],
  ]);
  assert.deepEqual(datasets.severities([]), []);
});

test("findings of severity info are labelled as notes", () => {
  assert.equal(datasets.severityLabel("info", 1), "1 note");
  assert.equal(datasets.severityLabel("warning", 2), "2 warnings");
});
