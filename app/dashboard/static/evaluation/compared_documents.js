/** One query ranked by two systems, with explanations of both ranks of a document. @module */
import { searchField } from "../forms/controls.js";
import { signed } from "./verdict.js";
import { documentName, largestLabel } from "../datasets/queries.js";
import { featureValue, grade, rankShift } from "../figures/marks.js";
import { signedBar, rankRequest, readCandidates, rankDocuments } from "../models/scored.js";
import { comparisonApi, modelApi, queryPage } from "../page/paths.js";
import { get, Problem, readOnce } from "../page/api.js";
import { failureBox, loadInto, latestReader } from "../page/content.js";
import { findAll, h, missingScope, replace, svg } from "../page/dom.js";
import { columnHead, dataTable, hint, numberHeads, problemBox } from "../page/parts.js";
import { count, counted, metric, joined } from "../page/format.js";

/**
 * Make contributions to scores comparable between models. Scores are comparable only within a query, and each model
 * has its own scale. Subtract the mean over the documents, and divide by the standard deviation of the scores.
 * @param {import("../models/scored.js").Scored[]} ranking
 * @returns {Map<string, Map<string, number>>} by document, then by feature; the contributions to the score of
 *   one document add up to the number of standard deviations by which its score is above the mean
 */
function standardized(ranking) {
  const raw = new Map(
    ranking.map(({ id, explanation }) => [
      id,
      new Map(explanation.contributions.map(({ feature, contribution }) => [feature, contribution])),
    ]),
  );
  const features = [...new Set([...raw.values()].flatMap((parts) => [...parts.keys()]))];
  const means = new Map(
    features.map((feature) => [feature, mean([...raw.values()].map((parts) => parts.get(feature) ?? 0))]),
  );
  const spread = deviation(ranking.map(({ score }) => score)) || 1;
  const scaled = (/** @type {Map<string, number>} */ parts) =>
    new Map(features.map((feature) => [feature, ((parts.get(feature) ?? 0) - (means.get(feature) ?? 0)) / spread]));
  return new Map([...raw].map(([id, parts]) => [id, scaled(parts)]));
}

/** @param {number[]} values */
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** @param {number[]} values */
function deviation(values) {
  const middle = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2)));
}

const SHOWN_FEATURES = 8;

/** @typedef {{name: string, model_id: string | null, ranking: {document_id: string, rank: number}[]}} ExplainedSide */
/**
 * @typedef {object} Explained
 * @property {string} name
 * @property {Map<string, Map<string, number>>} byDocument
 * @property {import("../models/scored.js").Candidate[]} candidates
 */
/** @typedef {{feature: string, value: number | string | null, parts: number[]}} Reason */

/**
 * Explain the ranks of a document in two systems: the contribution of each feature to the scores of their models.
 * @param {string} datasetId @param {string} queryId @param {[ExplainedSide, ExplainedSide]} sides
 * @returns {{node: HTMLElement, open?: (documentId: string) => void} | null} null if neither side is a model
 */
function reasonsPanel(datasetId, queryId, sides) {
  const models = sides.flatMap(({ name, model_id: id }) => (id ? [{ name, id }] : []));
  if (!models.length) return null;
  const refused = missingScope("score");
  const node = h("section.document-reasons", { "aria-label": "Why a document has its rank", "aria-live": "polite" }, [
    hint(refused ?? "Press a document to see why it has its rank."),
  ]);
  if (refused) return { node };
  /** Explain all listed documents together, because contributions are relative to their mean. */
  const explain = readOnce(async () => {
    const wanted = new Set(sides.flatMap(({ ranking }) => ranking.map(({ document_id: id }) => id)));
    const { candidates } = await readCandidates(datasetId, queryId, { wanted });
    const explained = await Promise.all(
      models.map(async ({ id }) => {
        const model = await get(modelApi(id));
        return standardized(await rankDocuments(id, rankRequest(model, queryId, candidates)));
      }),
    );
    return explained.map((byDocument, index) => ({ name: models[index].name, byDocument, candidates }));
  });

  /** @param {string} documentId */
  function open(documentId) {
    for (const button of findAll(node.parentElement ?? node, ".two-rankings button", HTMLButtonElement))
      button.setAttribute("aria-expanded", String(button.value === documentId));
    loadInto(node, async () => reasonsContent(documentId, sides, await explain())).then(() =>
      node.scrollIntoView({ block: "nearest" }),
    );
  }
  return { node, open };
}

/** @param {string} documentId @param {ExplainedSide[]} sides @param {Explained[]} explained */
function reasonsContent(documentId, sides, explained) {
  const ranks = sides.map(({ name, ranking }) => `${name} ${rankLabel(ranking, documentId)}`).join(", ");
  const features = new Map(
    explained.flatMap(({ byDocument }) => [...(byDocument.get(documentId)?.keys() || [])].map((name) => [name, null])),
  );
  const { candidates } = explained[0];
  const values = candidates.find(({ id }) => id === documentId)?.features || {};
  const rows = [...features.keys()].map((feature) => ({
    feature,
    value: values[feature] ?? null,
    parts: explained.map(({ byDocument }) => byDocument.get(documentId)?.get(feature) ?? 0),
  }));
  /** @param {Reason} reason */
  const importance = ({ parts }) => Math.abs(parts.length > 1 ? parts[1] - parts[0] : parts[0]);
  rows.sort((one, other) => importance(other) - importance(one));
  const omitted = rows.length - SHOWN_FEATURES;
  const words = `Contributions to the score, relative to the mean of the ${count(candidates.length)} listed documents and in standard deviations of their scores${explained.length > 1 ? ", which makes the models comparable" : ""}.`;
  return [
    h("h4", h("span.kind", "Why "), documentId, h("span.kind", ` has its rank: ${ranks}`)),
    table(rows.slice(0, SHOWN_FEATURES), explained),
    hint(joined([words, omitted > 0 && `Not shown: ${counted(omitted, "less important feature")}.`])),
  ];
}

/** @param {ExplainedSide["ranking"]} ranking @param {string} documentId */
function rankLabel(ranking, documentId) {
  const ranked = ranking.find(({ document_id: id }) => id === documentId);
  return ranked ? `at ${count(ranked.rank)}` : `below ${count(ranking.length)}`;
}

/** @param {Reason[]} rows @param {Explained[]} explained */
function table(rows, explained) {
  const largest = Math.max(...rows.flatMap(({ parts }) => parts.map(Math.abs)), Number.MIN_VALUE);
  const several = explained.length > 1;
  const heads = [
    "Feature",
    numberHeads("Value"),
    ...explained.flatMap(({ name }) => [columnHead(h("span.name", { title: name }, name), { class: "side-head" }), ""]),
    ...(several ? numberHeads("Difference") : []),
  ];
  const cells = (/** @type {Reason} */ { feature, value, parts }) => [
    h("span.name", { title: feature }, feature),
    featureValue(value),
    ...parts.flatMap((part) => [h("td.bar-cell", signedBar(part / largest)), h("td.number", signed(part, 2))]),
    several && h("strong", signed(parts[1] - parts[0], 2)),
  ];
  return dataTable("Contributions of features", heads, rows, cells, { class: "reasons-table" });
}

/** Height of a row in units of the drawing, which CSS stretches to the height of the lists. */
const ROW_HEIGHT = 10;
const WIDTH = 100;

/** @typedef {Schemas["RankedDocument"]} Document */
/** @typedef {Schemas["SystemRanking"] & {name: string}} Side */

/**
 * Show two rankings of one query side by side: a line connects both ranks of a document.
 * @param {Side} left @param {Side} right
 * @param {{metric: string, largestLabel: number | undefined, open?: (documentId: string) => void}} options
 *   open: explains the rank of a document; undefined if neither system is a model
 */
function twoRankings(left, right, { metric: shown, largestLabel, open }) {
  const rows = Math.max(left.ranking.length, right.ranking.length);
  const indicesLeft = indexByDocument(left);
  const node = h(
    "div.two-rankings",
    {
      "data-titled": [...left.ranking, ...right.ranking].some(
        ({ document_title: title, document_url: url }) => title || url,
      ),
    },
    [
      heading(left, shown),
      h("span"),
      heading(right, shown),
      h("ol", ...left.ranking.map((each) => entry(each, largestLabel, open))),
      lines(left, right, rows, largestLabel),
      h("ol", ...right.ranking.map((each) => entry(each, largestLabel, open, shift(each, indicesLeft, left)))),
      remainder(left),
      h("span"),
      remainder(right),
    ],
  );
  for (const kind of ["pointerover", "focusin"])
    node.addEventListener(kind, ({ target }) =>
      highlight(node, target instanceof Element ? documentIdOf(target.closest("[data-document]")) : undefined),
    );
  for (const kind of ["pointerleave", "focusout"]) node.addEventListener(kind, () => highlight(node, undefined));
  return node;
}

/** @param {{ranking: Document[]}} side */
const indexByDocument = ({ ranking }) => new Map(ranking.map(({ document_id: id }, index) => [id, index]));

/** @param {Side} side @param {string} shown */
function heading({ name, values }, shown) {
  return h("div.ranking-head", [
    h("strong.name", { title: name }, name),
    h("span.hint", `${shown} ${metric(values[shown])}`),
  ]);
}

/** @param {Document} document @param {((documentId: string) => void) | undefined} open */
function documentLabel(document, open) {
  const { document_id: id } = document;
  const why = (/** @type {Child} */ words) =>
    h("button.link", { value: id, "aria-label": `Why ${id} has its rank`, click: () => open?.(id) }, words);
  return documentName(document, open && why);
}

/**
 * Return an entry of the left list, or of the right list, whose parts mirror those of the left one.
 * @param {Document} document @param {number | undefined} largestLabel
 * @param {((documentId: string) => void) | undefined} open
 * @param {HTMLElement} [moved] how far the document has moved, in the right list only
 */
function entry(document, largestLabel, open, moved) {
  const { document_id: id, rank, label, score } = document;
  const parts = [h("span.rank", count(rank)), moved, documentLabel(document, open), grade(label, largestLabel)];
  return h(
    moved ? "li" : "li.before",
    { "data-document": id, tabindex: open ? false : "0", title: `${id}: score ${score}` },
    moved ? parts.reverse() : parts,
  );
}

/**
 * Show how many ranks a document has moved. A document that is not in the left list was ranked below it, or is new.
 * @param {Document} document @param {Map<string, number>} indicesLeft @param {Schemas["SystemRanking"]} left
 */
function shift({ document_id: id, rank }, indicesLeft, { ranking, documents }) {
  const { length: top } = ranking;
  const index = indicesLeft.get(id);
  if (index === undefined && documents > top)
    return h("span.shift", { "data-shift": "up", title: `from below rank ${count(top)}` }, `↑${count(top)}+`);
  if (index === undefined)
    return h("span.shift", { "data-shift": "up", title: "not ranked by the other system" }, "new");
  return rankShift(ranking[index].rank - rank);
}

/**
 * Draw a line for each document, thicker for relevant documents. The line of a document that is in only one
 * list ends at the bottom of the other list.
 * @param {Side} left @param {Side} right @param {number} rows @param {number | undefined} largestLabel
 */
function lines(left, right, rows, largestLabel) {
  const [from, to] = [indexByDocument(left), indexByDocument(right)];
  /** @param {number | undefined} index */
  const height = (index) => (index === undefined ? (rows + 1) * ROW_HEIGHT : (index + 0.5) * ROW_HEIGHT);
  const line = (/** @type {Document} */ { document_id: id, label }) => {
    const [start, end] = [height(from.get(id)), height(to.get(id))];
    const path = `M0 ${start}C${WIDTH / 2} ${start} ${WIDTH / 2} ${end} ${WIDTH} ${end}`;
    const weight = 1 + (2 * Math.max(0, label || 0)) / Math.max(1, largestLabel || 0);
    return svg("path", {
      d: path,
      "data-document": id,
      "data-relevant": String((label ?? 0) > 0),
      "data-outside": !from.has(id) || !to.has(id),
      "stroke-width": weight,
    });
  };
  const documents = [...left.ranking, ...right.ranking.filter(({ document_id: id }) => !from.has(id))];
  return svg(
    "svg.moves",
    { viewBox: `0 0 ${WIDTH} ${rows * ROW_HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" },
    documents.map(line),
  );
}

/** @param {Schemas["SystemRanking"]} side */
function remainder({ documents, ranking }) {
  const rest = documents - ranking.length;
  return h("p.hint.remainder", rest > 0 ? `and ${count(rest)} more below` : "");
}

/** @param {Element | null} node */
const documentIdOf = (node) =>
  node instanceof HTMLElement || node instanceof SVGElement ? node.dataset.document : undefined;

/** @param {HTMLElement} node @param {string | undefined} id */
function highlight(node, id) {
  node.toggleAttribute("data-following", id !== undefined);
  for (const part of node.querySelectorAll("[data-document]"))
    part.toggleAttribute("data-followed", id !== undefined && documentIdOf(part) === id);
}

const TOP_DOCUMENTS = 20;

/**
 * Show one query of a comparison as ranked by both systems of a pair, with a field to choose another query.
 * @param {Schemas["Comparison"]} comparison
 * @param {(queryId: string) => void} onChoose called with the entered query id
 */
export function comparedQuery({ id, dataset_id: dataset, systems }, onChoose) {
  const title = h("h3", { tabindex: "-1" }, "One query, ranked by both systems");
  const field = searchField("Look at a query by its id", "Query ID", {
    keydown: (event) => {
      if (event.key === "Enter" && field.value) onChoose(field.value.trim());
    },
  });
  const container = h("div");
  const node = h("section.compared-query", { "aria-label": "One query, ranked by both systems" }, [
    h("div.panel-head", title, field),
    container,
  ]);
  const read = latestReader(container, (error, retry) => {
    replace(title, "One query, ranked by both systems");
    const isAbsent = error instanceof Problem && error.status === 404;
    replace(container, isAbsent ? problemBox(error) : failureBox(error, retry));
  });
  replace(container, hint("Choose a query above, or enter the ID of any query."));

  /** @param {string} queryId @param {Schemas["Pair"]} pair @param {string} metric */
  function show(queryId, pair, metric) {
    const query = new URLSearchParams({ query_id: queryId, top: String(TOP_DOCUMENTS) });
    return read(
      () => Promise.all([get(comparisonApi(id, `/rankings?${query}`)), largestLabel(dataset)]),
      ([{ systems: rankings, query_text: text }, largest]) => {
        const [left, right] = [rankings[pair.a], rankings[pair.b]];
        const link = h("a", { href: queryPage(dataset, queryId) }, text ?? queryId);
        replace(title, "Query ", link, text && h("small.hint", ` ${queryId}`));
        const why = reasonsPanel(dataset, queryId, [
          { ...left, ...systems[pair.a] },
          { ...right, ...systems[pair.b] },
        ]);
        replace(container, twoRankings(left, right, { metric, largestLabel: largest, open: why?.open }), why?.node);
      },
    );
  }

  return { node, show };
}
