/**
 * Tables as CSV files. Any table can be downloaded as it is shown; some also read the rows that are not shown. @module
 */
import { saveFile } from "../page/content.js";
import { apiError } from "../page/api.js";
import { announce, h } from "../page/dom.js";

/** @typedef {(string | number | boolean | null | undefined)[]} Row */

/** Readers of all rows, for tables that show only some. @type {WeakMap<HTMLTableElement, () => Promise<Row[]> | Row[]>} */
const sources = new WeakMap();

/** Register the reader of all rows of a table, with the headings first. @param {HTMLTableElement} table @param {() => Promise<Row[]> | Row[]} read */
export function csvSource(table, read) {
  sources.set(table, read);
}

/** Return a button that downloads a table. @param {HTMLTableElement} table @param {string} name of the file and for screen readers */
export function csvButton(table, name) {
  const button = h("button.quiet.small.csv", { "aria-label": `Download ${name} as CSV`, click }, "CSV");
  async function click() {
    button.disabled = true;
    await download(table, name).finally(() => {
      button.disabled = false;
    });
  }
  return button;
}

/** Return the visible tables of the page that have a name. @returns {{name: string, act: () => Promise<void>}[]} */
export function tablesOfPage() {
  return [...document.querySelectorAll("main table")]
    .map((table) => /** @type {HTMLTableElement} */ (table))
    .filter((table) => table.checkVisibility() && table.tBodies[0]?.rows.length)
    .map((table) => ({ name: nameOf(table), act: () => download(table, nameOf(table)) }))
    .filter(({ name }) => name);
}

/** @param {HTMLTableElement} table */
function nameOf(table) {
  const region = table.closest("[role=region][aria-label]:not(#main)");
  const heading = table.closest("section")?.querySelector("h2, h3");
  return (
    (table.caption ?? heading)?.textContent || table.ariaLabel || region?.ariaLabel || document.title.split(" · ")[0]
  );
}

/** @param {HTMLTableElement} table @param {string} name */
async function download(table, name) {
  try {
    const rows = (await sources.get(table)?.()) ?? [...table.rows].filter((row) => row.cells.length > 1).map(cellsOf);
    const file = `${name.toLowerCase().replace(/[^a-z0-9@.]+/g, "-")}.csv`;
    saveFile(file, new Blob([csvText(rows)], { type: "text/csv" }));
    announce(`${name}: ${rows.length - 1} rows were downloaded.`);
  } catch (error) {
    announce(`${name} could not be downloaded. ${apiError(error).message}`);
  }
}

/** @param {HTMLTableRowElement} row @returns {Row} */
export const cellsOf = (row) => [...row.cells].flatMap((cell) => [plain(cell), ...Array(cell.colSpan - 1).fill("")]);

/**
 * Return the text of a cell for programs: the exact time instead of "3 min ago", numbers without separators, and the
 * id of a dataset whose name is not read yet.
 * @param {HTMLTableCellElement} cell
 */
function plain(cell) {
  const exact = cell.querySelector("time")?.dateTime || cell.querySelector("[data-unread]")?.getAttribute("title");
  if (exact) return exact;
  const text = cell.textContent.trim();
  const number = text.replaceAll(",", "").replaceAll("−", "-");
  return cell.matches(".number") && number !== "" && !Number.isNaN(Number(number)) ? number : text;
}

/** Return rows as CSV by RFC 4180. @param {Row[]} rows */
export const csvText = (rows) => rows.map((row) => `${row.map(quoted).join(",")}\r\n`).join("");

/** @param {Row[number]} value */
function quoted(value) {
  let text = String(value ?? "");
  // Spreadsheets execute texts that begin like a formula; an apostrophe prevents it.
  if (/^[=+@\t\r-]/.test(text) && Number.isNaN(Number(text))) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
