import assert from "node:assert/strict";
import { test } from "node:test";
import { pythonLiteral } from "../../app/dashboard/static/page/content.js";

test("constants have their names in Python", () => {
  assert.equal(pythonLiteral([null, true, false, -0.5]), "[None, True, False, -0.5]");
});

test("texts are quoted, and their special characters are escaped", () => {
  assert.equal(pythonLiteral('a "b" \\ ü\n'), '"a \\"b\\" \\\\ ü\\n"');
  assert.equal(pythonLiteral("None"), '"None"');
});

test("objects are indented by their depth", () => {
  assert.equal(
    pythonLiteral({ loss: { name: "lambdarank" }, tags: {} }),
    '{\n    "loss": {\n        "name": "lambdarank",\n    },\n    "tags": {},\n}',
  );
});
