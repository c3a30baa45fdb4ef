import assert from "node:assert/strict";
import { test } from "node:test";
import {
  differingSettings,
  lacksSettings,
  trainingLabels,
  withoutPrefix,
} from "../../app/dashboard/static/jobs/compared_table.js";

const CATALOGUE = {
  losses: [{ name: "lambdarank", parameters: [{ name: "sigma", default: 1 }] }],
  scorers: [],
  schemas: { Hyperparameters: { properties: { num_leaves: { default: 31 } } } },
};
const NAMES = { ds_1: "May", ds_2: "June" };
const job = (id, spec) => ({ id, spec: { model_name: "web", ...spec }, dataset_names: NAMES });
const settingsOf = (...specs) =>
  differingSettings(
    specs.map((spec, index) => job(`job_${index}`, spec)),
    CATALOGUE,
  ).map(({ name, values }) => [name, ...values.values()]);
const shortened = (...all) => [...withoutPrefix(new Map(all.map((name, index) => [`job_${index}`, name]))).values()];

test("settings that are the same in all trainings are left out", () => {
  assert.deepEqual(
    settingsOf({ seed: 1, hyperparameters: { num_leaves: 7 } }, { seed: 1, hyperparameters: { num_leaves: 15 } }),
    [["num_leaves", 7, 15]],
  );
});

test("a default value is equal to an omitted one", () => {
  assert.deepEqual(settingsOf({ hyperparameters: { num_leaves: 31 } }, {}), []);
  assert.deepEqual(settingsOf({ hyperparameters: { num_leaves: 15 } }, {}), [["num_leaves", 15, undefined]]);
});

test("the schemas are needed only where a training lacks a setting", () => {
  const leaves = { hyperparameters: { num_leaves: 15 }, loss: { name: "lambdarank", sigma: 1 } };
  assert.equal(lacksSettings([job("job_1", leaves), job("job_2", { ...leaves, loss: { name: "mse" } })]), false);
  assert.equal(lacksSettings([job("job_1", leaves), job("job_2", { loss: { name: "mse" } })]), true);
});

test("a default parameter of one loss is no difference from a loss without this parameter", () => {
  const differing = settingsOf({ loss: { name: "lambdarank", sigma: 1 } }, { loss: { name: "xe-ndcg" } });
  assert.deepEqual(differing, [["loss name", "lambdarank", "xe-ndcg"]]);
});

test("names, tags, limits and priorities change no result", () => {
  const spec = { model_name: "shop", priority: "high", tags: { team: "a" }, limits: { seconds: 9 } };
  assert.deepEqual(settingsOf({}, spec), []);
});

test("a specification without a scorer has the scorer kind trees", () => {
  assert.deepEqual(settingsOf({}, { scorer: { kind: "mlp" } }), [["scorer kind", "trees", "mlp"]]);
});

test("different seeds of a training or of its parts are no difference", () => {
  const spec = (seed) => ({ seed, loss: { name: "lambdarank", seed }, hyperparameters: { bagging_seed: seed } });
  assert.deepEqual(settingsOf(spec(1), spec(2)), []);
});

test("trainings on different data are labelled by the names of the datasets", () => {
  const two = ["ds_1", "ds_2"].map((dataset, index) => job(`job_${index}`, { dataset_id: dataset }));
  const labels = trainingLabels(two, differingSettings(two, CATALOGUE));
  assert.deepEqual([...labels.values()], ["web: May", "web: June"]);
});

test("a name given by hand has precedence; trainings that differ only by seed are labelled by seed", () => {
  const three = [
    job("job_1", { seed: 1 }),
    { ...job("job_2", { seed: 2 }), name: "by hand" },
    job("job_3", { seed: 3 }),
  ];
  const called = trainingLabels(three, differingSettings(three, CATALOGUE));
  assert.deepEqual(Object.fromEntries(called), { job_1: "web, seed 1", job_2: "by hand", job_3: "web, seed 3" });
});

test("models of one name are labelled by their settings, others by their names", () => {
  const alike = [7, 15].map((leaves, index) => job(`job_${index}`, { hyperparameters: { num_leaves: leaves } }));
  assert.deepEqual([...trainingLabels(alike, differingSettings(alike, CATALOGUE)).values()], ["web: 7", "web: 15"]);
  const others = [job("job_1", {}), job("job_2", { model_name: "shop" })];
  assert.deepEqual([...trainingLabels(others, []).values()], ["web", "shop"]);
});

test("labels have further settings where three are not enough", () => {
  const grid = [4, 8].flatMap((leaves) =>
    [1, 2].map((loss) =>
      job(`job_${leaves}_${loss}`, {
        hyperparameters: { bagging_freq: loss, learning_rate: loss / 10, max_bin: 60 * loss, num_leaves: leaves },
      }),
    ),
  );
  const labels = [...trainingLabels(grid, differingSettings(grid, CATALOGUE)).values()];
  assert.deepEqual(labels, ["web: 1, 0.1, 60, 4", "web: 2, 0.2, 120, 4", "web: 1, 0.1, 60, 8", "web: 2, 0.2, 120, 8"]);
});

test("trainings that differ in nothing are numbered", () => {
  const same = [job("job_1", {}), job("job_2", {}), job("job_3", {})];
  assert.deepEqual([...trainingLabels(same, []).values()], ["web", "web (2)", "web (3)"]);
});

test("names lose their common first words, but never a part of a word", () => {
  assert.deepEqual(shortened("shop: 0.05, 31", "shop: 0.1, 31"), ["0.05, 31", "0.1, 31"]);
  assert.deepEqual(shortened("shop", "shopping"), ["shop", "shopping"]);
  assert.deepEqual(shortened("web-small", "web-large"), ["small", "large"]);
});

test("a name that is only the common prefix, or the only name, is not shortened", () => {
  assert.deepEqual(shortened("web: ", "web: a"), ["web: ", "a"]);
  assert.deepEqual(shortened("web: a"), ["web: a"]);
});

test("a shortened name keeps the word before the seed", () => {
  assert.deepEqual(shortened("web, seed 1", "web, seed 2"), ["seed 1", "seed 2"]);
});

test("numbers keep their signs and exponents", () => {
  assert.deepEqual(shortened("shop: 1e-7", "shop: 1e-8"), ["1e-7", "1e-8"]);
  assert.deepEqual(shortened("shop: -1, 7", "shop: -2, 7"), ["-1, 7", "-2, 7"]);
});
