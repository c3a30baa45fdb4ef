import assert from "node:assert/strict";
import { test } from "node:test";
import { namesOf, namesText, setAt, tagsOf } from "../../app/dashboard/static/forms/forms.js";
import { changedLabels, overwritten } from "../../app/dashboard/static/forms/labels.js";

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

test("names are separated by commas, and a name with a comma is in quotes", () => {
  const names = ["trees by lambdarank", "linear by listnet, log1p", 'a 5" screen', "price"];
  assert.equal(namesText(names), 'trees by lambdarank, "linear by listnet, log1p", "a 5"" screen", price');
  assert.deepEqual(namesOf(namesText(names)), names);
  assert.deepEqual(namesOf(' bm25,, 5" screen , "price, EUR"'), ["bm25", '5" screen', "price, EUR"]);
  assert.deepEqual(namesOf(" , "), []);
});

const LOADED = { name: null, notes: "first", tags: { team: "search", draft: "" }, project: "web" };

test("only changed labels are sent, and a removed tag is null", () => {
  assert.deepEqual(changedLabels(LOADED, { ...LOADED }), {});
  assert.deepEqual(changedLabels(LOADED, { name: "a", notes: "first", tags: { team: "ads" }, project: null }), {
    name: "a",
    project: null,
    tags: { team: "ads", draft: null },
  });
});

test("labels that someone else has changed meanwhile are listed, unless the changes are equal", () => {
  const theirs = { ...LOADED, notes: "theirs", tags: { team: "ads", draft: "" } };
  assert.deepEqual(overwritten(LOADED, { ...LOADED, notes: "mine" }, theirs), [["notes", "theirs"]]);
  assert.deepEqual(overwritten(LOADED, { ...LOADED, tags: { draft: "" } }, theirs), [["team", "ads"]]);
  assert.deepEqual(overwritten(LOADED, { ...LOADED, notes: "theirs", name: "mine" }, theirs), []);
  assert.deepEqual(overwritten(LOADED, { ...LOADED, notes: "mine" }, { ...LOADED, notes: null }), [["notes", null]]);
});
