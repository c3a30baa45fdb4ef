/**
 * Documents of a dataset scored by a model with the reasons, by the public endpoints for both.
 * @module
 */
import { get, request } from "../page/api.js";
import { datasetApi, modelApi } from "../page/addresses.js";

const PAGE = 1000;
// JSON has no infinities: beyond all thresholds the largest numbers go the same ways.
const LARGEST = 3e38;

/**
 * @typedef {{id: string, label: number | null, features: Record<string, number | null>}} Candidate
 */

/**
 * A query's documents as candidates for scoring, all of them or those wanted.
 * @param {string} datasetId
 * @param {string} queryId
 * @param {{most?: number, wanted?: Set<string>}} which
 * @returns {Promise<{candidates: Candidate[], total: number}>}
 */
export async function readCandidates(datasetId, queryId, { most = Infinity, wanted }) {
  const found = [];
  let total = 1;
  for (let offset = 0; offset < Math.min(total, most); offset += PAGE) {
    const page = await get(datasetApi(datasetId, `/queries/${encodeURIComponent(queryId)}?offset=${offset}&limit=${Math.min(PAGE, most)}`));
    total = page.total;
    const chosen = wanted ? page.documents.filter(({ document_id: id }) => wanted.has(id)) : page.documents;
    found.push(...chosen.map((document) => candidate(document, page.feature_names)));
    if (wanted && found.length === wanted.size) break;
  }
  return { candidates: found, total };
}

function candidate({ document_id: id, label, features }, names) {
  return { id, label, features: Object.fromEntries(names.map((name, index) => [name, features[index] === null ? null : Number(features[index])])) };
}

/**
 * What a model is asked about candidates: the features that it knows, and no others.
 * @param {{feature_names: string[]}} model
 * @param {Candidate[]} candidates
 */
export function question({ feature_names: names }, queryId, candidates) {
  const known = (features) => Object.fromEntries(names.filter((name) => typeof features[name] === "number").map((name) => [name, Math.max(-LARGEST, Math.min(LARGEST, features[name]))]));
  return { queries: [{ id: queryId, documents: candidates.map(({ id, features }) => ({ id, features: known(features) })) }], explain: true };
}

/** @param {string} ref @returns {Promise<{id: string, rank: number, score: number, explanation: any}[]>} the best first */
export async function scored(ref, asked) {
  const { body } = await request(modelApi(ref, "/rank"), { method: "POST", json: asked });
  return body.queries[0].ranking;
}
