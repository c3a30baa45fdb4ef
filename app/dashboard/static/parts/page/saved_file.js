/**
 * A file that only a POST answers with, handed to the browser to be saved.
 * @module
 */
import { Away, failure } from "./api.js";
import { h } from "./dom.js";

/** @param {string} path @param {unknown} json */
export async function saved(path, json) {
  let response;
  try {
    response = await fetch(path, { method: "POST", body: JSON.stringify(json), headers: { "content-type": "application/json" } });
  } catch {
    throw new Away("The API does not answer.");
  }
  if (!response.ok) throw failure(response.status, await response.text());
  const address = URL.createObjectURL(await response.blob());
  const [, name] = /filename="([^"]+)"/.exec(response.headers.get("content-disposition")) || [];
  h("a", { href: address, download: name || "" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
