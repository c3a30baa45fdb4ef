/** The start of a chosen text file, read in the browser, and the records of delimited text. @module */

/** @typedef {{line: number, cells: string[], text: string}} Row a record; line: number of its first line */

const READ_BYTES = 4 * 2 ** 20;
const GZIP = "\x1f\x8b";
/** Magic bytes of files that are not read here: Parquet and Zstandard. */
const BINARY_MAGIC = ["PAR1", "\x28\xb5\x2f\xfd"];
const DELIMITERS = ["\t", ";", ","];

/**
 * Read whole lines from the start of a text file, plain or gzipped.
 * @param {File} file
 * @param {number} [most] maximum number of bytes to read
 * @returns {Promise<string | null>} null for other binary files, which the service reads
 */
export async function readStart(file, most = READ_BYTES) {
  const bytes = new Uint8Array(await file.slice(0, most).arrayBuffer());
  const mark = String.fromCharCode(...bytes.subarray(0, 4));
  const isGzipped = mark.startsWith(GZIP);
  const plain = isGzipped ? await decompressed(bytes, most) : bytes;
  if (plain.subarray(0, 1024).includes(0) || BINARY_MAGIC.includes(mark)) return null;
  const text = new TextDecoder().decode(plain);
  const isWhole = !isGzipped && file.size <= most;
  return isWhole ? text : text.slice(0, text.lastIndexOf("\n") + 1);
}

/** Decompress gzipped bytes up to a number of bytes. @param {Uint8Array<ArrayBuffer>} bytes @param {number} most */
async function decompressed(bytes, most) {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")).getReader();
  /** @type {Uint8Array<ArrayBuffer>[]} */ const parts = [];
  let length = 0;
  try {
    while (length < most) {
      const { value, done } = await reader.read();
      if (done) break;
      parts.push(value);
      length += value.length;
    }
  } catch {
    // The bytes that were read end within the gzip stream.
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/**
 * Return the cells of the first records of delimited text; an empty list for text with a single column.
 * @param {string} text
 * @param {number} most maximum number of records
 */
export function firstRecords(text, most) {
  const bare = text.replace(/^\uFEFF/, "");
  const delimiter = delimiterOf(bare);
  return delimiter
    ? recordsOf(bare, delimiter)
        .slice(0, most)
        .map(({ cells }) => cells)
    : [];
}

/** Return the most frequent delimiter of the first line outside of quotes, null without one. @param {string} text */
export function delimiterOf(text) {
  const [bare] = text.replace(/"[^"]*"/g, "").split("\n", 1);
  const counts = DELIMITERS.map((each) => /** @type {const} */ ([each, bare.split(each).length - 1]));
  const [delimiter, most] = counts.reduce((best, each) => (each[1] > best[1] ? each : best));
  return most > 0 ? delimiter : null;
}

/**
 * Return the records of delimited text (RFC 4180): quoted cells may hold delimiters, quotes and line feeds.
 * @param {string} text @param {string} delimiter
 * @returns {Row[]} without empty lines
 */
export function recordsOf(text, delimiter) {
  const lines = text.split("\n");
  /** @type {Row[]} */ const rows = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = at + 1;
    let record = lines[at];
    // A quote that is still open continues in the next line.
    while (hasOpenQuote(record) && at + 1 < lines.length) record += `\n${lines[(at += 1)]}`;
    record = record.replace(/\r$/, "");
    if (record) rows.push({ line, cells: cellsOf(record, delimiter), text: record });
  }
  return rows;
}

/** @param {string} record */
const hasOpenQuote = (record) => record.includes('"') && record.split('"').length % 2 === 0;

/** @param {string} record @param {string} delimiter */
function cellsOf(record, delimiter) {
  if (!record.includes('"')) return record.split(delimiter);
  const cells = [""];
  let isQuoted = false;
  for (const character of record) {
    if (character === '"') isQuoted = !isQuoted;
    if (character === delimiter && !isQuoted) cells.push("");
    else cells[cells.length - 1] += character;
  }
  return cells.map((cell) => (/^"[^]*"$/.test(cell) ? cell.slice(1, -1).replaceAll('""', '"') : cell));
}
