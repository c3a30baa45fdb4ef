import assert from "node:assert/strict";
import { test } from "node:test";
import * as guess from "../../app/dashboard/static/datasets/guess.js";
import * as preview from "../../app/dashboard/static/datasets/preview.js";
import { delimiterOf, recordsOf } from "../../app/dashboard/static/forms/text_file.js";

const USUAL = {
  label: ["label", "grade"],
  query: ["query_id", "query"],
  document: ["document_id", "url"],
  query_weight: ["weight"],
  document_weight: ["document_weight"],
  query_text: ["query_text"],
  document_title: ["title"],
  document_url: ["url"],
};

test("the delimiter is the most frequent one outside of quotes", () => {
  assert.equal(delimiterOf("a\tb,c\td"), "\t");
  assert.equal(delimiterOf('"a,b,c";d'), ";");
  assert.equal(delimiterOf('"a\n,,b";c\n1,2;3\n'), ";");
  assert.equal(delimiterOf("label"), null);
});

test("quoted cells may hold delimiters, quotes and line feeds; a record has the number of its first line", () => {
  const rows = recordsOf('a,b\r\n"x, ""y""\nz",1\n\n2,3\n', ",");
  assert.deepEqual(
    rows.map(({ line, cells }) => [line, cells]),
    [
      [1, ["a", "b"]],
      [2, ['x, "y"\nz', "1"]],
      [5, ["2", "3"]],
    ],
  );
});

test("the first name of a header may hold a line feed", () => {
  const { header, rows } = preview.previewOf('"query\nid",label\na,1\n');
  assert.deepEqual([header, rows], [["query\nid", "label"], [["a", "1"]]]);
});

test("lines with another number of columns are found with both numbers", () => {
  const { header, rows, faults, records } = preview.previewOf("\uFEFFlabel;query\n1;a\n2;b;c\n3\n");
  assert.deepEqual(header, ["label", "query"]);
  assert.deepEqual(rows, [["1", "a"]]);
  assert.equal(records, 3);
  assert.deepEqual(faults, [
    { line: 3, detail: "Line 3 has 3 columns, 2 expected", text: "2;b;c" },
    { line: 4, detail: "Line 4 has 1 column, 2 expected", text: "3" },
  ]);
});

test("LETOR text has its label, query, first features and comment; broken lines are found", () => {
  const text = "# made\n2 qid:1 1:0.5 3:2 # d1\nx qid:1 1:0\n1 1:0.5\n";
  const { kind, header, rows, faults } = preview.previewOf(text);
  assert.equal(kind, "letor");
  assert.deepEqual(header, ["label", "query", "f1", "f3", "comment"]);
  assert.deepEqual(rows, [["2", "1", "0.5", "2", "d1"]]);
  assert.deepEqual(
    faults.map(({ line }) => line),
    [3, 4],
  );
});

test("JSON and texts of other kinds have no rows", () => {
  assert.equal(preview.previewOf('{"label": 1}\n').kind, "json");
  assert.equal(preview.previewOf("1 1:0.5 2:3\n").kind, "other");
  assert.equal(preview.previewOf("nothing\n").kind, "other");
});

const HEADER = ["rating", "search", "sku", "bm25", "market", "shop", "weight"];
const ROWS = [
  ["2", "red shoes", "s1", "0.5", "de", "a", "1"],
  ["0", "red shoes", "s2", "0.1", "at", "a", "1"],
  ["1", "coat", "s1", "0.2", "de", "b", "2"],
];

test("roles are guessed from usual names, likely names, and values", () => {
  assert.deepEqual(guess.guessedRoles(HEADER, ROWS, USUAL), [
    "label",
    "query",
    "document",
    "features",
    "document_columns",
    "query_columns",
    "query_weight",
  ]);
});

test("a numeric title is a feature, and a URL identifies a document only without another identifier", () => {
  const header = ["label", "query", "title", "url"];
  const rows = [["1", "a", "7", "https://a.example"]];
  assert.deepEqual(guess.automaticRoles(header, rows, USUAL), ["label", "query", "features", "document"]);
});

test("the first of the usual names of a document goes before the others, which are no features", () => {
  const header = ["label", "query", "product_id", "document_id", "url"];
  const rows = [["1", "a", "7", "8", "https://a.example"]];
  const described = ["document_columns", "document", "document_url"];
  const usual = { ...USUAL, document: ["document_id", "product_id", "url"] };
  assert.deepEqual(guess.automaticRoles(header, rows, usual), ["label", "query", ...described]);
});

test("a column takes a role from the column that had it, and gives its own", () => {
  const roles = ["query_columns", "query", "label", "features"];
  guess.exchangeRole(roles, 0, "query");
  assert.deepEqual(roles, ["query", "query_columns", "label", "features"]);
  guess.exchangeRole(roles, 2, "features");
  assert.deepEqual(roles, ["query", "query_columns", "features", "features"]);
});

test("every column that the service may take for a role has it, so that the user chooses", () => {
  const usual = {
    ...USUAL,
    label: ["label", "grade"],
    query: ["query_id", "query"],
    document_title: ["title", "name"],
  };
  const roles = (header, row) => guess.automaticRoles(header, [row], usual);
  assert.deepEqual(roles(["label", "grade", "query_id"], ["1", "0", "a"]), ["label", "label", "query"]);
  assert.deepEqual(guess.roleProblems(["label", "label", "query"]), ["Several columns are the label."]);
  // A text beside the id of the query describes it; a number may be another id.
  assert.deepEqual(roles(["label", "query", "query_id"], ["1", "red shoes", "7"]), ["label", "query_columns", "query"]);
  assert.deepEqual(roles(["label", "query", "query_id"], ["1", "8", "7"]), ["label", "query", "query"]);
  // Titles are only shown: the first one is taken.
  const titles = ["document_title", "query_columns"];
  assert.deepEqual(roles(["label", "query", "name", "title"], ["1", "a", "x", "y"]), ["label", "query", ...titles]);
});

test("truth values, decimal commas and missing values are no texts, as in the service", () => {
  const header = ["label", "query", "in_stock", "price", "age", "brand"];
  const rows = [
    ["1", "a", "True", "15,25", "NA", "acme"],
    ["0", "a", "false", "3,5", "null", "neo"],
    ["0", "b", "True", ",5", "4.5e1", "neo"],
  ];
  const numbers = ["features", "features", "features"];
  assert.deepEqual(guess.guessedRoles(header, rows, USUAL), ["label", "query", ...numbers, "document_columns"]);
  assert.deepEqual(guess.otherColumns(header, guess.guessedRoles(header, rows, USUAL)), ["brand"]);
});

test("the request has only the roles that the service would not detect", () => {
  const automatic = guess.automaticRoles(HEADER, ROWS, USUAL);
  const roles = guess.guessedRoles(HEADER, ROWS, USUAL);
  assert.deepEqual(guess.columnsOf(HEADER, automatic, automatic), {});
  assert.deepEqual(guess.columnsOf(HEADER, roles, automatic), {
    label: "rating",
    query: "search",
    document: "sku",
    document_columns: ["market"],
  });
  roles[6] = "features";
  assert.deepEqual(guess.columnsOf(HEADER, roles, automatic).features, ["bm25", "weight"]);
});

test("roles of an earlier upload are reused, whatever the order of the columns", () => {
  const header = [...HEADER].reverse();
  const rows = ROWS.map((row) => [...row].reverse());
  const columns = { label: "rating", query: "search", ignore: ["sku", "market"] };
  assert.deepEqual(guess.rolesOf(header, rows, USUAL, columns), [
    "query_weight",
    "query_columns",
    "ignore",
    "features",
    "ignore",
    "query",
    "label",
  ]);
});

test("a table needs one label and one query", () => {
  assert.deepEqual(guess.roleProblems(["label", "query", "features"]), []);
  assert.deepEqual(guess.roleProblems(["label", "label"]), [
    "No column is the query.",
    "Several columns are the label.",
  ]);
});
