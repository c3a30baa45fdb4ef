import assert from "node:assert/strict";
import { test } from "node:test";
import { recentVerdicts, failedSince, newest } from "../../app/dashboard/static/overview/parts.js";

const at = (second) => `2026-01-01T00:00:0${second}.5Z`;

test("failures are later than the dismissed ones, the latest first", () => {
  const jobs = [
    { id: "early", created_at: at(1), finished_at: at(2) },
    { id: "late", created_at: at(0), finished_at: at(5) },
    { id: "never begun", created_at: at(3), finished_at: null },
  ];
  const ids = (moment) => failedSince(jobs, moment).map(({ id }) => id);
  assert.deepEqual(ids(null), ["late", "never begun", "early"]);
  assert.deepEqual(ids(at(3)), ["late"]);
  assert.deepEqual(ids(at(5)), []);
  assert.deepEqual(ids("what another version kept"), ["late", "never begun", "early"]);
});

test("a failed upload is left out after its dataset was deleted", () => {
  const upload = { id: "job", kind: "ingest", created_at: at(1), finished_at: at(2), dataset_names: { ds_1: "web" } };
  assert.deepEqual(failedSince([upload], null), [upload]);
  assert.deepEqual(failedSince([{ ...upload, dataset_names: {} }], null), []);
  assert.equal(failedSince([{ ...upload, kind: "train", dataset_names: {} }], null).length, 1);
});

test("verdicts are comparisons and decided promotions, the latest first", () => {
  const comparisons = [{ id: "cmp_1", sentence: "b is better", verdict: "better", created_at: at(2) }];
  const promotion = { id: "job_1", title: "web", created_at: at(0), result: null, problem: null };
  const promotions = [
    { ...promotion, status: "refused", finished_at: at(3), problem: { detail: "b is worse" } },
    { ...promotion, status: "succeeded", finished_at: at(1), result: { sentence: "b is in use" } },
    { ...promotion, status: "running", finished_at: null },
  ];
  assert.deepEqual(
    recentVerdicts(comparisons, promotions).map(({ verdict, sentence }) => [verdict, sentence]),
    [
      ["refused", "b is worse"],
      ["better", "b is better"],
      ["promoted", "b is in use"],
    ],
  );
});

test("the newest version is shown beside an older champion", () => {
  const trend = { metric: "ndcg@10", versions: [1, 2, 4], values: [0.1, 0.2, 0.3] };
  assert.deepEqual(newest(trend, 2), { version: 4, value: 0.3 });
  assert.equal(newest(trend, 4), null);
  assert.equal(newest(null, 1), null);
});
