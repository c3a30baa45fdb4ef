/** Requests to the public API: JSON in, JSON or a typed error out. @module */
import { openPage, pagePath, urlOf } from "./paths.js";
import { pointerLabel } from "./format.js";

/** The API refused a request, with an RFC 9457 problem. */
export class Problem extends Error {
  /** @param {number} status @param {{title?: string, detail?: string, errors?: {pointer: string, detail: string}[]}} body */
  constructor(status, body) {
    const errors = body.errors || [];
    const detail = errors.reduce(
      (words, { pointer }) => (pointer ? words.replace(`${pointer}: `, `${pointerLabel(pointer)}: `) : words),
      body.detail || "",
    );
    super(detail || body.title || `The API answered with status ${status}.`);
    this.status = status;
    this.title = body.title || "The API refused";
    this.errors = errors;
  }
}

/** The API did not answer or is not ready: the request can be retried. */
export class Unavailable extends Error {}

/**
 * @param {string} path @param {{method?: string, json?: unknown, headers?: Record<string, string>}} [options]
 * @returns {Promise<{status: number, etag: string | null, body: any}>}
 */
export async function request(path, { method = "GET", json, headers = {} } = {}) {
  /** @type {Record<string, string>} */ const all = { accept: "application/json", ...headers };
  if (json !== undefined) all["content-type"] = "application/json";
  const body = json === undefined ? undefined : JSON.stringify(json);
  // The browser revalidates its copy; a caller with an ETag gets a 304, which needs no parsing.
  const cache = headers["if-none-match"] ? "no-store" : "no-cache";
  const response = await fetchPath(path, { method, body, headers: all, cache });
  if (response.status === 401) return signIn();
  const text = await response.text().catch(() => null);
  if (response.status >= 400) throw failure(response.status, text ?? "");
  if (text === null) throw new Unavailable("The answer of the API was lost.");
  return { status: response.status, etag: response.headers.get("etag"), body: text ? parsed(text) : null };
}

/** Parse an answer; a proxy with an expired session answers 200 with its own page. @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Unavailable("The answer is not from the API, but from a proxy. Reload the page, for example to sign in.");
  }
}

/** Fetch an application path; a lost connection is `Unavailable`. @param {string} path @param {RequestInit} options */
export async function fetchPath(path, options) {
  try {
    return await fetch(urlOf(path), options);
  } catch {
    throw new Unavailable("The API does not answer.");
  }
}

/**
 * Send a request with progress events, which fetch lacks.
 * @param {string} method @param {string} path
 * @param {{body: FormData | Blob, headers: Record<string, string>, onProgress: (sent: number, total: number) => void,
 *   signal: AbortSignal}} options onProgress: called with numbers of bytes
 * @returns {Promise<XMLHttpRequest>} the answered request; rejects as `Unavailable` where there is no answer
 */
export async function transfer(method, path, { body, headers, onProgress, signal }) {
  if (signal.aborted) throw new Unavailable("The upload was stopped.");
  const sent = new XMLHttpRequest();
  const ended = new AbortController();
  return new Promise((resolve, reject) => {
    sent.upload.addEventListener("progress", ({ loaded, total }) => onProgress(loaded, total));
    sent.addEventListener("load", () => (sent.status === 401 ? signIn() : resolve(sent)));
    sent.addEventListener("error", () => reject(new Unavailable("The API does not answer.")));
    sent.addEventListener("abort", () => reject(new Unavailable("The upload was stopped.")));
    sent.addEventListener("loadend", () => ended.abort());
    signal.addEventListener("abort", () => sent.abort(), { signal: ended.signal });
    sent.open(method, urlOf(path));
    for (const [name, value] of Object.entries(headers)) sent.setRequestHeader(name, value);
    sent.send(body);
  });
}

/** Open the sign-in page, which returns here; the promise never settles. @returns {Promise<never>} */
export function signIn() {
  const here = pagePath() + location.search + location.hash;
  openPage(`/sign-in?next=${encodeURIComponent(here)}`);
  return new Promise(() => {});
}

/** Return the error of a refused request. @param {number} status @param {string} text */
export function failure(status, text) {
  /** @type {{title?: string, detail?: string}} */ let body = {};
  try {
    body = JSON.parse(text);
  } catch {
    // A proxy may answer with HTML, so that only the status is known.
  }
  if (status === 502 || status === 503 || status === 504) {
    return new Unavailable(body.detail || "The API is not ready.");
  }
  return new Problem(status, body);
}

/**
 * Check whether the API refused a request permanently. A caller above its rate limit (429) may send the request again.
 * @param {unknown} error @returns {error is Problem}
 */
export const isFinal = (error) => error instanceof Problem && error.status < 500 && error.status !== 429;

/** Return an error of the API; an error of the page is thrown again. @param {unknown} error */
export function apiError(error) {
  if (error instanceof Problem || error instanceof Unavailable) return error;
  throw error;
}

/** Return the message of a thrown value. @param {unknown} error */
export const messageOf = (error) => (error instanceof Error ? error.message : String(error));

/**
 * Return the body of the API's answer, whose type follows from the path.
 * @template {string} Path @param {Path} path @returns {Promise<Answer<Path>>}
 */
export const get = async (path) => (await request(path)).body;

/** Return a function that reads once, and again after a failure. @template Found @param {() => Promise<Found>} read */
export function readOnce(read) {
  /** @type {Promise<Found> | null} */ let result = null;
  return () =>
    (result ??= read().catch((error) => {
      result = null;
      throw error;
    }));
}

/** @type {Map<string, () => Promise<any>>} */ const readers = new Map();

/**
 * Return the answer for a path as `get` does, read once a page: for answers that change only with the version of the API.
 * @template {string} Path @param {Path} path @returns {Promise<Answer<Path>>}
 */
export function getOnce(path) {
  const reader = readers.get(path) ?? readOnce(() => get(path));
  readers.set(path, reader);
  return reader();
}

/**
 * Read all pages of a list.
 * @template {string} Path
 * @param {Path} path of the first page, with a query
 * @param {(path: Path) => Promise<any>} [read]
 */
export async function getAll(path, read = get) {
  /** @type {PageItem<Path>[]} */ const items = [];
  const [pathname, query] = path.split("?");
  const parameters = new URLSearchParams(query);
  for (let next = path; ;) {
    const page = await read(next);
    items.push(...page.items);
    if (!page.next_cursor) return items;
    parameters.set("cursor", page.next_cursor);
    next = /** @type {Path} */ (`${pathname}?${parameters}`);
  }
}

let newAnswerCount = 0;

/** Return the number of responses to conditional readers that were not 304. */
export const newAnswers = () => newAnswerCount;

/**
 * Return a reader that keeps the last response for a path and sends If-None-Match.
 * It returns the same object as long as nothing has changed.
 * @returns {<Path extends string>(path: Path) => Promise<Answer<Path>>}
 */
export function conditionalReader() {
  /** @type {{path: string, etag: string | null, body: any} | null} */
  let last = null;
  return async (path) => {
    const known = last?.path === path ? last : null;
    const answer = await request(path, { headers: known?.etag ? { "if-none-match": known.etag } : {} });
    if (known && answer.status === 304) return known.body;
    last = { path, etag: answer.etag, body: answer.body };
    newAnswerCount += 1;
    return answer.body;
  };
}

/**
 * Return a function that creates an object, or acts on one, by POST. A retry after a lost connection does so only once.
 * @returns {<Path extends string>(path: Path, json: unknown) => Promise<Answer<Path, "post">>}
 */
export function creator() {
  const repeated = idempotentSender();
  return async (path, json) => {
    const answer = await repeated(path + JSON.stringify(json), (key) =>
      request(path, { method: "POST", json, headers: { "idempotency-key": key } }),
    );
    return answer.body;
  };
}

/**
 * Return a function that sends a request with an Idempotency-Key. Requests with the same contents have the same key
 * until an answer has been read, or the request was refused permanently, also while others are sent.
 * @returns {<Found>(contents: string, send: (key: string) => Promise<Found>) => Promise<Found>} the answer of `send`
 *   is null if the request was stopped
 */
export function idempotentSender() {
  /** @type {Map<string, string>} */ const keys = new Map();
  return async (contents, send) => {
    const key = keys.get(contents) ?? newIdempotencyKey();
    keys.set(contents, key);
    try {
      const answer = await send(key);
      if (answer !== null) keys.delete(contents);
      return answer;
    } catch (error) {
      if (isFinal(error)) keys.delete(contents);
      throw error;
    }
  };
}

/** Return a random Idempotency-Key. crypto.randomUUID exists only on https and localhost; this works everywhere. */
export function newIdempotencyKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
