/**
 * Large files, sent in parts by the tus protocol: after a broken connection the upload goes on where it stopped, also
 * in a page that is opened later.
 * @module
 */
import { urlOf } from "../page/addresses.js";
import { Away, failure, signIn } from "../page/api.js";

/** Files above it are sent in parts. */
export const RESUMABLE_BYTES = 100e6;
const PART_BYTES = 64 * 2 ** 20;
const PATIENCE = 8;
const LONGEST_WAIT_SECONDS = 30;
const TUS = { "tus-resumable": "1.0.0" };

/**
 * Send a file; resolves to the id of the upload, or to null when stopped.
 *
 * @param {File} file
 * @param {(sent: number) => void} onProgress bytes of the file
 * @param {AbortSignal} signal
 * @returns {Promise<string | null>}
 */
export async function sendResumable(file, onProgress, signal) {
  const key = `rankery-upload:${file.name}:${file.size}:${file.lastModified}`;
  let path = localStorage.getItem(key);
  let offset = path === null ? null : await offsetOf(path);
  if (path === null || offset === null) {
    path = await created(file);
    offset = 0;
    localStorage.setItem(key, path);
  }
  let failures = 0;
  while (offset < file.size) {
    onProgress(offset);
    try {
      const from = offset;
      offset = await sendPart(path, file, from, (sent) => onProgress(from + sent), signal);
      failures = 0;
    } catch (error) {
      if (signal.aborted) return null;
      failures += 1;
      if (!(error instanceof Away) || failures > PATIENCE) throw error;
      await new Promise((resume) => setTimeout(resume, 1000 * Math.min(LONGEST_WAIT_SECONDS, 2 ** (failures - 1))));
      offset = (await offsetOf(path).catch(() => null)) ?? offset;
    }
  }
  localStorage.removeItem(key);
  return path.split("/").at(-1) ?? "";
}

/** @param {File} file @returns {Promise<string>} path of the upload */
async function created(file) {
  const name = btoa(String.fromCharCode(...new TextEncoder().encode(file.name)));
  const headers = { ...TUS, "upload-length": String(file.size), "upload-metadata": `filename ${name}` };
  const answer = await fetch(urlOf("/v1/uploads"), { method: "POST", headers }).catch(() => {
    throw new Away("The API does not answer.");
  });
  if (answer.status === 401) return signIn();
  if (!answer.ok) throw failure(answer.status, await answer.text());
  return `/v1/uploads/${(await answer.json()).id}`;
}

/** Return how many bytes the API has, null where it does not know the upload. @param {string} path */
async function offsetOf(path) {
  const answer = await fetch(urlOf(path), { method: "HEAD", headers: TUS }).catch(() => null);
  const offset = answer?.ok ? answer.headers.get("upload-offset") : null;
  return offset === null ? null : Number(offset);
}

/**
 * Send one part by a request that tells its progress, which fetch does not.
 *
 * @param {string} path
 * @param {File} file
 * @param {number} offset
 * @param {(sent: number) => void} onProgress bytes of the part
 * @param {AbortSignal} signal
 * @returns {Promise<number>} the offset after it
 */
function sendPart(path, file, offset, onProgress, signal) {
  const transfer = new XMLHttpRequest();
  return new Promise((resolve, reject) => {
    transfer.upload.addEventListener("progress", ({ loaded }) => onProgress(loaded));
    transfer.addEventListener("load", () => {
      const next = Number(transfer.getResponseHeader("upload-offset"));
      // Another request writes, or wrote, to it: the offset is asked for anew.
      const passing = transfer.status === 409 || transfer.status === 423 || transfer.status >= 500;
      if (transfer.status === 204) resolve(next);
      else if (passing) reject(new Away("The upload was interrupted."));
      else reject(failure(transfer.status, transfer.responseText));
    });
    transfer.addEventListener("error", () => reject(new Away("The API does not answer.")));
    transfer.addEventListener("abort", () => reject(new Away("The upload was stopped.")));
    signal.addEventListener("abort", () => transfer.abort());
    transfer.open("PATCH", urlOf(path));
    for (const [name, value] of Object.entries(TUS)) transfer.setRequestHeader(name, value);
    transfer.setRequestHeader("upload-offset", String(offset));
    transfer.setRequestHeader("content-type", "application/offset+octet-stream");
    transfer.send(file.slice(offset, offset + PART_BYTES));
  });
}
