import assert from "node:assert/strict";
import { test } from "node:test";
import { changesLabel } from "../../app/dashboard/static/forms/option_groups.js";

test("a group of options shows the values that differ from the defaults", () => {
  assert.equal(changesLabel([]), "defaults");
  const changes = [
    { label: "Learning rate", value: "0.05" },
    { label: "L2 penalty", value: "3" },
    { label: "early stopping", value: "off" },
    { label: "labels are clicks", value: "" },
  ];
  assert.equal(
    changesLabel(changes),
    "4 changed: learning rate 0.05, L2 penalty 3, early stopping off, labels are clicks",
  );
});

test("a group with many changes shows only the first four and the number of others", () => {
  const many = [1, 2, 3, 4, 5, 6].map((value) => ({ label: "Seed", value: String(value) }));
  assert.equal(changesLabel(many), "6 changed: seed 1, seed 2, seed 3, seed 4, 2 more");
});
