/** Documents scored by a model, and the contributions of their features. @module */
import { signed } from "../evaluation/verdict.js";
import { featureValue } from "../figures/marks.js";
import { datasetApi, modelApi } from "../page/paths.js";
import { get, Problem, request } from "../page/api.js";
import { h, svg } from "../page/dom.js";
import { columnHead, rowHead } from "../page/parts.js";
import { count } from "../page/format.js";

const FIRST_ROWS = 8;

/** @typedef {{name: string, value?: Child, adds: number, kind?: string}} Row */

/** @param {Explanation} explanation */
export function contributions({ base, contributions: all }) {
  const [shown, rest] = [all.slice(0, FIRST_ROWS), all.slice(FIRST_ROWS)];
  /** @type {(Row | false)[]} */ const entries = [
    ...shown.map(({ feature, value, contribution }) => ({
      name: feature,
      value: featureValue(value),
      adds: contribution,
    })),
    rest.length > 0 && {
      name: `${count(rest.length)} more`,
      adds: rest.reduce((sum, { contribution }) => sum + contribution, 0),
    },
    { name: "Base score", adds: base, kind: "base" },
  ];
  const rows = entries.filter((each) => each !== false);
  const scale = Math.max(...rows.map(({ adds }) => Math.abs(adds)), Number.MIN_VALUE);
  return h("table.contributions", [
    h("caption", "Contribution of each feature to the score"),
    h("thead.visually-hidden", [
      h("tr", ...["Feature", "Value", "Bar", "Contribution"].map((words) => columnHead(words))),
    ]),
    h("tbody", ...rows.map((each) => row(each, scale))),
  ]);
}

/** @param {Row} row @param {number} scale */
function row({ name, value = "", adds, kind }, scale) {
  return h("tr", { class: kind }, [
    rowHead(h("span.name", { title: name }, name)),
    h("td.number", value),
    h("td.bar-cell", signedBar(adds / scale)),
    h("td.number", signed(adds, 4)),
  ]);
}

/** Return a bar from the middle to the left for a negative share, to the right for a positive one. @param {number} share −1 to 1 */
export function signedBar(share) {
  const width = 50 * Math.min(1, Math.abs(share));
  return svg("svg.balance", { viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" }, [
    svg("rect", { class: share < 0 ? "lowers" : "raises", x: share < 0 ? 50 - width : 50, y: 1, width, height: 6 }),
    svg("line", { x1: 50, x2: 50, y1: 0, y2: 8 }),
  ]);
}

const PAGE_SIZE = 1000;
// JSON has no infinities. A value near the largest float32 passes the same thresholds as infinity.
const LARGEST = 3e38;

/**
 * @typedef {Record<string, number | string | null | (number | null)[]>} Pasted features of a document in a request
 * @typedef {{id: string, label: number | null, features: Record<string, number | string | null>, title?: string | null, url?: string | null}} Candidate
 */
/** @typedef {NonNullable<Schemas["ScoredDocument"]["explanation"]>} Explanation */
/** @typedef {Schemas["ScoredDocument"] & {score: number, explanation: Explanation}} Scored */
/** @typedef {ReturnType<typeof rankRequest>} RankRequest */

/**
 * Return the documents of a query as candidates for scoring: all of them, the first `most`, or those with
 * `wanted` ids.
 * @param {string} datasetId @param {string} queryId @param {{most?: number, wanted?: Set<string>}} which
 * @returns {Promise<{candidates: Candidate[], total: number, text: string | null}>} text: what the user searched for
 */
export async function readCandidates(datasetId, queryId, { most = Infinity, wanted }) {
  /** @type {Candidate[]} */ const candidates = [];
  let total = 1;
  /** @type {string | null} */ let text = null;
  for (let offset = 0; offset < Math.min(total, most); offset += PAGE_SIZE) {
    const page = await get(
      datasetApi(
        datasetId,
        `/queries/${encodeURIComponent(queryId)}?offset=${offset}&limit=${Math.min(PAGE_SIZE, most)}`,
      ),
    );
    total = page.total;
    text = page.query_text ?? null;
    const chosen = wanted ? page.documents.filter(({ document_id: id }) => wanted.has(id)) : page.documents;
    candidates.push(...chosen.map((document) => candidateOf(document, page)));
    if (wanted && candidates.length === wanted.size) break;
  }
  return { candidates, total, text };
}

/**
 * Return a document as a candidate. Categories are texts, since codes of the dataset may differ from those of the model.
 * @param {Schemas["JudgedDocument"]} document
 * @param {Pick<Schemas["JudgedQuery"], "feature_names" | "categories">} query @returns {Candidate}
 */
export function candidateOf(
  { document_id: id, document_title: title, document_url: url, label, features },
  { feature_names: names, categories = {} },
) {
  /** @param {string} name @param {number | string | null} value */
  const shown = (name, value) => (value === null ? null : (categories[name]?.[String(value)] ?? Number(value)));
  return {
    id,
    title,
    url,
    label,
    features: Object.fromEntries(names.map((name, index) => [name, shown(name, features[index])])),
  };
}

/**
 * Return a request to rank candidates with only the features of the model.
 * @param {{feature_names: string[]}} model @param {string} queryId @param {Candidate[]} candidates
 */
export function rankRequest({ feature_names: names }, queryId, candidates) {
  const featuresOfModel = (/** @type {Candidate["features"]} */ features) =>
    Object.fromEntries(
      names.flatMap((name) => {
        /** @type {[string, number | string][]} */ const missing = [];
        const value = features[name];
        if (typeof value === "string") return [[name, value]];
        return typeof value === "number" ? [[name, Math.max(-LARGEST, Math.min(LARGEST, value))]] : missing;
      }),
    );
  return {
    queries: [
      { id: queryId, documents: candidates.map(({ id, features }) => ({ id, features: featuresOfModel(features) })) },
    ],
    explain: true,
  };
}

/** Read the JSON of a request. @param {string} text @param {string[]} names of features @returns {Candidate[]} */
export function candidatesOf(text, names) {
  const candidates = parsed(text, names);
  for (const { id, features } of candidates) {
    const unknown = Object.keys(features).find((name) => !names.includes(name));
    if (unknown !== undefined) throw notSent(`document ${id}: ${unknown} is not a feature of the model`);
  }
  return candidates;
}

/** @param {string} text @param {string[]} names @returns {Candidate[]} */
function parsed(text, names) {
  try {
    /** @type {{id: unknown, features: (number | null)[] | Pasted}[]} */
    const documents = JSON.parse(text).queries[0].documents;
    return documents.map(({ id, features }) => ({
      id: String(id),
      label: null,
      features: Array.isArray(features) ? byName(features, names) : unfolded(features ?? {}),
    }));
  } catch {
    const example = '{"queries": [{"id": "q1", "documents": [{"id": "d1", "features": {}}]}]}';
    throw notSent(`must be JSON such as ${example}${/\bNaN\b/.test(text) ? "; write null for a missing value" : ""}`);
  }
}

/** @param {string} detail */
const notSent = (detail) => new Problem(422, { title: "Not sent", errors: [{ pointer: "/queries", detail }] });

/** Replace the list of an embedding by a feature for each of its numbers. @param {Pasted} features */
const unfolded = (features) =>
  Object.fromEntries(
    Object.entries(features).flatMap(([name, value]) =>
      Array.isArray(value) ? value.map((number, index) => [`${name}.${index}`, number]) : [[name, value]],
    ),
  );

/** @param {(number | null)[]} values @param {string[]} names */
const byName = (values, names) => Object.fromEntries(names.map((name, index) => [name, values[index] ?? null]));

/** Return the features that have a text, a category, in any candidate. @param {Candidate[]} candidates */
export const categoriesIn = (candidates) =>
  new Set(
    candidates.flatMap(({ features }) => Object.keys(features).filter((name) => typeof features[name] === "string")),
  );

/**
 * Remove the texts that a model refused because its features are numbers, so that they count as missing, as in an
 * evaluation.
 * @param {Candidate[]} candidates
 * @param {unknown} error the refusal of their ranking
 * @returns {string[]} the features, empty if the error has another reason
 */
export function removeRefusedTexts(candidates, error) {
  const pointers = error instanceof Problem ? error.errors.map(({ pointer }) => pointer) : [];
  const names = [...categoriesIn(candidates)].filter((name) => {
    const end = `/features/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    return pointers.some((pointer) => pointer.endsWith(end));
  });
  for (const { features } of candidates) for (const name of names) features[name] = null;
  return names;
}

/**
 * Return the value of a field: null if it is empty, the text of a category, else a number, NaN for other texts.
 * @param {string} text @param {boolean} isCategory
 */
export function valueOfField(text, isCategory) {
  const trimmed = text.trim();
  if (trimmed === "") return null;
  return isCategory ? trimmed : Number(trimmed);
}

/** Rank documents with a model. @param {string} ref @param {RankRequest} json @returns {Promise<Scored[]>} the best first */
export async function rankDocuments(ref, json) {
  const { body } = await request(modelApi(ref, "/rank"), { method: "POST", json });
  return body.queries[0].ranking;
}
