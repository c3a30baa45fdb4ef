/** Headers of click logs, propensities and estimates of jobs on a log, and the sample size of an interleaving. */
import assert from "node:assert/strict";
import test from "node:test";

import { clustersLabel, intervalsLabel } from "../../app/dashboard/static/clicks/counterfactual.js";
import { logSource } from "../../app/dashboard/static/clicks/log.js";
import { propensityLines } from "../../app/dashboard/static/clicks/log_jobs.js";
import { namedTicks } from "../../app/dashboard/static/figures/rank_lines.js";
import { firstRecords } from "../../app/dashboard/static/forms/text_file.js";
import { sampleSize } from "../../app/dashboard/static/interleavings/verdict.js";

test("The source of a click log is a file, an address, served rankings, interleaved lists or a simulation", () => {
  const table = { filename: "clicks.csv", format: "table" };
  assert.equal(logSource({ source: { kind: "upload", ...table }, size_bytes: 1.2e9 }), "clicks.csv, 1.2 GB, table");
  const folder = { addresses: ["s3://clicks/2026-05"], files: "part-*.parquet", format: "table" };
  assert.equal(logSource({ source: { kind: "address", ...folder } }), "s3://clicks/2026-05/part-*.parquet, table");
  const served = { kind: "served", model: "web", version: 3, format: "sessions" };
  assert.equal(logSource({ source: served, size_bytes: 2e6 }), "served by web:3, 2.0 MB");
  assert.equal(logSource({ source: { ...served, version: null } }), "served by web");
  const interleaved = { kind: "interleaved", interleaving_id: "7", format: "sessions" };
  assert.equal(logSource({ source: interleaved }), "lists of an interleaving");
  assert.equal(logSource({ source: { kind: "simulation", user_model: "pbm" } }), "simulated by pbm");
});

test("The delimiter is detected in the header, and quotes are removed", () => {
  assert.deepEqual(firstRecords('query;document\n"red; ""big"" shoes";a\n', 5), [
    ["query", "document"],
    ['red; "big" shoes', "a"],
  ]);
  assert.deepEqual(firstRecords("query\trank\nshoes, red\t\n", 5), [
    ["query", "rank"],
    ["shoes, red", ""],
  ]);
});

test("Only the first rows are read, and a byte order mark and CRLF line ends are removed", () => {
  assert.deepEqual(firstRecords("\ufeffa,b\r\n1,2\r\n3,4\r\n5,6\r\n", 2), [
    ["a", "b"],
    ["1", "2"],
  ]);
});

test("Few ranks have a tick each, and no ticks are made for a billion users", () => {
  const ticks = [
    [9, "9"],
    [10, "10"],
  ];
  assert.deepEqual(namedTicks(9, 10), ticks);
  assert.equal(namedTicks(1, 13), undefined);
  assert.equal(namedTicks(1, 10_000_000_000), undefined);
});

test("The sample size equals the one that the service computes", () => {
  assert.equal(sampleSize(0.05, 0.2, 0.05), 785);
  assert.equal(sampleSize(0.05, 0.2, 0.1), 197);
  assert.equal(sampleSize(0.05, 0.2, 0.2), 50);
  assert.equal(sampleSize(0.15, 0.2, 0.05, 3), 785);
});

test("A training that learns propensities has a line with its title", () => {
  const jobs = [
    { kind: "train", title: "web", result: { propensities: [1, 0.5] } },
    { kind: "train", title: "shop", result: { propensities: [1, 0.4] } },
    { kind: "train", title: "uncorrected", result: {} },
    { kind: "propensity", title: "June", result: { method: "harvesting", propensities: [1, 0.6], lower: [1, 0.5] } },
    { kind: "propensity", title: "May", result: { method: "harvesting", propensities: [1, 0.7] } },
    { kind: "simulate-clicks", title: "simulated", result: { truth: { propensities: [1, 0.3] } } },
    { kind: "judge", title: "queued", result: null },
  ];
  assert.deepEqual(
    propensityLines(jobs).map(({ name, kind, points }) => [name, kind, points[1].y, points[1].lower]),
    [
      ["dual (web)", "dots", 0.5, undefined],
      ["dual (shop)", "dots", 0.4, undefined],
      ["harvesting", "dots", 0.6, 0.5],
      ["true propensities (simulation)", "reference", 0.3, undefined],
    ],
  );
});

test("Groups of lists are not called users", () => {
  assert.equal(clustersLabel(1204, 1204), "1,204 lists");
  assert.equal(clustersLabel(40, 1204), "40 users");
  assert.equal(clustersLabel(20_000, 50_000), "20,000 groups of lists");
  assert.equal(intervalsLabel(8, 1204), "intervals by bootstrap over 8 users");
  assert.equal(intervalsLabel(7, 1204), "no intervals from 7 users, because they need at least 8");
});
