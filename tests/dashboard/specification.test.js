import assert from "node:assert/strict";
import { test } from "node:test";
import { byDatasetNames, flatten, plainName, shown } from "../../app/dashboard/static/jobs/specification.js";

test("the name of a nested setting begins with its part, except for hyperparameters", () => {
  const spec = { loss: { name: "lambdarank", sigma: 1 }, hyperparameters: { num_leaves: 31 }, seed: 0 };
  assert.deepEqual(flatten(spec), [
    ["loss name", "lambdarank"],
    ["loss sigma", 1],
    ["num_leaves", 31],
    ["seed", 0],
  ]);
});

test("empty values are left out, and zero and false are kept", () => {
  assert.deepEqual(flatten({ a: null, b: "", c: [], d: {}, e: undefined }), []);
  assert.deepEqual(flatten({ a: 0, b: false }), [
    ["a", 0],
    ["b", false],
  ]);
});

test("a contract is one setting, shown by the name of its preset if it has one", () => {
  assert.deepEqual(flatten({ contract: { preset: "letor", gain: "exp2" } }), [["contract", "letor"]]);
  assert.deepEqual(flatten({ contract: { gain: "exp2" } }), [["contract", { gain: "exp2" }]]);
});

test("names of settings are words", () => {
  assert.equal(plainName("loss truncation_level"), "loss truncation level");
  assert.equal(plainName("validation dataset_id"), "validation dataset");
  assert.equal(plainName("distribution ranks"), "ranks");
  assert.equal(plainName("loss name"), "loss");
  assert.equal(plainName("scorer kind"), "scorer");
  assert.equal(plainName("model_name"), "model name");
});

test("limits have units, and lists are enumerated", () => {
  assert.equal(shown("limits seconds", 5400, {}), "1 h 30 min");
  assert.equal(shown("limits memory_bytes", 2e9, {}), "2.0 GB");
  assert.equal(shown("metrics", ["ndcg@10", "map"], {}), "ndcg@10, map");
  assert.equal(shown("interaction_constraints", [[0, 1], [2]], {}), "{0, 1} {2}");
  assert.equal(shown("systems", [{ system: "web:3" }, { system: "rnk_1" }], {}), "web:3, rnk_1");
  assert.equal(shown("rankers", [{ system: "web:3", model_id: "mdl_1" }, { system: "bm25" }], {}), "web:3, bm25");
  assert.equal(shown("choices", [{ name: "mse" }, 3], {}), '{"name":"mse"}, 3');
  assert.equal(shown("contract", { gain: "linear" }, {}), "gain y");
  assert.equal(shown("examination", [1, 2 / 3, 0.1 + 0.2], {}), "1, 0.666667, 0.3");
  assert.equal(shown("learning_rate", 0.1 + 0.2, {}), "0.3");
});

test("a schedule names the datasets of all parts", () => {
  const request = { dataset_id: "ds_1", test_dataset_id: "ds_2", validation: { dataset_id: "ds_3" }, metrics: ["map"] };
  assert.deepEqual(byDatasetNames(request, { ds_1: "clicks", ds_2: "judged" }), {
    dataset: "clicks",
    test_dataset: "judged",
    validation: { dataset: "ds_3" },
    metrics: ["map"],
  });
});
