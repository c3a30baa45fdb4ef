import assert from "node:assert/strict";
import { test } from "node:test";
import { setAt } from "../../app/dashboard/static/forms/forms.js";
import { tagsOf } from "../../app/dashboard/static/forms/labels.js";

test("a value is set at its pointer, and existing values are kept", () => {
  const payload = { loss: { name: "lambdarank" } };
  setAt(payload, "/loss/sigma", 2);
  setAt(payload, "/limits/seconds", 0);
  setAt(payload, "/seed", 7);
  assert.deepEqual(payload, { loss: { name: "lambdarank", sigma: 2 }, limits: { seconds: 0 }, seed: 7 });
});

test("each line has one tag, and blanks around it are ignored", () => {
  assert.deepEqual(tagsOf(" team :  search \n\n  reviewed \r\n"), { team: "search", reviewed: "" });
  assert.deepEqual(tagsOf(" \n"), {});
});

test("the value of a tag may hold a colon, and of two tags with the same name the last is kept", () => {
  assert.deepEqual(tagsOf("at: 12:30"), { at: "12:30" });
  assert.deepEqual(tagsOf("team: a\nteam: b"), { team: "b" });
});
