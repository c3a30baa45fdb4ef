/**
 * Where things are, as pages and in the API. Ids of queries are whatever the data calls them.
 * @module
 */

/** @param {string} id */
export function jobPage(id) {
  return `/jobs/${encodeURIComponent(id)}`;
}

/** The page that lays trainings side by side. @param {string[]} ids */
export function compareJobs(ids) {
  return `/jobs/compare?${new URLSearchParams(ids.map((id) => ["job", id]))}`;
}

/** @param {string} id @param {string} [view] */
export function datasetPage(id, view = "") {
  return `/datasets/${encodeURIComponent(id)}${view && `#${view}`}`;
}

/** @param {string} id @param {string} queryId */
export function queryPage(id, queryId) {
  return `/datasets/${encodeURIComponent(id)}/queries/${encodeURIComponent(queryId)}`;
}

/** The address of the dataset's page whose feature table is narrowed to a name. */
export function featureView(id, name) {
  return datasetPage(id, `features=${encodeURIComponent(name)}`);
}

/** @param {string} id @param {string} [below] */
export function datasetApi(id, below = "") {
  return `/v1/datasets/${encodeURIComponent(id)}${below}`;
}

/** A part of an address as text; what is typed by hand may hold a % that escapes nothing. */
export function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** @param {string} id @param {string} [below] */
export function evaluationApi(id, below = "") {
  return `/v1/evaluations/${encodeURIComponent(id)}${below}`;
}

/** @param {string} id @param {string} [below] */
export function comparisonApi(id, below = "") {
  return `/v1/comparisons/${encodeURIComponent(id)}${below}`;
}

/** @param {string} ref id or `name:version` */
export function modelPage(ref) {
  return `/models/${encodeURIComponent(ref).replace("%3A", ":")}`;
}

/** @param {string} ref @param {string} [below] */
export function modelApi(ref, below = "") {
  return `/v1/models/${encodeURIComponent(ref)}${below}`;
}

/** @param {string} id */
export function rankingPage(id) {
  return `/rankings/${encodeURIComponent(id)}`;
}

/** @param {string} id @param {string} [asked] */
export function rankingApi(id, asked = "") {
  return `/v1/rankings/${encodeURIComponent(id)}${asked}`;
}

/** The form that compares, with systems and a dataset chosen. @param {string[]} systems references of models, ids of rankings */
export function compareWith(systems, dataset = "") {
  const chosen = new URLSearchParams(systems.map((system) => ["system", system]));
  if (dataset) chosen.set("dataset", dataset);
  return `/comparisons?${chosen}#compare`;
}
