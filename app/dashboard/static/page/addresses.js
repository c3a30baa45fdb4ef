/**
 * Paths of pages and of the API, and the state of a page in the hash of its URL.
 *
 * Paths are those of the application, such as `/jobs`, wherever it is served: `h`, `request` and `openPage` make URLs of
 * them, and `pagePath` makes a path of the page's URL.
 * @module
 */

/** The path of the host below which the application is served, such as `/rankery`; empty at its root. */
const ROOT = document.body.dataset.root || "";

/** Return the URL of an application path; other URLs are returned unchanged. @param {string} path */
export function urlOf(path) {
  return /^\/(?!\/)/.test(path) ? ROOT + path : path;
}

/** Return the base URL of the service for programs. */
export function serviceUrl() {
  return location.origin + ROOT;
}

/** Return the application path of this page, percent-encoded. */
export function pagePath() {
  const { pathname } = location;
  return ROOT && `${pathname}/`.startsWith(`${ROOT}/`) ? pathname.slice(ROOT.length) || "/" : pathname;
}

/** Open a page. @param {string} path */
export function openPage(path) {
  location.assign(urlOf(path));
}

/** @param {string} id of a report */
export function driftPage(id) {
  return `/drift/${encodeURIComponent(id)}`;
}

/** @param {string} id */
export function jobPage(id) {
  return `/jobs/${encodeURIComponent(id)}`;
}

/** Return the path of the page that compares trainings. @param {string[]} ids */
export function compareJobs(ids) {
  return `/jobs/compare?${new URLSearchParams(ids.map((id) => ["job", id]))}`;
}

/** @param {string} id @param {string} [view] */
export function datasetPage(id, view = "") {
  return `/datasets/${encodeURIComponent(id)}${view && `#${view}`}`;
}

/** @param {string} id */
export function clickLogPage(id) {
  return `/click-logs/${encodeURIComponent(id)}`;
}

/**
 * @template {string} [Below=""]
 * @param {string} id
 * @param {Below} [below] the rest of the path
 */
export function clickLogApi(id, below) {
  return apiPath("click-logs", id, below);
}

/** @param {string} id */
export function interleavingPage(id) {
  return `/interleavings/${encodeURIComponent(id)}`;
}

/**
 * @template {string} [Below=""]
 * @param {string} id
 * @param {Below} [below] the rest of the path, such as `/verdict`
 */
export function interleavingApi(id, below) {
  return apiPath("interleavings", id, below);
}

/** @param {string} id @param {string} queryId */
export function queryPage(id, queryId) {
  return `/datasets/${encodeURIComponent(id)}/queries/${encodeURIComponent(queryId)}`;
}

/**
 * Return the path of the dataset's page with the feature table filtered by a name.
 *
 * @param {string} id
 * @param {string} name
 */
export function featureView(id, name) {
  return datasetPage(id, `features=${encodeURIComponent(name)}`);
}

/**
 * @template {string} [Below=""]
 * @param {string} id
 * @param {Below} [below] the rest of the path, such as `/queries`
 */
export function datasetApi(id, below) {
  return apiPath("datasets", id, below);
}

/**
 * Return the API's path of one resource, typed so that `get` infers the type of the response.
 *
 * @template {string} Collection
 * @template {string} [Below=""]
 * @param {Collection} collection
 * @param {string} id
 * @param {Below} [below]
 */
function apiPath(collection, id, below) {
  const path = `/v1/${collection}/${encodeURIComponent(id)}${below ?? ""}`;
  return /** @type {`/v1/${Collection}/${string}${Below}`} */ (path);
}

/** Return a part of a URL as text; a malformed percent encoding is returned unchanged. @param {string} part */
export function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/**
 * @template {string} [Below=""]
 * @param {string} id
 * @param {Below} [below] the rest of the path, such as `/queries`
 */
export function evaluationApi(id, below) {
  return apiPath("evaluations", id, below);
}

/**
 * @template {string} [Below=""]
 * @param {string} id
 * @param {Below} [below] the rest of the path, such as `/queries`
 */
export function comparisonApi(id, below) {
  return apiPath("comparisons", id, below);
}

/** Kinds of jobs that the training form submits. */
const TRAINING_KINDS = ["train", "auto-train"];

/** Return the path of the form filled in from a job, null where its kind has no form. @param {{kind: string, id: string}} job */
export function formFrom({ kind, id }) {
  return TRAINING_KINDS.includes(kind) ? `/train?from=${encodeURIComponent(id)}` : null;
}

/** @param {string} ref id or `name:version` */
export function modelPage(ref) {
  return `/models/${encodeURIComponent(ref).replace("%3A", ":")}`;
}

/**
 * @template {string} [Below=""]
 * @param {string} ref id or `name:version`
 * @param {Below} [below] the rest of the path, such as `/trees/0`
 */
export function modelApi(ref, below) {
  return apiPath("models", ref, below);
}

/** @param {string} id */
export function rankingPage(id) {
  return `/rankings/${encodeURIComponent(id)}`;
}

/** @param {string} id */
export function evaluationPage(id) {
  return `/evaluations/${encodeURIComponent(id)}`;
}

/** @param {string} id */
export function comparisonPage(id) {
  return `/comparisons/${encodeURIComponent(id)}`;
}

/**
 * @template {string} [Below=""]
 * @param {string} id
 * @param {Below} [below] the query string
 */
export function rankingApi(id, below) {
  return apiPath("rankings", id, below);
}

/** @param {string} id */
export function studyPage(id) {
  return `/studies/${encodeURIComponent(id)}`;
}

/**
 * @template {string} [Below=""]
 * @param {string} id
 * @param {Below} [below] the rest of the path, such as `/trials`
 */
export function studyApi(id, below) {
  return apiPath("studies", id, below);
}

/** @param {string} id */
export function experimentPage(id) {
  return `/experiments/${encodeURIComponent(id)}`;
}

/**
 * @template {string} [Below=""]
 * @param {string} id
 * @param {Below} [below] the rest of the path, such as `/trainings`
 */
export function experimentApi(id, below) {
  return apiPath("experiments", id, below);
}

/** Return the path of the comparison form with systems and a dataset selected. @param {string[]} systems references of models, ids of rankings */
export function compareWith(systems, dataset = "") {
  const chosen = new URLSearchParams(systems.map((system) => ["system", system]));
  if (dataset) chosen.set("dataset", dataset);
  return `/comparisons?${chosen}#compare`;
}

/** Return a value of the state in the URL's hash. @param {string} name @returns {string | null} */
export function hashValue(name) {
  return new URLSearchParams(location.hash.slice(1)).get(name);
}

/** Change the state in the URL's hash; empty values are removed. @param {Record<string, string | number>} changed */
export function setHashValues(changed) {
  const all = new URLSearchParams(location.hash.slice(1));
  for (const [name, value] of Object.entries(changed)) {
    if (value === "") all.delete(name);
    else all.set(name, String(value));
  }
  history.replaceState(null, "", all.size ? `#${all}` : location.pathname + location.search);
}

/** Return the id or name in this page's path: `web:3` for `/models/web%3A3`. */
export function pageObjectId() {
  return decoded(pagePath().split("/")[2]);
}
