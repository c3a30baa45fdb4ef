/** The list of a dataset's queries, the names of queries and documents, and the features of one document. @module */
import { searchField } from "../forms/controls.js";
import { rangeLabel } from "./dataset.js";
import { featureValue } from "../figures/marks.js";
import { readCandidates } from "../models/scored.js";
import { datasetApi, openPage, queryPage } from "../page/paths.js";
import { get } from "../page/api.js";
import { latestReader, loadInto } from "../page/content.js";
import { findAll, h, replace, setText } from "../page/dom.js";
import { dataTable, hint, numberHeads } from "../page/parts.js";
import { count, counted } from "../page/format.js";

const PAGE_SIZE = 50;
const TYPING_MILLISECONDS = 200;

/**
 * List a dataset's queries in file order, page by page, filtered by a prefix of the query id.
 * @param {{id: string, statistics: Statistics | null}} dataset @param {string} initialPrefix
 * @param {(prefix: string) => void} onPrefix
 * @param {(queryId: string) => string} [address] returns the URL of a query's page
 */
export function queryList({ id, statistics }, initialPrefix, onPrefix, address = (queryId) => queryPage(id, queryId)) {
  const field = searchField("Find a query by its id", "Search by ID prefix", { input: typed, keydown: openOnEnter });
  const words = h("p.hint", { role: "status" });
  const container = h("div.rows");
  field.value = initialPrefix;
  /** @type {Schemas["QueryEntry"][]} */ let queries = [];
  const load = latestReader(container);
  let typing = 0;

  function typed() {
    clearTimeout(typing);
    typing = setTimeout(() => {
      onPrefix(field.value);
      read();
    }, TYPING_MILLISECONDS);
  }

  /** @param {KeyboardEvent} event */
  function openOnEnter(event) {
    if (event.key === "Enter" && field.value) openPage(address(field.value));
  }

  /** Read the first page, or the page at a cursor. @param {string | null} [cursor] */
  function read(cursor = null) {
    return load(
      () => get(datasetApi(id, `/queries?${searchParameters(cursor)}`)),
      (page) => {
        const before = cursor ? queries.length : 0;
        queries = cursor ? [...queries, ...page.items] : page.items;
        show(page.next_cursor, before);
      },
    );
  }

  /** @param {string | null} cursor */
  function searchParameters(cursor) {
    const values = new URLSearchParams({ limit: String(PAGE_SIZE) });
    if (field.value) values.set("prefix", field.value);
    if (cursor) values.set("cursor", cursor);
    return values;
  }

  /** @param {string | null} next @param {number} before number of queries that were listed before */
  function show(next, before) {
    const all = statistics?.queries ?? 0;
    setText(words, summary(next, all));
    const more = next && h("button.quiet.small.show-more", { click: () => read(next) }, "Show more");
    replace(container, queries.length > 0 && table(queries, address), more);
    if (before) findAll(container, "tbody a", HTMLElement)[before]?.focus();
  }

  /** @param {string | null} next @param {number} all */
  function summary(next, all) {
    if (!queries.length) return `No query id begins with “${field.value}”.`;
    if (next)
      return `The first ${count(queries.length)} ${field.value ? `that begin with “${field.value}”` : `of ${counted(all, "query", "queries")}`}`;
    return field.value
      ? `${counted(queries.length, "query begins", "queries begin")} with “${field.value}”`
      : counted(queries.length, "query", "queries");
  }

  read();
  return h("div.panel.browser", h("div.browser-head", field, words), container);
}

/** @param {Schemas["QueryEntry"][]} queries @param {(queryId: string) => string} address */
function table(queries, address) {
  const columns = Object.keys(queries[0].columns || {});
  const heads = ["Query", numberHeads("Documents", "Relevant", "Labels"), ...columns];
  return dataTable("Queries", heads, queries, ({ documents, relevant, columns: values, ...query }) => [
    queryName(query, (words) => h("a", { href: address(query.query_id) }, words)),
    count(documents),
    relevant ? count(relevant) : h("span.unusual", "0"),
    rangeLabel(query.min_label, query.max_label),
    ...columns.map((name) => h("span.name", { title: values[name] }, values[name])),
  ]);
}

/**
 * Return a query's text with its id below, or the id alone if the dataset has no query texts.
 * @param {{query_id: string, query_text?: string | null}} query
 * @param {(words: Node) => Node} [wrap] puts the text or id into a link or button
 */
export function queryName({ query_id: id, query_text: text }, wrap = (words) => words) {
  const name = (/** @type {string} */ words) => h("span.name", { title: words }, words);
  return text ? h("span.titled", wrap(name(text)), " ", h("small", { title: id }, id)) : wrap(name(id));
}

/**
 * Return a document's title with its id below. A document without a title has its id, and its URL below if known.
 * @param {{document_id: string, document_title?: string | null, document_url?: string | null}} document
 * @param {(id: Node) => Node} [wrap] puts the id into a button
 */
export function documentName({ document_id: id, document_title: title, document_url: url }, wrap = (words) => words) {
  const name = (/** @type {string} */ words) => h("span.name", { title: words }, words);
  const linked = (/** @type {Node} */ words) => {
    if (!/^https?:\/\//i.test(url ?? "")) return words;
    return h("a", { href: url, rel: "noopener noreferrer", target: "_blank" }, words);
  };
  if (title) return h("span.titled", linked(name(title)), " ", h("small", wrap(name(id))));
  return url ? h("span.titled", wrap(name(id)), " ", h("small", linked(name(url)))) : wrap(name(id));
}

/** @type {Map<string, Promise<number | undefined>>} */
const largestLabels = new Map();

/** Return the largest label of a dataset, which scales the colours of labels. @param {string} datasetId */
export function largestLabel(datasetId) {
  const maximum =
    largestLabels.get(datasetId) ??
    get(datasetApi(datasetId)).then(
      ({ statistics }) => statistics?.label_range?.maximum,
      () => undefined, // a dataset that is gone has no labels
    );
  largestLabels.set(datasetId, maximum);
  return maximum;
}

/**
 * Return an object whose `fill` shows the features of a document.
 * @param {string} datasetId @param {string} queryId
 * @returns {{fill: (container: HTMLElement, documentId: string) => void}}
 */
export function documentFeatures(datasetId, queryId) {
  return {
    fill(container, documentId) {
      loadInto(container, async () => {
        const { candidates } = await readCandidates(datasetId, queryId, { wanted: new Set([documentId]) });
        const [candidate] = candidates;
        if (!candidate) return [hint("The dataset has no document with this ID.")];
        return [
          h(
            "dl.feature-list",
            Object.entries(candidate.features).map(([name, value]) =>
              h("div", h("dt", { title: name }, name), h("dd", featureValue(value))),
            ),
          ),
        ];
      });
    },
  };
}
