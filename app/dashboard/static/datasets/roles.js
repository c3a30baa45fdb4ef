/** The first rows of a chosen file, with a select for the role of each column. @module */
import {
  automaticRoles,
  columnsOf,
  exchangeRole,
  guessedRoles,
  otherColumns,
  roleProblems,
  ROLES,
  rolesOf,
} from "./guess.js";
import { previewOf } from "./preview.js";
import { readStart } from "../forms/text_file.js";
import { h, replace, setText } from "../page/dom.js";
import { columnHead, hint, tableHead } from "../page/parts.js";
import { count, counted } from "../page/format.js";
import { latestReader } from "../page/content.js";

/** @typedef {import("./guess.js").Columns} Columns */
/** @typedef {import("./preview.js").Preview} Preview */

const MAX_COLUMNS = 60;
const MAX_NAMED = 5;

/**
 * Return a panel of a file's first rows, hidden until a file is shown.
 * @param {HTMLElement} container @param {import("./guess.js").UsualNames} usual
 * @param {(isTable: boolean) => void} [shown] called with true if the user can choose roles here
 * @returns {{show: (file: File | undefined, columns?: Columns) => Promise<void>}} shows a file, with the roles of an
 *   earlier upload if they are given
 */
export function rolesPanel(container, usual, shown = () => {}) {
  const read = latestReader(container);
  return {
    show: (file, columns) =>
      read(
        async () => (file ? await readStart(file).catch(() => null) : null),
        (text) => {
          const preview = text === null ? null : previewOf(text);
          replace(container, ...(preview ? content(preview, usual, columns) : []));
          container.hidden = !container.hasChildNodes();
          shown(preview?.kind === "table");
        },
      ),
  };
}

/** @param {Preview} preview @param {import("./guess.js").UsualNames} usual @param {Columns} [columns] */
function content(preview, usual, columns) {
  if (preview.kind === "json")
    return [h("p.error", { role: "alert" }, "JSON lines cannot be read. Convert the file to CSV or Parquet first.")];
  if (preview.kind === "other") return [];
  const faults = preview.faults.length > 0 && faultList(preview);
  const isTable = preview.kind === "table";
  return [faults, isTable ? roleTable(preview, usual, columns) : table(preview, preview.header.length)].filter(
    (each) => each !== false,
  );
}

/** @param {Preview} preview */
function faultList({ faults }) {
  return h("div.problem", { role: "group", "aria-label": "Lines that cannot be read" }, [
    h("strong", "The service will refuse these lines"),
    h("ul.fault-list", ...faults.map(({ detail, text }) => h("li", `${detail}: `, h("code.fault-text", text)))),
  ]);
}

/** @param {Preview} preview @param {import("./guess.js").UsualNames} usual @param {Columns} [columns] */
function roleTable(preview, usual, columns) {
  const { header, sample, records } = preview;
  const automatic = automaticRoles(header, sample, usual);
  const roles = columns ? rolesOf(header, sample, usual, columns) : guessedRoles(header, sample, usual);
  const field = h("input", { type: "hidden", "data-pointer": "/columns", "data-type": "json" });
  const words = h("p.hint", { role: "status" });
  const show = () => {
    const requested = columnsOf(header, roles, automatic);
    field.value = Object.keys(requested).length ? JSON.stringify(requested) : "";
    const problems = roleProblems(roles);
    words.classList.toggle("error", problems.length > 0);
    setText(
      words,
      problems.join(" ") ||
        `${columns ? "As in the earlier upload" : "Detected roles, which you can change here"}: ${summary(header, roles, records)}`,
    );
  };
  /** @type {Map<number, HTMLSelectElement>} */ const selects = new Map();
  const select = (/** @type {number} */ column) => {
    /** @type {HTMLSelectElement} */ const node = h(
      "select",
      {
        "aria-label": `Role of ${header[column]}`,
        change: () => {
          exchangeRole(roles, column, node.value);
          for (const [other, each] of selects) each.value = roles[other];
          show();
        },
      },
      ROLES.map(([role, label]) => h("option", { value: role, selected: role === roles[column] }, label)),
    );
    selects.set(column, node);
    return node;
  };
  // If not all columns fit, columns that are not features come first.
  const order = [...header.keys()];
  if (header.length > MAX_COLUMNS)
    order.sort((one, other) => Number(roles[one] === "features") - Number(roles[other] === "features"));
  show();
  return h("div.roles", words, table(preview, MAX_COLUMNS, order, select), field);
}

/** "Label grade, query search; 4 features, without brand." @param {string[]} header @param {string[]} roles @param {number} records */
function summary(header, roles, records) {
  const named = ROLES.filter(([role]) => ["label", "query", "document"].includes(role) && roles.includes(role));
  const parts = named.map(([role, label]) => `${label} ${header[roles.indexOf(role)]}`);
  const features = roles.filter((role) => role === "features" || role === "categorical_features").length;
  const others = otherColumns(header, roles);
  const listed = others.slice(0, MAX_NAMED).join(", ") + (others.length > MAX_NAMED ? ", …" : "");
  const rest = others.length ? `, without ${listed}` : "";
  return `${parts.join(", ")}; ${counted(features, "feature")}${rest}. Columns counted in ${counted(records, "row")}.`;
}

/**
 * @param {Preview} preview @param {number} maxColumns
 * @param {number[]} [order] of the columns
 * @param {(column: number) => HTMLElement} [control] returns the select in the head of a column
 */
function table({ header, rows }, maxColumns, order = [...header.keys()], control) {
  const columns = order.slice(0, maxColumns);
  const more = header.length - columns.length;
  return h("div", [
    h("div.scroll.preview", { role: "region", "aria-label": "First rows", tabindex: "0" }, [
      h("table", [
        tableHead(...columns.map((column) => columnHead([header[column], control?.(column)]))),
        h("tbody", ...rows.map((row) => h("tr", ...columns.map((column) => h("td", row[column]))))),
      ]),
    ]),
    more > 0 && hint(`${count(more)} more columns keep their roles.`),
  ]);
}
