/** Distributions of labels and of documents per query, and the table of features. @module */
import { searchField } from "../forms/controls.js";
import { bars, histogram } from "../figures/marks.js";
import { datasetApi } from "../page/paths.js";
import { get } from "../page/api.js";
import { h, setText } from "../page/dom.js";
import { count, counted, metric, percent, short } from "../page/format.js";
import { sortableTable } from "../tables/table.js";

const MAX_BARS = 12;
const MAX_LABELS = 100;
const MAX_LENGTH_BARS = 5;

/** Draw the number of documents by label: bars for few labels, else a histogram. @param {Statistics} statistics */
function labelCounts({ labels = [], label_range: range }) {
  /** @type {[string, number][]} */
  const entries = labels.map(({ label, documents }) => [short(label), documents]);
  if (range?.missing) entries.push(["none", range.missing]);
  if (entries.length <= MAX_BARS) return bars("Documents by label", entries);
  const [mostCommon, most] = entries.reduce((one, other) => (other[1] > one[1] ? other : one));
  const columns = entries.map(([label, documents]) => ({
    label,
    count: documents,
    title: `label ${label}: ${counted(documents, "document")}`,
  }));
  return histogram(columns, {
    caption: labels.length < MAX_LABELS ? "Documents by label" : `Documents by label, the ${MAX_LABELS} most common`,
    axis: "label",
    summary: `Documents by label, from ${short(range?.minimum)} to ${short(range?.maximum)}; the most common is ${mostCommon} with ${counted(most, "document")}.`,
  });
}

/**
 * Draw the distribution of documents per query: bars for few numbers, a histogram for many.
 * @param {NonNullable<Statistics["documents_per_query"]>} lengths
 */
function queryLengths({ histogram: bins = [], min, median, max }) {
  /** @param {{from: number, to: number}} bin */
  const range = ({ from, to }) => (from === to ? count(from) : `${count(from)} – ${count(to)}`);
  if (bins.length <= MAX_LENGTH_BARS)
    return bars(
      "Queries by number of documents",
      bins.map((bin) => [range(bin), bin.queries]),
    );
  const columns = bins.map((bin) => ({
    label: count(bin.from),
    count: bin.queries,
    title: `${range(bin)} documents: ${counted(bin.queries, "query", "queries")}`,
  }));
  return histogram(columns, {
    caption: "Queries by number of documents",
    axis: "documents per query",
    summary: `Queries by number of documents, from ${count(min)} to ${count(max)}, median ${short(median)}.`,
  });
}

/** @param {Statistics} statistics */
export function distributions(statistics) {
  const { labels, documents_per_query: perQuery } = statistics;
  return h("div.columns.distributions", [
    labels && h("section.panel", h("h2", "Labels"), labelCounts(statistics)),
    perQuery?.histogram && h("section.panel", h("h2", "Query lengths"), queryLengths(perQuery)),
  ]);
}

const INITIAL_ROWS = 50;

/** @typedef {Schemas["FeatureProfile"]} FeatureProfile */

/** @param {string} id @returns {Promise<FeatureProfile[]>} */
export const readFeatures = (id) => get(datasetApi(id, "/features")).then(({ items }) => items);

/**
 * Return the table of features with a search field for their names.
 * @param {FeatureProfile[]} features
 * @param {number} documents of the dataset
 * @param {string} initialText text of the search field at first
 * @param {(name: string) => void} onSearch
 */
export function featureTable(features, documents, initialText, onSearch) {
  const columns = columnsOf(documents, new Map(features.map(({ name }, index) => [name, index])));
  const table = sortableTable(columns, {
    label: "Features",
    first: INITIAL_ROWS,
    order: { by: columns[1].label, descending: true },
  });
  const field = searchField("Find a feature", "Find a feature", { input: narrow });
  const words = h("p.hint", { role: "status" });
  field.value = initialText;

  function show() {
    const text = field.value.trim().toLowerCase();
    const exact = features.filter(({ name }) => name.toLowerCase() === text);
    const matching = exact.length ? exact : features.filter(({ name }) => name.toLowerCase().includes(text));
    table.show(matching);
    setText(
      words,
      matching.length === features.length
        ? counted(features.length, "feature")
        : `${count(matching.length)} of ${counted(features.length, "feature")}`,
    );
  }
  function narrow() {
    show();
    onSearch(field.value.trim());
  }
  show();
  return h("div.panel.browser", h("div.browser-head", field, words), table.node);
}

/** @param {number} documents @param {Map<string, number>} positions in the file @returns {Column<FeatureProfile>[]} */
function columnsOf(documents, positions) {
  /**
   * @param {string} label
   * @param {"ndcg_at_10" | "minimum" | "mean" | "maximum" | "zeros" | "missing" | "infinite"} name
   * @param {Column<FeatureProfile>["cell"]} [cell] @param {string} [title] @returns {Column<FeatureProfile>}
   */
  const number = (label, name, cell = (row) => short(row[name]), title = "") => ({
    label,
    title,
    number: true,
    value: (row) => row[name],
    cell,
  });
  return [
    {
      label: "Feature",
      title: "In the order of the file",
      value: (row) => positions.get(row.name) ?? null,
      cell: (row) => [h("span.name", { title: row.name }, row.name), ...tags(row)],
    },
    number("NDCG@10", "ndcg_at_10", ndcgCell, "NDCG@10 of ranking by this feature alone, in the better direction"),
    number("Minimum", "minimum"),
    number("Mean", "mean", ({ mean }) => short(mean === null ? mean : rounded(mean))),
    number("Maximum", "maximum"),
    number("Zeros", "zeros", (row) => percent(row.zeros, 1)),
    number("Missing", "missing", (row) => countCell(row.missing, documents)),
    number("Infinite", "infinite", (row) => countCell(row.infinite, documents)),
  ];
}

/** Round a mean to four digits, and a large one to a whole number. @param {number} mean */
const rounded = (mean) => (Math.abs(mean) < 1000 ? Number(mean.toPrecision(4)) : Math.round(mean));

/** @param {FeatureProfile} row */
function ndcgCell({ ndcg_at_10: value, direction }) {
  if (typeof value !== "number") return metric(value);
  const arrow = direction === "ascending" ? "↘" : "↗";
  return [
    metric(value),
    h("span.direction", { title: direction === "ascending" ? "small values rank first" : "large values rank first" }, [
      arrow,
    ]),
  ];
}

/** @param {number} documents @param {number} all */
function countCell(documents, all) {
  return documents
    ? h("span.unusual", { title: counted(documents, "document") }, percent(documents, all))
    : h("span.missing", "0");
}

/** @param {FeatureProfile} row */
function tags({ constant, constant_in_queries: within }) {
  /** @param {string} words @param {string} title */
  const tag = (words, title) => h("span.tag.plain", { title }, words);
  if (constant) return [tag("constant", "The same value everywhere: useless for ranking")];
  return within ? [tag("constant in queries", "One value for all documents of a query: it cannot rank alone")] : [];
}
