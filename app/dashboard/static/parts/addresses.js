/**
 * Where a dataset and its queries are, as pages and in the API. Ids are whatever the data calls them.
 * @module
 */

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
