/** Results of click model jobs: the comparison on held-out lists, and the parameters of the best model. @module */
import { withCode } from "../page/content.js";
import { rankLines } from "../figures/rank_lines.js";
import { h } from "../page/dom.js";
import { dataTable, disclosure, factList, hint, numberHeads } from "../page/parts.js";
import { count, fixed, percent } from "../page/format.js";

/** @param {ClickModelResult} result @returns {Child[]} */
export function clickModelResult({ sentence, comparison, click_model: model }) {
  return [
    h("p.sentence", ...withCode(sentence)),
    comparisonTable(comparison),
    perplexityFigure(comparison.models),
    fittedModel(model),
  ];
}

/** @param {ClickModelResult["comparison"]} comparison */
function comparisonTable({ models, held_out_lists: lists, unseen_share: unseen }) {
  const numbers = numberHeads("Log-likelihood", "Difference from best", "Perplexity", "Conditional perplexity");
  /** @param {ComparedModel} each @param {number} index 0 for the best model @returns {Content} */
  const cells = ({ model, label, difference, ...each }, index) => [
    { class: index === 0 && "main" },
    [h("strong", model), h("small", ` ${label}`)],
    fixed(each.log_likelihood, 5),
    difference ? [fixed(-difference.value, 5), h("small", differenceInterval(difference))] : "best",
    fixed(each.perplexity, 4),
    fixed(each.conditional_perplexity, 4),
  ];
  return h("section.rows", { "aria-label": "Models compared" }, [
    h("h3", "Models compared"),
    dataTable("Comparison of models", ["Model", numbers], models, cells, { class: "click-table" }),
    hint(
      `Measured on ${count(lists)} held-out lists. A perplexity of 1 is perfect; 2 is as good as tossing a coin. 95% intervals are over users, or over lists in a log without users.`,
      unseen > 0 &&
        ` ${percent(unseen, 1)} of their impressions are query-document pairs that do not occur in the other lists.`,
    ),
  ]);
}

/** Return the interval with the opposite sign: " 0.00042 to 0.00113", or " no interval" if there is only one held-out user. @param {{lower: number | null, upper: number | null}} difference */
const differenceInterval = ({ lower, upper }) =>
  lower === null || upper === null ? " no interval" : ` ${fixed(-upper, 5)} to ${fixed(-lower, 5)}`;

/** @param {ComparedModel[]} models */
function perplexityFigure(models) {
  const lines = models.map(({ model, by_rank: ranks }) => ({
    name: model,
    points: ranks.map(({ rank, perplexity }) => ({ x: rank, y: perplexity })),
  }));
  const words = models.map(({ model, perplexity }) => `${model} ${fixed(perplexity, 4)}`);
  return rankLines(lines, {
    caption: "Perplexity by rank, lower is better",
    axis: "Rank",
    summary: `Perplexity by rank; means: ${words.join(", ")}.`,
    include: [1],
  });
}

/** Return the parameters of one model, with their intervals, and its findings. @param {FittedModel} model */
export function fittedModel({ model, label, parameters, findings }) {
  const single = Object.entries(parameters).filter(([, rows]) => rows.length === 1 && rows[0].rank === undefined);
  const byRank = Object.entries(parameters).filter(([, rows]) => rows.length > 0 && rows[0].rank !== undefined);
  return h("section.rows", { "aria-label": "Parameters" }, [
    h("h3", `Parameters of ${model}`, h("small", ` ${label}, estimated from all lists`)),
    findings.length > 0 && h("ul.click-notes", ...findings.map((words) => h("li", ...withCode(words)))),
    single.length > 0 &&
      factList(
        "facts",
        single.map(([name, [row]]) => [parameterName(name), withInterval(row)]),
      ),
    h("div.columns", ...byRank.map(([name, rows]) => parameterFigure(name, rows))),
    byRank.length > 0 && parameterTable(byRank),
    !Object.keys(parameters).length && hint("This model has no parameters that all queries share."),
  ]);
}

/** @param {string} name */
function parameterName(name) {
  const words = name.replaceAll("_", " ");
  return words[0].toUpperCase() + words.slice(1);
}

/** @param {ParameterRow} row */
function withInterval({ value, lower, upper }) {
  return lower === undefined || upper === undefined
    ? fixed(value, 3)
    : `${fixed(value, 3)} (${fixed(lower, 3)} to ${fixed(upper, 3)})`;
}

/**
 * Draw a parameter by rank. A parameter that depends on the last click has a line for no click and for each of the first
 * three ranks of that click.
 * @param {string} name @param {ParameterRow[]} rows
 */
function parameterFigure(name, rows) {
  const clicks = [...new Set(rows.map((row) => row.last_click))];
  const lines = clicks.slice(0, 4).map((click) => ({
    name: click === undefined ? parameterName(name) : click === 0 ? "no click above" : `last click at rank ${click}`,
    points: rows
      .filter((row) => row.last_click === click)
      .map(({ rank = 0, value, lower, upper }) => ({ x: rank, y: value, lower, upper })),
  }));
  return rankLines(lines, {
    caption: parameterName(name),
    axis: "Rank",
    summary: `${parameterName(name)} by rank, from ${fixed(rows[0].value, 3)} to ${fixed(rows[rows.length - 1].value, 3)}.`,
    include: [0],
  });
}

/** @param {[string, ParameterRow[]][]} parameters */
function parameterTable(parameters) {
  const rows = parameters.flatMap(([name, values]) => values.map((row) => ({ name, row })));
  const heads = ["Parameter", numberHeads("Rank", "Last click", "Value, 95% interval")];
  const table = dataTable("Values of parameters", heads, rows, ({ name, row }) => [
    parameterName(name),
    count(row.rank),
    row.last_click === undefined ? "" : count(row.last_click),
    withInterval(row),
  ]);
  return disclosure("As a table", table);
}
