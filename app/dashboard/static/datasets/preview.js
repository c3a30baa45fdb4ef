/**
 * The first rows of a file before it is uploaded: its format, its columns, and lines that cannot be read.
 *
 * Formats are detected as the service detects them; the service alone decides how a file is read. @module
 */
import { delimiterOf, recordsOf } from "../forms/text_file.js";
import { count, counted } from "../page/format.js";

/** @typedef {{line: number, detail: string, text: string}} Fault */
/**
 * @typedef {object} Preview
 * @property {"table" | "letor" | "json" | "other"} kind
 * @property {string[]} header names of the columns
 * @property {string[][]} rows the first valid rows, with one cell for each column
 * @property {string[][]} sample up to 500 valid rows, to distinguish columns of numbers from columns of texts
 * @property {Fault[]} faults
 * @property {number} records number of records that were checked
 */

const SHOWN_ROWS = 10;
const SAMPLE_ROWS = 500;
const MAX_FAULTS = 5;
const MAX_LETOR_FEATURES = 6;
const LETOR = /^\s*\S+\s+qid:\S/;
const PAIR = /\s-?\d+:\S/;

/** Return the preview of a file from its beginning. @param {string} text whole lines @returns {Preview} */
export function previewOf(text) {
  const lines = text.replace(/^\uFEFF/, "");
  const first = lines.split("\n", 50).find((line) => line.trim() && !line.startsWith("#")) ?? "";
  if (/^\s*[{[]/.test(first)) return empty("json");
  if (LETOR.test(first)) return letorPreview(lines);
  if (PAIR.test(first)) return empty("other");
  const delimiter = delimiterOf(lines.slice(lines.indexOf(first)));
  return delimiter ? tablePreview(lines, delimiter) : empty("other");
}

/** @param {Preview["kind"]} kind @returns {Preview} */
const empty = (kind) => ({ kind, header: [], rows: [], sample: [], faults: [], records: 0 });

/** @param {string} text @param {string} delimiter @returns {Preview} */
function tablePreview(text, delimiter) {
  const [head, ...records] = recordsOf(text, delimiter);
  const header = head.cells.map((name) => name.trim());
  const faults = records
    .filter(({ cells }) => cells.length !== header.length)
    .map(({ line, cells, text: found }) => ({
      line,
      detail: columnsFault(line, cells.length, header.length),
      text: found,
    }));
  const valid = records.filter(({ cells }) => cells.length === header.length).map(({ cells }) => cells);
  return {
    kind: "table",
    header,
    rows: valid.slice(0, SHOWN_ROWS),
    sample: valid.slice(0, SAMPLE_ROWS),
    faults: faults.slice(0, MAX_FAULTS),
    records: records.length,
  };
}

/** "Line 12 has 7 columns, 8 expected". @param {number} line @param {number} found @param {number} expected */
const columnsFault = (line, found, expected) =>
  `Line ${count(line)} has ${counted(found, "column")}, ${count(expected)} expected`;

/** @param {string} text @returns {Preview} */
function letorPreview(text) {
  const lines = text.split("\n").map((line, at) => ({ line: at + 1, text: line.replace(/\r$/, "") }));
  const data = lines.filter(({ text: line }) => line.trim() && !line.startsWith("#"));
  const faults = data.flatMap(({ line, text: found }) => {
    const detail = letorFault(found);
    return detail ? [{ line, detail: `Line ${count(line)} ${detail}`, text: found }] : [];
  });
  const valid = data.filter(({ text: line }) => !letorFault(line)).slice(0, SHOWN_ROWS);
  const pairs = valid.map(
    ({ text: line }) => new Map([...line.split("#")[0].matchAll(/\s(\d+):(\S+)/g)].map((pair) => [pair[1], pair[2]])),
  );
  const ids = [...new Set(pairs.flatMap((each) => [...each.keys()]))].slice(0, MAX_LETOR_FEATURES);
  return {
    kind: "letor",
    header: ["label", "query", ...ids.map((id) => `f${id}`), "comment"],
    rows: valid.map(({ text: line }, at) => [
      line.trim().split(/\s+/)[0],
      /qid:(\S+)/.exec(line)?.[1] ?? "",
      ...ids.map((id) => pairs[at].get(id) ?? ""),
      line.split("#")[1]?.trim() ?? "",
    ]),
    sample: [],
    faults: faults.slice(0, MAX_FAULTS),
    records: data.length,
  };
}

/** Return the problem of a line of LETOR text, null for a valid line. @param {string} line */
function letorFault(line) {
  const [label, query] = line.trim().split(/\s+/);
  if (label === "" || Number.isNaN(Number(label))) return `begins with “${label}” instead of a label such as 2`;
  if (!query?.startsWith("qid:")) return `has “${query ?? ""}” after the label instead of qid: and a query id`;
  return null;
}
