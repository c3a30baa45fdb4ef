import assert from "node:assert/strict";
import { test } from "node:test";
import { deletedLabel } from "../../app/dashboard/static/lifecycle/deletion.js";
import { countedKind } from "../../app/dashboard/static/lifecycle/scope.js";

test("one object has the singular of its kind", () => {
  assert.equal(countedKind("jobs", 1), "1 job");
  assert.equal(countedKind("models", 0), "0 models");
  assert.equal(countedKind("evaluations", 1204), "1,204 evaluations");
});

test("deleted objects are counted by kind and enumerated", () => {
  assert.equal(deletedLabel({ deleted: {} }), "Nothing");
  assert.equal(deletedLabel({ deleted: { jobs: 3 } }), "3 jobs");
  assert.equal(deletedLabel({ deleted: { jobs: 3, models: 1 } }), "3 jobs and 1 model");
  assert.equal(deletedLabel({ deleted: { jobs: 3, models: 5, rankings: 1 } }), "3 jobs, 5 models and 1 ranking");
});
