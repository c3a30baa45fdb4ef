/** Search hits in the guide. @module */
import { urlOf } from "./paths.js";

/** @typedef {{path: string, title: string, page: string}} Heading */

const MAX_HITS = 5;
/** @type {Promise<Heading[]> | null} */ let headings = null;

/** Check whether every word of a text begins a word of a name. @param {string} name @param {string} text */
export function matches(name, text) {
  const words = name.toLowerCase().split(/[\s/([“]+/);
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((part) => words.some((word) => word.startsWith(part)));
}

/**
 * Return the pages and headings of the guide that match a text, pages first.
 * @param {Heading[]} all @param {string} text
 */
export function guideHits(all, text) {
  return all
    .filter(({ title }) => matches(title, text))
    .slice(0, MAX_HITS)
    .map(({ path, title, page }) => ({ name: title, detail: page, href: `/guide/${path}` }));
}

/** Read the headings once; none where the guide is not built. @returns {Promise<Heading[]>} */
export function guideHeadings() {
  headings ??= fetch(urlOf("/guide/headings.json"))
    .then((response) => (response.ok ? response.json() : []))
    .catch(() => {
      headings = null; // the next search reads them again
      return [];
    });
  return headings;
}
