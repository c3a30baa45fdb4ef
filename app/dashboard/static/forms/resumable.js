/**
 * Large files, sent in parts by the tus protocol: after a broken connection the upload continues where it stopped, also
 * in a page that is opened later. @module
 */
import { failure, fetchPath, signIn, transfer, Unavailable } from "../page/api.js";
import { store, stored } from "../page/storage.js";

/** Files above this size are sent in parts. */
export const RESUMABLE_BYTES = 100e6;
const PART_BYTES = 64 * 2 ** 20;
const MAX_FAILURES = 8;
const MAX_WAIT_SECONDS = 30;
const TUS = { "tus-resumable": "1.0.0" };
/** Statuses below 500 after which a part is sent again from the offset that the API reports. */
const RETRYABLE_STATUSES = [408, 409, 423, 429];
const INSUFFICIENT_STORAGE = 507;

/**
 * State of an upload: bytes are being sent, it resumes at an offset, or the connection is lost.
 * @typedef {"sending" | "resumed" | "waiting"} UploadState
 */

/**
 * Send the file of a field, and return the id of the upload, or null if it was stopped.
 * @param {string} field name of the field; one file may be chosen in several
 * @param {File} file
 * @param {(sent: number, state: UploadState) => void} onProgress called with the number of bytes sent
 * @param {AbortSignal} signal @returns {Promise<string | null>}
 */
export async function sendResumable(field, file, onProgress, signal) {
  let offset = 0;
  async function send() {
    const upload = (await readUpload(field, file)) ?? (await createUpload(field, file));
    offset = upload.offset;
    onProgress(offset, "resumed");
    while (offset < file.size) {
      const from = offset;
      offset = await sendPart(upload.path, file, from, (sent) => onProgress(from + sent, "sending"), signal);
    }
    return upload.path.split("/").at(-1) ?? "";
  }
  return persist(
    send,
    () => onProgress(offset, "waiting"),
    signal,
    () => offset,
  );
}

/** Forget the upload of a field, once a request has used it. @param {string} field @param {File} file */
export function forget(field, file) {
  store(keyOf(field, file), null);
}

/**
 * Retry an action while the API is unreachable, until there is no progress for about two minutes.
 * @template T @param {() => Promise<T>} action @param {() => void} onWait @param {AbortSignal} signal
 * @param {() => number} [progress]
 * @returns {Promise<T | null>} null if it was stopped
 */
export async function persist(action, onWait, signal, progress = () => 0) {
  let failures = 0;
  let furthest = progress();
  while (!signal.aborted) {
    try {
      return await action();
    } catch (error) {
      if (signal.aborted) break;
      failures = progress() > furthest ? 1 : failures + 1;
      furthest = Math.max(furthest, progress());
      if (!(error instanceof Unavailable) || failures > MAX_FAILURES) throw error;
      onWait();
      await pause(Math.min(MAX_WAIT_SECONDS, 2 ** (failures - 1)), signal);
    }
  }
  return null;
}

/** Wait for some seconds, or until the network is back or the signal aborts. @param {number} seconds @param {AbortSignal} signal */
async function pause(seconds, signal) {
  const over = new AbortController();
  await new Promise((resolve) => {
    setTimeout(resolve, 1000 * seconds);
    addEventListener("online", resolve, { signal: over.signal });
    signal.addEventListener("abort", resolve, { signal: over.signal });
  });
  over.abort();
}

/** @param {string} field @param {File} file */
const keyOf = (field, file) => `rankery-upload:${field}:${file.name}:${file.size}:${file.lastModified}`;

/** Return the unfinished upload of a field, or null. @param {string} field @param {File} file */
async function readUpload(field, file) {
  const path = stored(keyOf(field, file));
  const offset = path === null ? null : await offsetOf(path);
  return path === null || offset === null ? null : { path, offset };
}

/** Begin an upload and remember it. @param {string} field @param {File} file */
async function createUpload(field, file) {
  const name = btoa(String.fromCharCode(...new TextEncoder().encode(file.name)));
  const headers = { ...TUS, "upload-length": String(file.size), "upload-metadata": `filename ${name}` };
  const answer = await fetchPath("/v1/uploads", { method: "POST", headers });
  if (answer.status === 401) return signIn();
  if (!answer.ok) throw failure(answer.status, await answer.text());
  const path = `/v1/uploads/${(await answer.json()).id}`;
  store(keyOf(field, file), path);
  return { path, offset: 0 };
}

/** Return the number of bytes that the API has, or null if the upload has expired or was used. @param {string} path */
async function offsetOf(path) {
  const answer = await fetchPath(path, { method: "HEAD", headers: TUS });
  if (answer.status === 401) return signIn();
  if (answer.status === 404 || answer.status === 410) return null;
  if (!answer.ok) throw retryableFailure(answer.status, "");
  return Number(answer.headers.get("upload-offset"));
}

/** Return the error of a refused request, `Unavailable` if the request can be retried. @param {number} status @param {string} text */
function retryableFailure(status, text) {
  const error = failure(status, text);
  const isRetryable = RETRYABLE_STATUSES.includes(status) || (status >= 500 && status !== INSUFFICIENT_STORAGE);
  return isRetryable ? new Unavailable(error.message) : error;
}

/**
 * Send one part.
 * @param {string} path @param {File} file @param {number} offset
 * @param {(sent: number) => void} onProgress called with the number of bytes of the part that were sent
 * @param {AbortSignal} signal
 * @returns {Promise<number>} the offset after the part
 */
async function sendPart(path, file, offset, onProgress, signal) {
  const type = "application/offset+octet-stream";
  const headers = { ...TUS, "upload-offset": String(offset), "content-type": type };
  const body = file.slice(offset, offset + PART_BYTES);
  const answer = await transfer("PATCH", path, { body, headers, onProgress, signal });
  if (answer.status !== 204) throw retryableFailure(answer.status, answer.responseText);
  return Number(answer.getResponseHeader("upload-offset"));
}
