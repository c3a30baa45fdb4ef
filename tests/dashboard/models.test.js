import assert from "node:assert/strict";
import { test } from "node:test";
import { membersOf, kindName, parameterCount } from "../../app/dashboard/static/models/network.js";
import { Problem } from "../../app/dashboard/static/page/api.js";
import {
  candidateOf,
  candidatesOf,
  categoriesIn,
  rankRequest,
  removeRefusedTexts,
  valueOfField,
} from "../../app/dashboard/static/models/scored.js";

const network = (scorer) => parameterCount({ scorer, feature_names: Array(10).fill("f") });

test("weights, biases and norms are counted", () => {
  assert.equal(network({}), "11");
  assert.equal(network({ hidden: [4, 2] }), "57");
  assert.equal(network({ hidden: [4, 2], layer_norm: true }), "69");
  assert.equal(network({ hidden: [4, 2], missing_indicators: true }), "at least 57");
  assert.equal(network({ hidden: [1000] }), "12,001");
});

test("an unknown kind of scorer is shown unchanged", () => {
  assert.equal(kindName("mlp"), "network");
  assert.equal(kindName("of_tomorrow"), "of_tomorrow");
});

test("texts that the model refuses count as missing", () => {
  const candidates = [
    { id: "d1", label: null, features: { brand: "acme", "a/b": "x", age: 1 } },
    { id: "d2", label: null, features: { brand: "best", "a/b": null, age: 2 } },
  ];
  const detail = "must be a number; the feature is not categorical";
  const refused = (pointer) => new Problem(422, { errors: [{ pointer, detail }] });
  assert.deepEqual(removeRefusedTexts(candidates, refused("/queries/0/documents/0/features/a~1b")), ["a/b"]);
  assert.deepEqual(
    candidates.map(({ features }) => features),
    [
      { brand: "acme", "a/b": null, age: 1 },
      { brand: "best", "a/b": null, age: 2 },
    ],
  );
  assert.deepEqual(removeRefusedTexts(candidates, refused("/queries/0/documents/0/features/age")), []);
  assert.deepEqual(removeRefusedTexts(candidates, new Error("lost")), []);
});

test("a request has only features of the model, with zeros and without missing values", () => {
  const features = { a: 0, b: null, c: 3, d: 4 };
  const { queries } = rankRequest({ feature_names: ["a", "b", "c"] }, "q1", [{ id: "d1", label: 2, features }]);
  assert.deepEqual(queries, [{ id: "q1", documents: [{ id: "d1", features: { a: 0, c: 3 } }] }]);
});

test("infinities are sent as the largest numbers that JSON can carry to the model", () => {
  const candidate = { id: "d1", label: null, features: { a: Infinity, b: -Infinity } };
  const [{ documents }] = rankRequest({ feature_names: ["a", "b"] }, "q1", [candidate]).queries;
  assert.deepEqual(documents[0].features, { a: 3e38, b: -3e38 });
});

test("members of a sum have weights, and ids if they are models of the registry", () => {
  const scorer = { kind: "sum", models: ["web:3", "linear by ranknet"], weights: [0.5, 12] };
  const lineage = { members: [{ id: "mdl_1", model: "web:3" }] };
  assert.deepEqual(membersOf({ scorer, lineage }), [
    { name: "web:3", weight: 0.5, id: "mdl_1" },
    { name: "linear by ranknet", weight: 12, id: null },
  ]);
  assert.deepEqual(membersOf({ scorer: { kind: "sum" }, lineage: null }), []);
});

test("pasted documents keep categories and embeddings, and unknown features are refused", () => {
  /** @param {string} features */
  const pasted = (features) => `{"queries": [{"documents": [{"id": "d1", "features": ${features}}]}]}`;
  const names = ["bm25", "brand", "emb.0", "emb.1"];
  const candidates = candidatesOf(pasted('{"bm25": null, "brand": "acme", "emb": [0.5, null]}'), names);
  assert.deepEqual(candidates[0].features, { bm25: null, brand: "acme", "emb.0": 0.5, "emb.1": null });
  const { queries } = rankRequest({ feature_names: names }, "q1", candidates);
  assert.deepEqual(queries[0].documents[0].features, { brand: "acme", "emb.0": 0.5 });
  assert.deepEqual(candidatesOf(pasted("[1, 2]"), names)[0].features, {
    bm25: 1,
    brand: 2,
    "emb.0": null,
    "emb.1": null,
  });
  /** @param {string} features */
  const refusal = (features) => {
    try {
      candidatesOf(pasted(features), names);
    } catch (problem) {
      return problem.errors[0].detail;
    }
  };
  assert.equal(refusal('{"bm_25": 1}'), "document d1: bm_25 is not a feature of the model");
  assert.match(refusal('{"bm25": NaN}'), /write null for a missing value$/);
});

test("a category that was cleared can be entered again", () => {
  const candidate = (features) => ({ id: "d1", label: null, features });
  const categories = categoriesIn([candidate({ bm25: 1, brand: null }), candidate({ bm25: 2, brand: "acme" })]);
  assert.deepEqual([...categories], ["brand"]);
  assert.equal(valueOfField(" acme ", true), "acme");
  assert.equal(valueOfField(" ", true), null);
  assert.equal(valueOfField("1.5", false), 1.5);
  assert.equal(valueOfField("acme", false), NaN);
});

test("a document of a dataset is a candidate with the texts of its categories", () => {
  const document = { document_id: "d1", label: 1, columns: {}, features: [1, 1, null, "Infinity"] };
  const query = { feature_names: ["brand", "bm25", "shop", "age"], categories: { brand: { 1: "acme" }, shop: {} } };
  assert.deepEqual(candidateOf(document, query).features, { brand: "acme", bm25: 1, shop: null, age: Infinity });
  assert.equal(candidateOf(document, { feature_names: ["brand"] }).features.brand, 1);
});
