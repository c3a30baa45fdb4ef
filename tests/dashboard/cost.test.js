import assert from "node:assert/strict";
import { test } from "node:test";
import * as cost from "../../app/dashboard/static/forms/cost.js";

const plan = { scorer: "trees", documents: 4000, features: 10, iterations: 200, runs: 1 };
const small = {
  id: "job_1",
  title: "web:1",
  scorer: "trees",
  documents: 1000,
  features: 10,
  iterations: 100,
  runs: 1,
  seconds: 6,
  bytes: 50e6,
};

test("time grows with cells and iterations, memory with cells but never below the measured memory", () => {
  assert.deepEqual(cost.scaled(plan, small), { seconds: 6 * 4 * 2, bytes: 200e6, isRough: false });
  const less = cost.scaled({ ...plan, documents: 100 }, small);
  assert.equal(less.bytes, 50e6);
  assert.equal(cost.scaled({ ...plan, iterations: null, documents: 1000, runs: 5 }, small).seconds, 30);
  assert.equal(cost.scaled({ ...plan, documents: 11_000 }, small).isRough, true);
});

test("the nearest training has the same kind of scorer; of equally near ones the newest is chosen", () => {
  const network = { ...small, id: "job_2", scorer: "mlp", documents: 4000 };
  const larger = { ...small, id: "job_3", documents: 5000 };
  assert.equal(cost.nearest(plan, [network, small, larger, { ...larger, id: "job_4" }])?.id, "job_3");
  assert.equal(cost.nearest({ ...plan, scorer: "linear" }, [network, small]), null);
});

test("the cost label names the measured training, or states that the cost is unknown", () => {
  assert.equal(
    cost.costLabel(plan, small, 2),
    "About 1 min 36 s and 200 MB of memory each for 2 trainings: web:1 with 1,000 documents and 100 iterations took 6 s.",
  );
  assert.match(cost.costLabel(plan, null, 1), /unknown/);
  const network = { ...small, scorer: "mlp", iterations: 1 };
  assert.match(cost.costLabel({ ...plan, scorer: "mlp" }, network, 1), / and 1 epoch took /);
  assert.match(cost.budgetLabel("1.5"), /^About 1 min 30 s of search/);
  assert.equal(cost.budgetLabel("none"), "");
});

test("only finished trainings of known size are measured", () => {
  const job = {
    id: "job_1",
    title: "web:1",
    spec: { dataset_id: "ds_1" },
    progress: { iteration: 100 },
    started_at: "2026-01-05T10:00:00Z",
    finished_at: "2026-01-05T10:00:30Z",
  };
  const size = { documents: 1000, features: 10 };
  const measured = cost.measuredOf(job, size);
  assert.equal(measured?.seconds, 30);
  assert.equal(measured?.runs, 1);
  assert.equal(measured?.scorer, "trees");
  assert.equal(cost.measuredOf(job, undefined), null);
  assert.equal(cost.measuredOf({ ...job, progress: null }, size), null);
  assert.equal(cost.measuredOf({ ...job, spec: { ...job.spec, scorer: { kind: "sum" } } }, size), null);
});

test("each value of a fold column counts as a run, unless the statistics may omit values", () => {
  const columns = { market: ["de", "fr", "uk"], day: Array.from({ length: 20 }, (_, day) => `${day}`) };
  assert.equal(cost.runsOf({ folds: 5 }), 5);
  assert.equal(cost.runsOf({ folds: 5, fold: 2 }), 1);
  assert.equal(cost.runsOf({ fold_column: "market" }, columns), 3);
  assert.equal(cost.runsOf({ fold_column: "day" }, columns), null);
  assert.equal(cost.runsOf({ fold_column: "market" }, null), null);
});

test("a measured cross-validation has the iterations of one training, and an equal plan takes as long", () => {
  const size = { documents: 1000, features: 10 };
  const times = { started_at: "2026-01-05T10:00:00Z", finished_at: "2026-01-05T10:00:30Z" };
  const job = { id: "job_1", title: "web:1", progress: { iteration: 3 * 20 + 20 }, ...times };
  for (const validation of [{ folds: 3 }, { fold_column: "market" }]) {
    const spec = { validation, hyperparameters: { num_iterations: 20 } };
    const measured = cost.measuredOf({ ...job, spec }, size);
    assert.equal(measured?.iterations, 20);
    assert.equal(cost.scaled({ scorer: "trees", ...size, iterations: 20, runs: 3 }, measured).seconds, 30);
  }
  const one = cost.measuredOf({ ...job, spec: { validation: { folds: 3, fold: 2 } } }, size);
  assert.deepEqual([one?.iterations, one?.runs], [80, 1]);
});
