/**
 * A list of the API that the address narrows and pages through, kept current.
 * @module
 */
import { conditionalReader, Problem } from "../page/api.js";
import { problemBox, replace } from "../page/dom.js";
import { apiAddress, showPager } from "./pager.js";
import { poll } from "../page/poll.js";

/**
 * @param {HTMLElement} place
 * @param {string} path of the API
 * @param {{limit: number, filters: string[]}} asked
 * @param {(items: any[]) => (Node | null)[]} draw called with what has changed
 * @returns {() => void} ask again, now
 */
export function pagedList(place, path, { limit, filters }, draw) {
  const read = conditionalReader();
  const address = () => apiAddress(path, limit, filters);
  let shown = null;

  async function refresh() {
    let asked;
    // What is narrowed while an answer is under way asks for another.
    do {
      asked = address();
      await show(asked);
    } while (asked !== address());
    return false;
  }

  async function show(asked) {
    const page = await read(asked).catch(refused);
    if (page === shown) return;
    shown = page;
    place.removeAttribute("aria-busy");
    if (page) {
      showPager(page.next_cursor);
      replace(place, ...draw(page.items));
    }
  }

  /** What is typed may be no filter; the next one may be. */
  function refused(error) {
    if (!(error instanceof Problem) || error.status !== 422) throw error;
    replace(place, problemBox(error));
    return null;
  }

  return poll(refresh, (problem) => {
    place.removeAttribute("aria-busy");
    replace(place, problemBox(problem));
  });
}
