/** `/datasets/{id}/queries/{query_id}`: the documents of one query with labels and features. @module */
import { searchField } from "../forms/controls.js";
import { readFeatures } from "../datasets/features.js";
import { documentName } from "../datasets/queries.js";
import { featureValue, grade } from "../figures/marks.js";
import { datasetApi, datasetPage, decoded, pagePath } from "../page/paths.js";
import { get } from "../page/api.js";
import { failureBox, openObject } from "../page/content.js";
import { elementById, h, replace, setAttribute, setText } from "../page/dom.js";
import { factList } from "../page/parts.js";
import { count, counted, short } from "../page/format.js";
import { sortableTable, numberColumn } from "../tables/table.js";
import { actionButton } from "../page/actions.js";
import { metricTabs } from "../evaluation/metrics.js";

const FEW_FEATURES = 8;

/** @typedef {Schemas["JudgedDocument"]} Document */
/** @typedef {Schemas["JudgedQuery"]} Query */

/**
 * Show the documents of a query: labels coloured by grade, and a few features or all of them.
 * @param {Query} query
 * @param {string[]} ranked names of the features, the best single feature first
 * @param {{largestLabel: number | undefined, weighted: boolean}} options
 * @returns {{node: HTMLElement, show: (documents: Document[]) => void}}
 */
function documentTable({ feature_names: names, categories = {} }, ranked, { largestLabel, weighted }) {
  const container = h("div");
  const field = searchField("Find a feature", "Find a feature", { input: draw });
  const words = h("p.hint", { role: "status" });
  const few = names.length > FEW_FEATURES && ranked.slice(0, FEW_FEATURES);
  const [best, all] = [`Best ${FEW_FEATURES} single features`, `All ${count(names.length)}`];
  const tabs = metricTabs([best, all], choose, "Features shown");
  const columnIndices = new Map(names.map((name, index) => [name, index]));
  let chosen = few ? best : all;
  /** @type {Document[]} */ let documents = [];
  /** @type {ReturnType<typeof sortableTable<Document>> | null} */
  let table = null;

  /** @param {string} value */
  function choose(value) {
    chosen = value;
    field.value = "";
    draw();
  }

  function draw() {
    const text = field.value.trim().toLowerCase();
    const shown = text ? names.filter((name) => name.toLowerCase().includes(text)) : (chosen === best && few) || names;
    tabs.show(text ? "" : chosen);
    setText(words, text ? `${count(shown.length)} of ${counted(names.length, "feature")}` : "");
    table = sortableTable([...fixedColumns(), ...shown.map(featureColumn)], {
      label: "Documents",
      order: table?.order(),
    });
    table.show(documents);
    replace(container, table.node);
  }

  /** @returns {Column<Document>[]} */
  function fixedColumns() {
    return [
      { label: "Document", value: (row) => row.document_id, cell: (row) => documentName(row) },
      { label: "Label", number: true, value: (row) => row.label, cell: (row) => grade(row.label, largestLabel) },
      ...[...new Set(documents.flatMap(({ columns = {} }) => Object.keys(columns)))].map(fileColumn),
      ...(weighted ? [numberColumn("Weight", (/** @type {Document} */ row) => row.weight ?? null, short)] : []),
    ];
  }

  /** Return a column that the file has besides the features. @param {string} name @returns {Column<Document>} */
  function fileColumn(name) {
    const text = (/** @type {Document} */ row) => row.columns?.[name] ?? "";
    const number = documents.every((row) => Number.isFinite(Number(text(row))));
    return {
      label: name,
      key: `column ${name}`,
      number,
      value: (row) => (text(row) === "" ? null : number ? Number(text(row)) : text(row)),
      cell: text,
    };
  }

  /** @param {string} name @returns {Column<Document>} */
  function featureColumn(name) {
    const at = columnIndices.get(name) ?? 0;
    const isCategory = name in categories;
    return {
      label: name,
      key: `feature ${name}`,
      title: name,
      number: !isCategory,
      value: ({ features: { [at]: value } }) => (value === null || isCategory ? value : Number(value)),
      cell: ({ features: { [at]: value } }) => (value !== null && isCategory ? String(value) : featureValue(value)),
    };
  }

  return {
    node: h("div.documents", few && h("div.browser-head", tabs.node, field, words), container),
    show(newDocuments) {
      documents = newDocuments;
      draw();
    },
  };
}

const PAGE_SIZE = 100;
const [, , encodedId, , ...rest] = pagePath().split("/");
const id = decoded(encodedId);
const queryId = decoded(rest.join("/"));
const container = elementById("query");

setAttribute(elementById("back"), "href", datasetPage(id, "queries"));
document.title = `Query ${queryId} · Rankery`;
openObject(container, open, { noun: "query", list: datasetPage(id, "queries"), action: "All queries of the dataset" });

async function open() {
  const [dataset, query, profiles] = await Promise.all([get(datasetApi(id)), readDocuments(0), readFeatures(id)]);
  setText(elementById("back"), dataset.name);
  draw(dataset, query, profiles);
}

/** Read the query with some of its documents, whose categories are texts. @param {number} offset @returns {Promise<Query>} */
async function readDocuments(offset) {
  const address = datasetApi(id, `/queries/${encodeURIComponent(queryId)}?offset=${offset}&limit=${PAGE_SIZE}`);
  const query = await get(address);
  const { documents, feature_names: names, categories = {} } = query;
  /** @param {number | string | null} value @param {number} index */
  const shown = (value, index) => categories[names[index]]?.[String(value)] ?? value;
  /** @param {Document} document @returns {any} as categories are texts */
  const shownDocument = (document) => ({ ...document, features: document.features.map(shown) });
  return { ...query, documents: documents.map(shownDocument) };
}

/** @param {Schemas["Dataset"]} dataset @param {Query} query @param {Schemas["FeatureProfile"][]} profiles */
function draw({ statistics }, query, profiles) {
  const documents = [...query.documents];
  const weighted = documents.some(({ weight }) => typeof weight === "number");
  const table = documentTable(query, rankedFeatures(profiles), {
    largestLabel: statistics?.label_range?.maximum,
    weighted,
  });
  const more = actionButton("Show more", "quiet small", readMore, (error, retry) =>
    replace(below, failureBox(error, retry)),
  );
  const below = h("div", more);

  async function readMore() {
    documents.push(...(await readDocuments(documents.length)).documents);
    replace(below, more);
    show();
  }

  function show() {
    table.show(documents);
    more.hidden = documents.length >= query.total;
    setText(more, `Show more (${count(query.total - documents.length)} left)`);
  }

  const text = query.query_text;
  const heading = h("h1.query-id", h("span.kind", "Query "), text ?? queryId);
  if (text) document.title = `${text} · Rankery`;
  replace(container, h("div.page-head", heading), facts(query), h("div.panel", table.node, below));
  show();
}

/** Return the names of the features, the best single ranker first. @param {Schemas["FeatureProfile"][]} profiles */
function rankedFeatures(profiles) {
  const worth = (/** @type {Schemas["FeatureProfile"]} */ { ndcg_at_10: value }) => value ?? -1;
  return [...profiles].sort((one, other) => worth(other) - worth(one)).map(({ name }) => name);
}

/** @param {Query} query */
function facts({ query_id: name, query_text: text, total, weight, columns }) {
  /** @type {([string, string] | false | null | undefined | "")[]} */
  const facts = [
    text && ["ID", name],
    ["Documents", count(total)],
    typeof weight === "number" && ["Weight", short(weight)],
    ...Object.entries(columns || {}),
  ];
  return factList("figures", facts);
}
