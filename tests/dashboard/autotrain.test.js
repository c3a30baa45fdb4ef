import assert from "node:assert/strict";
import { test } from "node:test";
import * as labels from "../../app/dashboard/static/autotrain/labels.js";

const MEASURED = { status: "complete", weight: 0, interval: [0.3, 0.5], tied_with_best: false };

/** @param {object[]} items */
function board(items, more = {}) {
  return {
    metric: "ndcg@10",
    higher_is_better: true,
    conclusion: null,
    items: items.map((item, number) => ({ ...MEASURED, number, name: `c${number}`, ...item })),
    ...more,
  };
}

const CONCLUSION = {
  data: "held-out",
  value: 0.44,
  interval: [0.4, 0.48],
  members: [{ name: "c0" }, { name: "c1" }],
  baselines: [
    { name: "LightGBM's default trees", value: 0.41 },
    { name: "random order", value: 0.2 },
  ],
};
const numbers = (candidates) => candidates.map(({ number }) => number);

test("the best candidate is first, whichever direction the metric has", () => {
  const items = [{ value: 0.4 }, { value: 0.6 }, { value: 0.5 }];
  assert.deepEqual(numbers(labels.ranked(board(items))), [1, 2, 0]);
  assert.deepEqual(numbers(labels.ranked(board(items, { higher_is_better: false }))), [0, 2, 1]);
});

test("a candidate in training is after the measured ones, and other candidates are not ranked", () => {
  const items = ["running", "stopped", "queued", "complete", "out-of-time", "not-tried"].map((status) => ({
    status,
    value: status === "complete" ? 0.4 : status === "stopped" ? 0.9 : null,
  }));
  assert.deepEqual(numbers(labels.ranked(board(items))), [3, 0]);
  assert.deepEqual(numbers(labels.unranked(board(items))), [1, 4, 5]);
  assert.equal(labels.unrankedLabel(labels.unranked(board(items))), "1 stopped, 1 out of time, 1 not tried");
  assert.equal(labels.countLabel(board(items)), "1 candidate measured, 2 to go");
  assert.equal(labels.reasonLabel({ status: "not-tried", reason: "no time" }), "not tried: no time");
  assert.equal(labels.reasonLabel({ status: "stopped", reason: null }), "stopped");
});

test("a sum has a row only if it was measured on the same queries as the candidates", () => {
  const items = [
    { value: 0.45, weight: 0.5, size_bytes: 200 },
    { value: 0.43, weight: 0.5, size_bytes: 50 },
    { value: 0.42, size_bytes: null },
  ];
  const [first, sum] = labels.ranked(board(items, { conclusion: CONCLUSION }));
  assert.deepEqual([first.number, sum.number, sum.name], [0, labels.SUM, "sum of 2 candidates"]);
  assert.deepEqual([sum.value, sum.interval, sum.size_bytes], [0.44, [0.4, 0.48], 250]);
  const others = [
    { ...CONCLUSION, data: "test" },
    { ...CONCLUSION, members: [{ name: "c0" }] },
  ];
  for (const conclusion of others) assert.deepEqual(numbers(labels.ranked(board(items, { conclusion }))), [0, 1, 2]);
});

test("the label of a candidate shows a tie with the best one", () => {
  const [best, tied, worse] = board([{ tied_with_best: true }, { tied_with_best: true }, {}]).items;
  assert.deepEqual(
    [best, tied, worse].map((each) => labels.positionLabel(each, best)),
    ["best value", "tied with the best", ""],
  );
  assert.equal(labels.positionLabel({ ...worse, status: "running" }, best), "in training");
});

test("lines are drawn for baselines on the same queries, except for random order", () => {
  const lines = labels.baselineLines(CONCLUSION);
  assert.deepEqual(lines.map(labels.lineLabel), ["LightGBM's default trees 0.4100"]);
  assert.deepEqual(labels.baselineLines({ ...CONCLUSION, data: "test" }), []);
  assert.deepEqual(labels.baselineLines({ data: "test", baselines: [], held_out: CONCLUSION }), lines);
  assert.deepEqual(labels.baselineLines(null), []);
});

test("the description of a candidate has all of its settings", () => {
  const trees = { loss: { name: "lambdarank" }, scorer: null, hyperparameters: { num_leaves: 31 } };
  assert.equal(labels.settingsLabel(trees), "loss lambdarank, num leaves 31");
  assert.equal(labels.settingsLabel({ ...trees, hyperparameters: "auto" }), "loss lambdarank, hyperparameters auto");
  const linear = { loss: { name: "ranknet" }, scorer: { kind: "linear", learning_rate: 0.01 }, hyperparameters: null };
  assert.equal(labels.settingsLabel(linear), "loss ranknet, scorer linear, scorer learning rate 0.01");
});

test("the number of planned folds is shown while some of them remain", () => {
  assert.equal(labels.foldsLabel({ folds: 4, planned_folds: 10 }), "4 of 10");
  assert.equal(labels.foldsLabel({ folds: 10, planned_folds: 10 }), "10");
  assert.equal(labels.foldsLabel({ folds: 0, planned_folds: 10 }), "–");
});

test("the time of a search is listed by phase", () => {
  const seconds = { trials: 240, "final trainings": 20 };
  assert.equal(labels.timesLabel({ seconds }, String), "Time: trials 240, final trainings 20.");
  assert.equal(labels.timesLabel({ seconds: {} }, String), "");
});
