/**
 * Paths of pages and of the API, and the state of a page in the hash of its URL.
 *
 * All paths are application paths, such as `/jobs`, without the host path below which the application is served.
 * `h`, `request` and `openPage` add the host path, and `pagePath` removes it from the page's URL. @module
 */

/** The path of the host below which the application is served, such as `/rankery`; empty at its root. */
const ROOT = document.body.dataset.root || "";

/** Return the URL of an application path; other URLs are returned unchanged. @param {string} path */
export const urlOf = (path) => (/^\/(?!\/)/.test(path) ? ROOT + path : path);

/** Return the base URL of the service for programs. */
export const serviceUrl = () => location.origin + ROOT;

/** Return the application path of a URL, percent-encoded. @param {{pathname: string}} [url] by default this page's */
export const pagePath = ({ pathname } = location) =>
  ROOT && `${pathname}/`.startsWith(`${ROOT}/`) ? pathname.slice(ROOT.length) || "/" : pathname;

/** Open a page. @param {string} path */
export function openPage(path) {
  location.assign(urlOf(path));
}

/** Return a function from the id of an object to the path of its page. @param {string} collection */
function pagesOf(collection) {
  return (/** @type {string} */ id) => `/${collection}/${encodeURIComponent(id)}`;
}

export const clickLogPage = pagesOf("click-logs");
export const comparisonPage = pagesOf("comparisons");
export const driftPage = pagesOf("drift");
export const evaluationPage = pagesOf("evaluations");
export const experimentPage = pagesOf("experiments");
export const interleavingPage = pagesOf("interleavings");
export const jobPage = pagesOf("jobs");
export const rankingPage = pagesOf("rankings");
export const studyPage = pagesOf("studies");

/**
 * Return a function that makes the API path of an object from its id or reference, and an optional further
 * path such as `/queries`. The path is typed so that `get` infers the type of the response.
 * @template {string} Collection @param {Collection} collection
 * @returns {<Below extends string = "">(id: string, below?: Below) => `/v1/${Collection}/${string}${Below}`}
 */
function apiOf(collection) {
  return (id, below) => /** @type {any} */ (`/v1/${collection}/${encodeURIComponent(id)}${below ?? ""}`);
}

export const clickLogApi = apiOf("click-logs");
export const comparisonApi = apiOf("comparisons");
export const datasetApi = apiOf("datasets");
export const driftReportApi = apiOf("drift-reports");
export const evaluationApi = apiOf("evaluations");
export const experimentApi = apiOf("experiments");
export const interleavingApi = apiOf("interleavings");
export const jobApi = apiOf("jobs");
export const modelApi = apiOf("models");
export const rankingApi = apiOf("rankings");
export const studyApi = apiOf("studies");

/** Return the path of a job's page, which opens its result as soon as there is one. @param {string} id */
export const resultPage = (id) => `${jobPage(id)}#result`;

/** Open the page of a new job, which shows its result as soon as there is one. @param {{id: string}} job */
export function openResult({ id }) {
  openPage(resultPage(id));
}

/** Return the path of the page that compares trainings. @param {string[]} ids */
export const compareJobsPage = (ids) => `/jobs/compare?${new URLSearchParams(ids.map((id) => ["job", id]))}`;

/** @param {string} id @param {string} [view] */
export const datasetPage = (id, view = "") => `/datasets/${encodeURIComponent(id)}${view && `#${view}`}`;

/** @param {string} id @param {string} queryId */
export const queryPage = (id, queryId) => `/datasets/${encodeURIComponent(id)}/queries/${encodeURIComponent(queryId)}`;

/** Return the path of a dataset's feature table, filtered by a name. @param {string} id @param {string} name */
export const featureTablePage = (id, name) => datasetPage(id, `features=${encodeURIComponent(name)}`);

/** Return a part of a URL as text; a malformed percent encoding is returned unchanged. @param {string} part */
export function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Kinds of jobs that the training form submits. */
const TRAINING_KINDS = ["train", "auto-train"];

/** Return the path of the form filled in from a job, null where its kind has no form. @param {{kind: string, id: string}} job */
export const trainingFormPage = ({ kind, id }) =>
  TRAINING_KINDS.includes(kind) ? `/train?from=${encodeURIComponent(id)}` : null;

/** @param {string} ref id or `name:version` */
export const modelPage = (ref) => `/models/${encodeURIComponent(ref).replace("%3A", ":")}`;

/** Pages of objects by the API's names of their kinds, in the order of search results. @type {Record<string, (id: string) => string>} */
export const OBJECT_PAGES = {
  model: modelPage,
  job: jobPage,
  dataset: datasetPage,
  evaluation: evaluationPage,
  comparison: comparisonPage,
  ranking: rankingPage,
  study: studyPage,
  experiment: experimentPage,
  "click-log": clickLogPage,
  interleaving: interleavingPage,
};

/** Return the path of the comparison form with systems and a dataset selected. @param {string[]} systems references of models, ids of rankings */
export function comparisonFormPage(systems, dataset = "") {
  const chosen = new URLSearchParams(systems.map((system) => ["system", system]));
  if (dataset) chosen.set("dataset", dataset);
  return `/comparisons?${chosen}#compare`;
}

/** Return a value of the state in the URL's hash. @param {string} name @returns {string | null} */
export const hashValue = (name) => new URLSearchParams(location.hash.slice(1)).get(name);

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
export const pageObjectId = () => decoded(pagePath().split("/")[2]);
