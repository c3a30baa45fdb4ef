import assert from "node:assert/strict";
import { test } from "node:test";
import * as labels from "../../app/dashboard/static/studies/labels.js";

test("parameters have the names of the form", () => {
  assert.equal(labels.parameterName("/loss"), "Loss");
  assert.equal(labels.parameterName("/loss/truncation_level"), "Loss: truncation level");
  assert.equal(labels.parameterName("/hyperparameters/num_leaves"), "Leaves per tree");
  assert.equal(labels.parameterName("/hyperparameters/of_tomorrow"), "of tomorrow");
});

test("values are short, and a whole loss is its name", () => {
  assert.equal(labels.valueLabel(0.123456), "0.1235");
  assert.equal(labels.valueLabel("gbdt"), "gbdt");
  assert.equal(labels.valueLabel({ name: "lambdarank" }), "lambdarank");
  assert.equal(labels.valueLabel({ name: "ndcg-loss2++", mu: 5 }), "ndcg-loss2++ (mu 5)");
  assert.equal(labels.valueLabel({ name: "ranknet", a: 1, b: 2, c: 3, d: 4, e: 5 }), "ranknet");
});

test("the better of two values depends on the metric", () => {
  assert.equal(labels.isBetterFor({ higher_is_better: true })(0.5, 0.4), true);
  assert.equal(labels.isBetterFor({ higher_is_better: false })(0.5, 0.4), false);
});

test("the validation of the trials has a label", () => {
  const words = (validation) => labels.validationLabel({ objective: { validation } });
  assert.equal(words({ folds: 5 }), "5-fold cross-validation");
  assert.equal(words({ fold_column: "market" }), "cross-validation by market");
  assert.equal(words({ dataset_id: "ds_1" }), "another dataset");
  assert.equal(words({ folds: 5, fold: 2 }), "held-out queries");
  assert.equal(words(undefined), "held-out queries");
});

test("the size of a study counts the folds of each trial and the trainings of the conclusion", () => {
  assert.equal(
    labels.sizeLabel(50, 2, 5),
    "50 trials over 2 parameters: at most 250 trainings, fewer where trials are pruned, and 1 or 2 for the conclusion.",
  );
  assert.match(labels.sizeLabel(50, 2, null), /: a training for each trial and fold, fewer/);
});

test("trials without a value are not finished", () => {
  const trials = [
    { status: "succeeded", value: 0 },
    { status: "succeeded", value: null },
    { status: "pruned", value: 0.1 },
  ];
  assert.deepEqual(labels.finished(trials), [trials[0]]);
  assert.equal(labels.bestLabel({ number: 9, value: 0.47114 }), "0.4711 (trial 9)");
  assert.equal(labels.bestLabel(null), "–");
});

test("choices of numbers have a numeric axis", () => {
  assert.equal(labels.isNumeric({ type: "float", low: 0, high: 1 }), true);
  assert.equal(labels.isNumeric({ type: "choice", choices: [7, 15] }), true);
  assert.equal(labels.isNumeric({ type: "choice", choices: ["gbdt", 7] }), false);
});
