/**
 * Uploading what a form holds with its progress, which fetch does not tell.
 * @module
 */
import { Away, failure, freshKey, signIn } from "../page/api.js";
import { payloadOf } from "./forms.js";

/**
 * @param {string} path
 * @param {FormData} form
 * @param {(sent: number, total: number) => void} onProgress bytes
 * @returns {{done: Promise<any>, abort: () => void}} done resolves to the answer's JSON, or null when stopped
 */
export function upload(path, form, onProgress) {
  const transfer = new XMLHttpRequest();
  const done = new Promise((resolve, reject) => {
    transfer.upload.addEventListener("progress", (event) => onProgress(event.loaded, event.total));
    transfer.addEventListener("load", () => {
      if (transfer.status === 401) signIn();
      else if (transfer.status >= 400) reject(failure(transfer.status, transfer.responseText));
      else resolve(JSON.parse(transfer.responseText));
    });
    transfer.addEventListener("error", () => reject(new Away("The API does not answer.")));
    transfer.addEventListener("abort", () => resolve(null));
  });
  transfer.open("POST", path);
  transfer.setRequestHeader("accept", "application/json");
  transfer.setRequestHeader("idempotency-key", freshKey());
  transfer.send(form);
  return { done, abort: () => transfer.abort() };
}

/**
 * What a form holds: its texts first, so that the server knows how to read before it has read.
 * @param {HTMLFormElement} form
 */
export function contentsOf(form) {
  const data = new FormData();
  for (const [name, value] of Object.entries(payloadOf(form))) data.append(name, typeof value === "string" ? value : JSON.stringify(value));
  for (const input of form.querySelectorAll('input[type="file"]:enabled')) {
    if (input.files.length) data.append(input.name, input.files[0]);
  }
  return data;
}
