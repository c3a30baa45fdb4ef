/**
 * What ranks: models, and runs from elsewhere.
 * @module
 */
import { get } from "../page/api.js";

const PAGE = 200;
const RANKING = /^rnk_/;

/** What the API calls a reference. @param {string} reference @returns {{model: string} | {ranking_id: string}} */
export function asSystem(reference) {
  return RANKING.test(reference) ? { ranking_id: reference } : { model: reference };
}

/** The newest of them. @returns {Promise<{reference: string, name: string, detail: string}[]>} */
export async function readOffered() {
  const [models, runs] = await Promise.all([get(`/v1/models?limit=${PAGE}`), get(`/v1/rankings?uploaded=true&limit=${PAGE}`)]);
  return [
    ...models.items.map(({ name, version, aliases, loss }) => ({
      reference: `${name}:${version}`,
      name: `${name}:${version}`,
      detail: [loss?.name, ...aliases.map((alias) => `@${alias}`)].filter(Boolean).join(" "),
    })),
    ...runs.items.map(({ id, system }) => ({ reference: id, name: system, detail: "uploaded run" })),
  ];
}
