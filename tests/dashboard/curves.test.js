import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { curveNote, foldsOf, historiesReader, historyReader } from "../../app/dashboard/static/jobs/curves.js";

const requested = [];
let answers = [];

beforeEach(() => {
  requested.length = 0;
  answers = [];
  globalThis.fetch = async (path) => {
    requested.push(new URL(path, "https://example.org").search);
    return new Response(JSON.stringify(answers.shift()));
  };
});

const job = { attempt: 1, status: "running", spec: {} };
const history = (iterations, train) => ({
  best_iteration: iterations.at(-1) ?? null,
  iterations,
  curves: { train },
  milliseconds: {},
});

test("only new iterations are requested, and they are appended to the known ones", async () => {
  const read = historyReader("job_1");
  answers = [history([1, 2], { loss: [0.9, 0.8] }), history([3], { loss: [0.7] })];
  await read(job);
  const whole = await read(job);
  assert.deepEqual(requested, ["?after=0", "?after=2"]);
  assert.deepEqual(
    [whole.iterations, whole.curves.train.loss],
    [
      [1, 2, 3],
      [0.9, 0.8, 0.7],
    ],
  );
  assert.equal(whole.best_iteration, 3);
});

test("a curve that begins or ends between two answers has gaps", async () => {
  const read = historyReader("job_1");
  answers = [history([1], { loss: [0.9] }), history([2], { "ndcg@10": [0.4] })];
  await read(job);
  const { curves } = await read(job);
  assert.deepEqual(curves.train, { loss: [0.9, null], "ndcg@10": [null, 0.4] });
});

test("a response that overlaps known iterations is ignored", async () => {
  const read = historyReader("job_1");
  answers = [history([1, 2], { loss: [0.9, 0.8] }), history([2, 3], { loss: [0.8, 0.7] })];
  const first = await read(job);
  assert.equal(await read(job), first);
});

test("another attempt is read from its first iteration", async () => {
  const read = historyReader("job_1");
  answers = [history([1, 2], { loss: [0.9, 0.8] }), history([1], { loss: [0.6] })];
  await read(job);
  const again = await read({ ...job, attempt: 2 });
  assert.deepEqual(requested, ["?after=0", "?after=0"]);
  assert.deepEqual(again.curves.train.loss, [0.6]);
});

test("a cross-validation requests all iterations each time, a single fold only new ones", async () => {
  answers = Array(4).fill(history([1], { loss: [0.9] }));
  const read = historyReader("job_1");
  const whole = { ...job, spec: { validation: { folds: 5 } } };
  await read(whole);
  await read(whole);
  const readFold = historyReader("job_2");
  const fold = { ...job, spec: { validation: { folds: 5, fold: 2 } } };
  await readFold(fold);
  await readFold(fold);
  assert.deepEqual(requested, ["?after=0", "?after=0", "?after=0", "?after=1"]);
});

test("metrics that a job measured at its end are read with all iterations", async () => {
  const live = { loss: [0.9, 0.8] };
  const measured = { ...live, "ndcg@10": [0.4, 0.5] };
  answers = [history([1, 2], live), history([1, 2], measured)];
  const read = historyReader("job_1");
  await read(job);
  assert.deepEqual((await read({ ...job, status: "succeeded" })).curves.train, measured);
  const item = { job_id: "job_1", attempt: 1 };
  answers = [
    { items: [{ ...item, status: "running", ...history([1, 2], live) }] },
    { items: [{ ...item, status: "succeeded", ...history([], {}) }] },
    { items: [{ ...item, status: "succeeded", ...history([1, 2], measured) }] },
  ];
  const readAll = historiesReader();
  const jobs = [{ ...job, id: "job_1" }];
  await readAll(jobs);
  await readAll(jobs);
  const ended = [{ ...jobs[0], status: "succeeded" }];
  assert.deepEqual((await readAll(ended)).get("job_1").curves.train, measured);
  assert.deepEqual((await readAll(ended)).get("job_1").curves.train, measured, "without a request");
  assert.deepEqual(
    requested.slice(2),
    ["job_1", "job_1%3A2", "job_1"].map((id) => `?job=${id}&times=true`),
  );
});

test("folds are found by their names", () => {
  assert.deepEqual(foldsOf({ train: {}, "fold 1": {}, "Fold 2": {}, validation: {} }), ["fold 1", "Fold 2"]);
});

test("a note explains curves with one point or none", () => {
  assert.equal(curveNote(job, []), "Waiting for the first iteration.");
  assert.equal(curveNote({ ...job, status: "failed" }, []), "No iteration was recorded.");
  assert.equal(curveNote(job, [1000]), "Measured at iteration 1,000 only so far.");
  assert.equal(curveNote({ ...job, status: "succeeded" }, [50]), "Measured at iteration 50 only.");
  assert.equal(curveNote(job, [1, 2]), "");
});
