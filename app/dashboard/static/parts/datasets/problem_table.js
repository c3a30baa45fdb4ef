/**
 * Everything that is wrong with a file, by place.
 * @module
 */
import { h } from "../page/dom.js";
import { count, counted } from "../page/format.js";

/** @typedef {{file: string | null, line: number | null, column: number | null, text: string | null, detail: string}} Fault */

/** Columns that no fault has anything for are left out; a single file is named above instead. */
const COLUMNS = [
  { name: "file", label: "File", class: "fault-file", cell: ({ file }) => file },
  { name: "line", label: "Line", class: "number", cell: ({ line }) => count(line) },
  { name: "column", label: "Column", class: "number", cell: ({ column }) => count(column) },
  { name: "detail", label: "What was expected", class: "fault-detail", cell: ({ detail }) => detail },
  { name: "text", label: "Found", class: "fault-found", cell: ({ text }) => text && h("code", { class: "fault-text" }, text) },
];

/** @param {{title: string, detail: string, errors: Fault[], more?: boolean}} problem */
export function problemTable({ title, errors, more }) {
  const file = new Set(errors.map((fault) => fault.file)).size === 1 && errors[0].file;
  const columns = COLUMNS.filter(({ name }) => !(file && name === "file") && errors.some((fault) => (fault[name] ?? "") !== ""));
  return h(
    "section",
    { class: "panel faults", "aria-label": "Problems" },
    h("h2", {}, title, " ", h("span", { class: "severity", "data-severity": "error" }, `${counted(errors.length, "problem")}${more ? " and more" : ""}`)),
    file && h("p", { class: "hint" }, "In ", h("code", {}, file), "."),
    h(
      "div",
      { class: "scroll", role: "region", "aria-label": "Problems by place", tabindex: "0" },
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, ...columns.map((column) => h("th", { scope: "col", class: column.class }, column.label)))),
        h("tbody", {}, ...errors.map((fault) => h("tr", {}, ...columns.map((column) => h("td", { class: column.class, "data-name": column.name }, column.cell(fault)))))),
      ),
    ),
    more && h("p", { class: "hint more-faults" }, `Only the first ${count(errors.length)} problems are listed; there are more.`),
  );
}
