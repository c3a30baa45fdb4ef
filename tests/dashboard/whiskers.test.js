import assert from "node:assert/strict";
import { test } from "node:test";
import { intervalLabel } from "../../app/dashboard/static/figures/whiskers.js";

test("an interval needs both of its ends", () => {
  assert.equal(intervalLabel({ mean: 0.8, lower: 0, upper: 0.84219 }), "0.0000 – 0.8422");
  assert.equal(intervalLabel({ mean: 0.8, lower: null, upper: 0.9 }), "");
  assert.equal(intervalLabel(undefined), "");
});
