import assert from "node:assert/strict";
import { test } from "node:test";
import { intervalLabel, linearScale } from "../../app/dashboard/static/figures/whiskers.js";

test("the ends of a scale are round and hold all values", () => {
  const { low, high, ticks, format } = linearScale([0.413, 0.487]);
  assert.ok(low <= 0.413 && high >= 0.487);
  assert.deepEqual(ticks.map(format), ["0.40", "0.42", "0.44", "0.46", "0.48", "0.50"]);
});

test("a value is placed between the ends", () => {
  const { low, high, share } = linearScale([0, 10]);
  assert.deepEqual([low, high], [0, 10]);
  assert.deepEqual([share(0), share(2.5), share(10)], [0, 0.25, 1]);
});

test("the tick at zero has no minus", () => {
  assert.deepEqual(linearScale([-1, 1], 4).ticks.map(linearScale([-1, 1], 4).format), [
    "−1.0",
    "−0.5",
    "0.0",
    "0.5",
    "1.0",
  ]);
});

test("one value alone, zero and no value still have a scale with width", () => {
  for (const values of [[0.5], [-0.5, -0.5], [0], [], [null, undefined]]) {
    const { low, high, ticks } = linearScale(values);
    assert.ok(high > low, JSON.stringify(values));
    assert.ok(ticks.length > 1 && ticks.every(Number.isFinite), JSON.stringify(values));
  }
});

test("an interval needs both of its ends", () => {
  assert.equal(intervalLabel({ mean: 0.8, lower: 0, upper: 0.84219 }), "0.0000 – 0.8422");
  assert.equal(intervalLabel({ mean: 0.8, lower: null, upper: 0.9 }), "");
  assert.equal(intervalLabel(undefined), "");
});
