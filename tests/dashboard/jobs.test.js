import assert from "node:assert/strict";
import { test } from "node:test";
import { meanTimes } from "../../app/dashboard/static/jobs/detail.js";
import * as labels from "../../app/dashboard/static/jobs/labels.js";

const TRAINING = { kind: "train", status: "running", attempt: 1, spec: {} };

test("the progress of a running training has phase, steps and remaining time", () => {
  const progress = { phase: "training", iteration: 120, total: 1500, eta_seconds: 14 };
  assert.equal(labels.progressLabel({ ...TRAINING, progress }), "training · 120 of 1,500 · 14 s left");
  assert.equal(labels.progressLabel({ ...TRAINING, progress: null }), "starting");
});

test("the progress has no steps while a training stores its model", () => {
  const progress = { phase: "storing", iteration: 1500, total: 1500 };
  assert.equal(labels.progressLabel({ ...TRAINING, progress }), "storing");
});

test("the progress of a phase without iterations is a percentage", () => {
  const progress = { phase: "binning", iteration: 1, total: 3 };
  assert.equal(labels.progressLabel({ ...TRAINING, progress }), "binning · 33%");
});

test("a network counts epochs and batches", () => {
  const spec = { scorer: { kind: "mlp" } };
  const progress = { phase: "training", iteration: 3, total: 50, batch: 12, batches: 80 };
  assert.equal(
    labels.progressLabel({ ...TRAINING, spec, progress }),
    "training · 3 of 50 epochs, 12 of 80 batches of the next",
  );
  assert.equal(labels.iterationWord({ spec }), "epoch");
  assert.equal(labels.iterationWord({}), "iteration");
  assert.equal(labels.iterationsHeading({ spec }), "Epochs");
  assert.equal(labels.iterationsHeading({}), "Trees");
});

test("the label of a waiting job has the reason", () => {
  const job = { ...TRAINING, status: "queued", attempt: 0 };
  assert.equal(labels.progressLabel(job), "waiting for a worker");
  assert.equal(labels.progressLabel({ ...job, attempt: 1 }), "waiting to restart");
  assert.equal(labels.progressLabel({ ...job, resumable_from: 1200 }), "waiting to resume from iteration 1,200");
});

test("a finished training has its last iteration and the time of all attempts", () => {
  const job = {
    ...TRAINING,
    status: "succeeded",
    progress: { iteration: 112, total: 500 },
    started_at: "2026-01-01T00:01:00Z",
    finished_at: "2026-01-01T00:01:41Z",
  };
  assert.equal(labels.outcomeLabel(job), "stopped early at 112 of 500 iterations · took 41 s");
  const attempts = [{ started_at: "2026-01-01T00:00:00Z" }, { started_at: job.started_at }];
  assert.match(labels.outcomeLabel({ ...job, attempts }), /took 1 min 41 s over 2 attempts$/);
  assert.match(labels.outcomeLabel({ ...job, status: "cancelled" }), /^112 of 500 iterations/);
  assert.equal(labels.outcomeLabel({ ...job, progress: null, started_at: null }), "did not start");
});

test("a refused promotion is not failed, and a job to be cancelled is cancelling until it ends", () => {
  assert.equal(labels.statusWord({ ...TRAINING, kind: "promote", status: "refused" }), "refused");
  assert.equal(labels.statusWord({ ...TRAINING, cancel_requested: true }), "cancelling");
  assert.equal(labels.statusWord({ ...TRAINING, status: "cancelled", cancel_requested: true }), "cancelled");
});

test("marks show an unusual priority, several attempts, and a resumption", () => {
  assert.deepEqual(labels.marks({ ...TRAINING, priority: "normal" }), []);
  assert.deepEqual(labels.marks({ ...TRAINING, priority: "high", attempt: 2 }), ["high priority", "attempt 2"]);
  assert.deepEqual(labels.marks({ ...TRAINING, status: "failed", attempt: 3 }), ["3 attempts"]);
  assert.deepEqual(labels.marks({ ...TRAINING, attempts: [{}, { resumed_from: 7 }] }), ["resumed"]);
});

test("trainings resume from a checkpoint, also those that reproduce a model or are trials", () => {
  const resumable = ["train", "reproduce", "trial", "evaluate", "ingest"].filter((kind) =>
    labels.hasCheckpoints({ ...TRAINING, kind }),
  );
  assert.deepEqual(resumable, ["train", "reproduce", "trial"]);
});

test("limits are shown where there are any", () => {
  assert.equal(labels.limitLabel(TRAINING), "");
  const limits = { seconds: 3600, memory_bytes: 2e9 };
  assert.equal(labels.limitLabel({ ...TRAINING, spec: { limits } }), "at most 1 h and 2.0 GB");
  assert.equal(
    labels.limitLabel({ ...TRAINING, spec: { limits, budget_seconds: 300 } }),
    "budget 5 min · at most 1 h and 2.0 GB",
  );
});

test("a job links to its result", () => {
  const job = (result) => ({ ...TRAINING, spec: { model_id: "mdl_1" }, result });
  assert.equal(labels.resultLink(job(null)), null);
  assert.deepEqual(labels.resultLink(job({ evaluation_id: "evl_1", ranking_id: "rnk_1" })), {
    href: "/evaluations/evl_1",
    label: "Evaluation",
  });
  assert.match(labels.resultLink(job({ inspection_id: "ins_1" })).href, /^\/models\/mdl_1#.*inspection=ins_1$/);
});

test("the outcome of a reproduction names the differences", () => {
  const result = { equal: false, differences: [{ what: "lightgbm", then: "4.5", now: "4.6" }] };
  assert.equal(
    labels.outcomeDetail({ kind: "reproduce", result }),
    "The model file differs; lightgbm 4.5 then, 4.6 now.",
  );
  const changed = { equal: true, stored_sha256: "a", expected_sha256: "b" };
  assert.match(labels.outcomeDetail({ kind: "reproduce", result: changed }), /the stored model has changed since/);
  const repaired = { equal: false, sha256: "b", expected_sha256: "b", stored_sha256: null };
  assert.equal(
    labels.outcomeDetail({ kind: "reproduce", result: repaired }),
    "The missing or damaged model file was replaced.",
  );
});

test("the mean time of an iteration times their number is the total time", () => {
  // Every fifth iteration is diagnosed; a row has the means since the previous one.
  const iterations = Array.from({ length: 40 }, (_, index) => 5 * (index + 1));
  const tree = iterations.map((iteration) => (iteration === 5 ? 900 : 60));
  const diagnostics = iterations.map((_, index) => (index % 2 ? 800 / 5 : null));
  const found = meanTimes({ iterations, milliseconds: { tree, diagnostics } });
  assert.deepEqual([found.first, found.last], [6, 200]);
  const total = found.parts.reduce((sum, { time }) => sum + time, 0) * 195;
  assert.ok(Math.abs(total - (195 * 60 + 20 * 800)) < 1e-6);
});

test("rows without times are left out of the mean times", () => {
  const found = meanTimes({ iterations: [1, 2, 4], milliseconds: { tree: [null, 9, 3], network: [null, null, null] } });
  assert.deepEqual(found, { first: 3, last: 4, parts: [{ name: "tree", time: 3 }] });
  assert.equal(meanTimes({ iterations: [1], milliseconds: { tree: [null] } }), null);
  assert.equal(meanTimes({ iterations: [1], milliseconds: { tree: [5] } }).parts[0].time, 5);
});
