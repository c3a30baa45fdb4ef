/** Selection of a dialog: the selected rows of a list, or all objects that match its filters. @module */
import { h, setText } from "../page/dom.js";
import { hint } from "../page/parts.js";
import { count, counted } from "../page/format.js";

/** Maximum number of refused objects in a list. */
const MAX_LISTED = 20;

/** @typedef {import("../tables/paged_list.js").ActiveFilter} ActiveFilter */
/** @typedef {{ids: string[]} | {filter: Record<string, Json>}} Scope */

/**
 * @param {string} kind plural
 * @param {string[]} ids of the selected objects
 * @param {ActiveFilter[] | undefined} filters of their list; undefined where there is no list
 * @param {() => void} changed called when the other choice is made
 */
export function scopeChoice(kind, ids, filters, changed) {
  const words = filters?.map(({ label, text }) => `${label} ${text}`).join(", ");
  const matching = h("span");
  const all = h("input", { type: "radio", name: "scope", value: "matching", change: changed });
  const selected = h("input", { type: "radio", name: "scope", value: "selected", checked: true, change: changed });

  /** @param {number | null} number null before it is known */
  function showCount(number) {
    const some = number === null ? "All" : `All ${count(number)}`;
    setText(matching, words ? ` ${some} that match: ${words}` : ` ${some} ${kind}`);
  }

  showCount(null);
  return {
    node:
      filters &&
      h("fieldset.inner", [
        h("legend", "Selection"),
        h("label.check", selected, ` ${count(ids.length)} selected`),
        h("label.check", all, matching),
      ]),
    /** Return the part of the request that selects the objects. @returns {Scope} */
    payload: () => (all.checked ? { filter: filterOf(filters ?? []) } : { ids }),
    /** "3 jobs", "all jobs that match" @param {number | null} number of those that match, null before it is known */
    words(number) {
      if (!all.checked) return countedKind(kind, ids.length);
      showCount(number);
      return number === null ? `all ${kind} that match` : countedKind(kind, number);
    },
  };
}

/** Return the sentence above the counts of a preview that is not complete. */
export const soFar = () => h("p", "There are too many objects to count in a minute. Counted so far:");

/**
 * List the first refused objects.
 * @template Refused @param {Refused[]} refused @param {number} number of all refused objects
 * @param {(refused: Refused) => HTMLElement} entry
 */
export function refusedList(refused, number, entry) {
  const shown = refused.slice(0, MAX_LISTED);
  const more = number - shown.length;
  return [h("ul.holders", ...shown.map(entry)), ...(more > 0 ? [hint(`And ${count(more)} more.`)] : [])];
}

/** Return the filter of the API. @param {ActiveFilter[]} filters @returns {Record<string, Json>} */
function filterOf(filters) {
  if (!filters.length) return { all: true };
  return Object.fromEntries(filters.map(({ name, value }) => [name, valueOf(name, value)]));
}

/** @param {string} name @param {string} value @returns {Json} */
function valueOf(name, value) {
  if (name === "tag") return [value];
  if (name === "latest" || name === "uploaded") return value === "true";
  return value;
}

/** "1 job", "3 jobs" @param {string} kind plural @param {number} number */
export const countedKind = (kind, number) => counted(number, kind.slice(0, -1), kind);
