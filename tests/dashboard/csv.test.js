import assert from "node:assert/strict";
import { test } from "node:test";
import { csvText } from "../../app/dashboard/static/tables/csv.js";

test("rows end as RFC 4180 says, and an absent value is empty", () => {
  assert.equal(
    csvText([
      ["a", "b"],
      [1, null],
    ]),
    "a,b\r\n1,\r\n",
  );
  assert.equal(csvText([]), "");
});

test("commas, quotes and line breaks are quoted", () => {
  assert.equal(csvText([["c,d", 'a "b"', "x\ny", "x\ry"]]), '"c,d","a ""b""","x\ny","x\ry"\r\n');
});

test("a text is no formula, and a number stays one", () => {
  assert.equal(csvText([["=1+1", "-x", "+cmd", "@sum", "\tx"]]), "'=1+1,'-x,'+cmd,'@sum,'\tx\r\n");
  assert.equal(csvText([[-0.5, "-0.5", "+1e3", true]]), "-0.5,-0.5,+1e3,true\r\n");
});
