import assert from "node:assert/strict";
import { test } from "node:test";
import * as datasets from "../../app/dashboard/static/datasets/dataset.js";

test("the source of a dataset is a file, a folder, addresses, a click log, a seed or an upload", () => {
  const upload = { source: { filename: "train.txt.gz", format: "letor" }, size_bytes: 1.2e9 };
  assert.equal(datasets.sourceLabel(upload), "train.txt.gz, 1.2 GB, LETOR text");
  const folder = { source: { kind: "folder", folder: "mslr", filename: "a.txt", format: "csv" } };
  assert.equal(datasets.sourceLabel(folder), "mslr/a.txt, delimited table");
  const addresses = ["https://example.org/a.csv", "https://example.org/b.csv"];
  const imported = { source: { kind: "address", addresses, format: "csv" }, size_bytes: 1.2e9 };
  assert.equal(datasets.sourceLabel(imported), "https://example.org/a.csv and 1 more, 1.2 GB, delimited table");
  const pattern = { source: { kind: "address", addresses: ["s3://clicks/2026-05"], files: "part-*", format: "csv" } };
  assert.equal(datasets.sourceLabel(pattern), "s3://clicks/2026-05/part-*, delimited table");
  assert.equal(datasets.sourceLabel({ source: { kind: "clicks", click_log_id: "7" } }), "judgments of a click log");
  const synthetic = { source: { kind: "synthetic", seed: 0, polynomial_seed: 7 } };
  assert.equal(datasets.sourceLabel(synthetic), "synthetic, seed 0, polynomial seed 7");
  assert.equal(datasets.sourceLabel({ source: null, size_bytes: null }), "upload");
});

test("a range of one value is that value", () => {
  assert.equal(datasets.rangeLabel(0, 4), "0 – 4");
  assert.equal(datasets.rangeLabel(0, 0), "0");
  assert.equal(datasets.rangeLabel(null, null), "none");
});

test("severities are ordered by gravity, without those that have no findings", () => {
  const findings = ["info", "error", "info"].map((severity) => ({ severity }));
  assert.deepEqual(datasets.countsBySeverity(findings), [
    ["error", 1],
    ["info", 2],
  ]);
  assert.deepEqual(datasets.countsBySeverity([]), []);
});

test("findings of severity info are labelled as notes", () => {
  assert.equal(datasets.severityLabel("info", 1), "1 note");
  assert.equal(datasets.severityLabel("warning", 2), "2 warnings");
});
