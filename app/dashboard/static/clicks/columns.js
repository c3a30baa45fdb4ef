/**
 * Column roles of a click log that is a table: a select for each role, with the columns of the file's header. @module
 */
import { firstRecords } from "../forms/text_file.js";
import { find, findAll, h, replace } from "../page/dom.js";
import { dataTable } from "../page/parts.js";

const PREVIEW_ROWS = 5;

/**
 * Offer the columns of a table in the selects of the roles, with a preview of its first rows. Hide `container` if the file is
 * not a table.
 * @param {HTMLElement} container with a select for each role, whose `data-usual` lists the usual names of the column
 * @param {string} text the beginning of the file
 */
export function offerColumns(container, text) {
  const isTable = !/^\s*[[{]/.test(text);
  const [names = [], ...rows] = isTable ? firstRecords(text, PREVIEW_ROWS + 1) : [];
  container.hidden = names.length < 2;
  const detected = new Set();
  for (const select of findAll(container, "select", HTMLSelectElement)) {
    const usualNames = (select.dataset.usual ?? "").split(" ");
    const matches = usualNames.flatMap((each) => names.find((column) => column.toLowerCase() === each) ?? []);
    const column = matches.find((each) => !detected.has(each)) ?? "";
    detected.add(column);
    replace(select, h("option", { value: "" }, "none"), ...names.map((each) => h("option", { value: each }, each)));
    select.value = column;
  }
  const table = dataTable("First rows of the file", names, rows, (row) => row.map((cell) => h("td", cell)));
  replace(find(container, ".preview"), table);
}
