/** Headers of click logs, and the sample size of an interleaving. */
import assert from "node:assert/strict";
import test from "node:test";

import { firstRecords } from "../../app/dashboard/static/forms/text_file.js";
import { sampleSize } from "../../app/dashboard/static/interleavings/verdict.js";

test("The delimiter is that of the header, and quotes are taken off", () => {
  assert.deepEqual(firstRecords('query;document\n"red; ""big"" shoes";a\n', 5), [
    ["query", "document"],
    ['red; "big" shoes', "a"],
  ]);
  assert.deepEqual(firstRecords("query\trank\nshoes, red\t\n", 5), [
    ["query", "rank"],
    ["shoes, red", ""],
  ]);
});

test("Only the first rows are read, whatever the line ends", () => {
  assert.deepEqual(firstRecords("\ufeffa,b\r\n1,2\r\n3,4\r\n5,6\r\n", 2), [
    ["a", "b"],
    ["1", "2"],
  ]);
});

test("The sample size is that of the service", () => {
  assert.equal(sampleSize(0.05, 0.2, 0.05), 785);
  assert.equal(sampleSize(0.05, 0.2, 0.1), 197);
  assert.equal(sampleSize(0.05, 0.2, 0.2), 50);
});
