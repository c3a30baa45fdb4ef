/**
 * The report of an experiment: tables with the printed numbers of the paper, claims, deviations and figures. @module
 */
import { lineStyle } from "../figures/legend.js";
import { figureView } from "../figures/figure.js";
import { h, replace } from "../page/dom.js";
import { dataTable, disclosure, hint, livePart, numberHeads } from "../page/parts.js";
import { counted, pValue, joined } from "../page/format.js";
import { numberLabel, signedLabel, tableName, unitLabel } from "./labels.js";

/** @type {Record<string, string>} */
const VERDICTS = { held: "held", "not-shown": "not shown", contradicted: "contradicted" };
/** @typedef {"printed" | "difference"} ExtraColumn */
/** @type {ExtraColumn[]} Columns next to the measured numbers; differences exist only on the paper's own data. */
const EXTRA_COLUMNS = ["printed", "difference"];
/** Tables with fewer columns are not drawn as lines. */
const MIN_SERIES_COLUMNS = 4;

/** Return the panels of a report, rebuilt when the report changes. */
export function reportPanels() {
  const node = h("div.view");
  const reportOf = (/** @type {ExperimentReport | null} */ report) => report;
  return livePart(node, reportOf, (report) =>
    replace(node, [
      report &&
        h("div.experiment-notes", [
          !report.complete && hint("Preliminary: some trainings have not finished, and verdicts may change."),
          ...report.notes.map((note) => hint(note)),
        ]),
      ...(report?.tables ?? []).map((table) => tablePanel(table, figureOf(table))),
    ]),
  );
}

/** @param {ReportedTable} table @param {HTMLElement | null} figure */
function tablePanel(table, figure) {
  const { name, caption, unit, test, cells, claims, deviations } = table;
  const title = tableName(name);
  return h("section.panel.experiment-table", { "aria-label": title, "data-table": name }, [
    h("h2", `${title} `, h("small", joined([caption, unitLabel(unit)], ", "))),
    figure,
    numbersTable(table, title),
    hint(
      joined([
        test && `Marks: ${test}`,
        cells.some(({ lower }) => lower !== null) && "Intervals are 95% confidence intervals over queries.",
      ]),
    ),
    claims.length > 0 &&
      h(
        "ul.experiment-claims",
        { "aria-label": `Claims of ${title}` },
        claims.map(({ verdict, statement, source, sentence }) =>
          h("li", [
            h("span.verdict", { "data-verdict": verdict }, VERDICTS[verdict] ?? verdict),
            h("div", h("strong", statement), h("p", sentence), h("small", source)),
          ]),
        ),
      ),
    deviations.length > 0 &&
      disclosure(`${counted(deviations.length, "deviation")} from the paper's set-up`, [
        h("ol.experiment-deviations", ...deviations.map((text) => h("li", text))),
      ]),
  ]);
}

/** @param {ReportedTable} table @param {string} title */
function numbersTable({ rows, columns, cells, unit }, title) {
  const byPosition = new Map(cells.map((cell) => [JSON.stringify([cell.row, cell.column]), cell]));
  /** @param {string} row @param {string} column */
  const cellAt = (row, column) => byPosition.get(JSON.stringify([row, column]));
  /** @type {Map<string, ExtraColumn[]>} */ const extraColumns = new Map(
    columns.map((name) => {
      const own = cells.filter(({ column }) => column === name);
      return [name, EXTRA_COLUMNS.filter((extra) => own.some((cell) => cell[extra] !== null))];
    }),
  );
  const numbers = (/** @type {string} */ row) => {
    const notes = new Set(columns.flatMap((column) => cellAt(row, column)?.deviations ?? []));
    const marks = [...notes].sort((one, other) => one - other).join(", ");
    return [
      [row, marks && h("sup", ` ${marks}`)],
      ...columns.flatMap((column) => numbersOf(cellAt(row, column), unit, extraColumns.get(column) ?? [])),
    ];
  };
  const heads = ["", ...columns.map((column) => numberHeads(column, ...(extraColumns.get(column) ?? [])))];
  return dataTable(`Numbers of ${title}`, heads, rows, numbers, { class: "against" });
}

/** @param {ReportedCell | undefined} cell @param {string} unit @param {ExtraColumn[]} extraColumns */
function numbersOf(cell, unit, extraColumns) {
  /** @param {Child[]} words @param {string} [title] */
  const number = (words, title) => h("td.number", { title }, ...words);
  if (!cell) return Array.from({ length: 1 + extraColumns.length }, () => number(["–"]));
  const { ours, mark, lower, upper, printed, difference, missing } = cell;
  const measured = number(
    ours === null
      ? ["–", missing && h("small", missing)]
      : [
          h("strong", numberLabel(ours, unit)),
          mark,
          lower !== null && h("small", `${numberLabel(lower, unit)} to ${numberLabel(upper, unit)}`),
        ],
    titleOf(cell),
  );
  const printedNumber = printed
    ? [
        numberLabel(printed.value, unit) + printed.mark,
        printed.half_width !== null && h("small", `±${numberLabel(printed.half_width, unit)}`),
      ]
    : ["–"];
  const shown = { printed: number(printedNumber), difference: number([signedLabel(difference, unit)]) };
  return [measured, ...extraColumns.map((extra) => shown[extra])];
}

/** @param {ReportedCell} cell */
function titleOf({ p, queries }) {
  const words = [queries !== null && counted(queries, "query", "queries"), p !== null && `p ${pValue(p)}`];
  return joined(words, ", ") || undefined;
}

/** Draw a figure of the paper: its curves by tree, or else a line for each row of its table. @param {ReportedTable} table */
function figureOf(table) {
  if (!table.name.startsWith("figure-")) return null;
  const { columns, unit, caption } = table;
  const curves = table.cells.filter(({ curve }) => curve.length > 0);
  // Curves are fractions, whatever the unit of the table.
  const scale = unit === "percent" ? 100 : 1;
  const lines = curves.length
    ? curves.map(({ row, trees, curve }) => ({ name: row, x: trees, y: curve.map((value) => scale * value) }))
    : seriesOf(table);
  if (!lines.length) return null;
  const figure = figureView();
  figure.draw({
    summary: `${caption}: ${counted(lines.length, "line")}.`,
    height: 340,
    x: curves.length
      ? { title: "tree", whole: true }
      : { ticks: columns.map((name, at) => [at, name]), range: [-0.3, columns.length - 0.7], named: true },
    y: { title: unitLabel(unit), read: (value) => numberLabel(value, unit) },
    series: lines.map((line, index) => ({ ...line, ...lineStyle(index), dots: !curves.length, size: 3 })),
  });
  return figure.node;
}

/** Return each row as a line over the columns. @param {ReportedTable} table */
function seriesOf({ rows, columns, cells }) {
  if (columns.length < MIN_SERIES_COLUMNS) return [];
  const lines = rows.map((name) => {
    const own = cells.filter(({ row, ours }) => row === name && ours !== null);
    return { name, x: own.map(({ column }) => columns.indexOf(column)), y: own.map(({ ours }) => ours) };
  });
  return lines.filter(({ x }) => x.length > 1);
}
