import assert from "node:assert/strict";
import { test } from "node:test";
import { opposite, signed } from "../../app/dashboard/static/evaluation/verdict.js";
import { pValue } from "../../app/dashboard/static/page/format.js";

test("a difference has its sign, and ± where it rounds to zero", () => {
  assert.equal(signed(0.01234), "+0.0123");
  assert.equal(signed(-0.01234), "−0.0123");
  assert.equal(signed(0), "±0.0000");
  assert.equal(signed(-0.00004), "±0.0000");
  assert.equal(signed(-0.00006), "−0.0001");
  assert.equal(signed(1.5, 0), "+2");
  assert.equal(signed(null), "–");
});

test("a p-value is never zero", () => {
  assert.equal(pValue(0), "< 0.0001");
  assert.equal(pValue(0.0001), "0.0001");
  assert.equal(pValue(0.03021), "0.0302");
  assert.equal(pValue(1), "1.0000");
  assert.equal(pValue(undefined), "–");
});

test("the verdict is reversed with the order of the systems", () => {
  assert.equal(opposite("better"), "worse");
  assert.equal(opposite("worse"), "better");
  assert.equal(opposite("no evidence"), "no evidence");
});
