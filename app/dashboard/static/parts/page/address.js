/**
 * What is looked at on a page, kept behind the # of its address without a step in the history.
 * @module
 */
import { decoded } from "./addresses.js";

/** @param {string} name @returns {string | null} */
export function kept(name) {
  return new URLSearchParams(location.hash.slice(1)).get(name);
}

/** Empty values are forgotten. @param {Record<string, string | number>} changed */
export function keep(changed) {
  const all = new URLSearchParams(location.hash.slice(1));
  for (const [name, value] of Object.entries(changed)) {
    if (value === "") all.delete(name);
    else all.set(name, String(value));
  }
  history.replaceState(null, "", all.size ? `#${all}` : location.pathname + location.search);
}

/** The part of the address after the page's own name: `/models/web%3A3` is about `web:3`. */
export function subject() {
  return decoded(location.pathname.split("/")[2]);
}
