import assert from "node:assert/strict";
import { test } from "node:test";
import { cellsOf, csvText } from "../../app/dashboard/static/tables/csv.js";
import { intervalParts, tableRows } from "../../app/dashboard/static/tables/table.js";

test("rows end with CRLF as RFC 4180 requires, and an absent value is empty", () => {
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

test("texts that look like formulas are escaped, and numbers are not", () => {
  assert.equal(csvText([["=1+1", "-x", "+cmd", "@sum", "\tx"]]), "'=1+1,'-x,'+cmd,'@sum,'\tx\r\n");
  assert.equal(csvText([[-0.5, "-0.5", "+1e3", true]]), "-0.5,-0.5,+1e3,true\r\n");
});

/** Return a stub of a table cell with the members that `cellsOf` reads. */
const cell = (textContent, { number = false, dateTime, colSpan = 1 } = {}) => ({
  textContent,
  colSpan,
  matches: (selector) => selector === ".number" && number,
  querySelector: () => (dateTime ? { dateTime } : null),
});
const cells = (...all) => cellsOf({ cells: all });

test("numbers are written as programs read them, words as they are shown", () => {
  assert.deepEqual(cells(cell(" 1,204 ", { number: true }), cell("−0.5000", { number: true })), ["1204", "-0.5000"]);
  assert.deepEqual(cells(cell("1,204"), cell("–", { number: true }), cell("< 0.0001", { number: true })), [
    "1,204",
    "–",
    "< 0.0001",
  ]);
  assert.deepEqual(cells(cell("", { number: true })), [""]);
});

test("a cell of several values is written as several columns", () => {
  const parts = intervalParts("NDCG", ({ mean, ends }) => [mean, ...(ends ?? [])]);
  const columns = [
    { label: "System", value: ({ name }) => name },
    { label: "95% interval", value: ({ mean }) => mean, parts },
  ];
  const rows = [
    { name: "a", mean: 0.5, ends: [0.4, 0.6] },
    { name: "b", mean: 0.7, ends: null },
  ];
  assert.deepEqual(tableRows(columns, rows), [
    ["System", "NDCG", "NDCG, 95% lower", "NDCG, 95% upper"],
    ["a", 0.5, 0.4, 0.6],
    ["b", 0.7, null, null],
  ]);
});

test("a time is written exactly, and a wide cell keeps the columns after it in place", () => {
  assert.deepEqual(cells(cell("3 min ago", { dateTime: "2026-01-01T00:00:00Z" })), ["2026-01-01T00:00:00Z"]);
  assert.deepEqual(cells(cell("none", { colSpan: 3 }), cell("a")), ["none", "", "", "a"]);
});
