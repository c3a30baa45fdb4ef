import assert from "node:assert/strict";
import { test } from "node:test";
import { loadInto } from "../../app/dashboard/static/page/content.js";

globalThis.Node = class {};
globalThis.document.createElement = () =>
  Object.assign(new globalThis.Node(), {
    append() {},
    getAttribute: () => null,
    setAttribute() {},
    addEventListener() {},
  });

/** Return an element that keeps its children. */
function placeOf() {
  return {
    children: [],
    replaceChildren(...children) {
      this.children = children;
    },
    setAttribute() {},
    removeAttribute() {},
  };
}

test("of two pending reads into a place, only the last one is shown", async () => {
  const place = placeOf();
  const [first, second] = [Promise.withResolvers(), Promise.withResolvers()];
  const both = [loadInto(place, () => first.promise), loadInto(place, () => second.promise)];
  second.resolve(["second"]);
  await both[1];
  first.resolve(["first"]);
  await both[0];
  assert.deepEqual(place.children, ["second"]);
});

test("an earlier read that fails does not hide the last one", async () => {
  const place = placeOf();
  const first = Promise.withResolvers();
  const both = [loadInto(place, () => first.promise), loadInto(place, async () => ["second"])];
  await both[1];
  first.reject(new Error("away"));
  await both[0];
  assert.deepEqual(place.children, ["second"]);
});
