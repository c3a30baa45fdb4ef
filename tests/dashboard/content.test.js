import assert from "node:assert/strict";
import { test } from "node:test";
import { Problem, Unavailable } from "../../app/dashboard/static/page/api.js";
import { failureBox, loadInto } from "../../app/dashboard/static/page/content.js";

globalThis.Node = class {};
globalThis.document.createElement = () =>
  Object.assign(new globalThis.Node(), {
    children: [],
    append(...children) {
      this.children.push(...children);
    },
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

test("a request can be tried again unless the key's scopes refuse it", () => {
  const texts = (error) => JSON.stringify(failureBox(error, () => {}));
  assert.match(texts(new Unavailable("The API does not answer.")), /Try again/);
  assert.match(texts(new Problem(404, { title: "Not found" })), /Try again/);
  assert.doesNotMatch(texts(new Problem(403, { title: "Not allowed" })), /Try again/);
});
