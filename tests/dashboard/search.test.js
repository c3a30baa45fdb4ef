import assert from "node:assert/strict";
import { test } from "node:test";
import { guideHits, matches } from "../../app/dashboard/static/page/guide.js";

test("a name matches if each word of the text begins one of its words", () => {
  assert.ok(matches("New training", "tr new"));
  assert.ok(matches("Weights (of clicks)", "of cl"));
  assert.ok(!matches("New training", "raining"));
  assert.ok(!matches("New training", "new study"));
});

test("the guide has at most five hits, which link to their headings", () => {
  const heading = { path: "how-to/clicks/#train-on-clicks", title: "Train on clicks", page: "Learn from clicks" };
  assert.deepEqual(guideHits([{ path: "faq/", title: "Questions", page: "" }, heading], "train"), [
    { name: "Train on clicks", detail: "Learn from clicks", href: "/guide/how-to/clicks/#train-on-clicks" },
  ]);
  assert.equal(guideHits(Array(9).fill(heading), "clicks").length, 5);
});
