/**
 * Moving through a cursor-paged list with links, so that a page can be kept and shared.
 * @module
 */
import { h, replace } from "../page/dom.js";

/** The address of the API's page that the browser's address asks for. */
export function apiAddress(path, limit, filters = []) {
  const here = new URLSearchParams(location.search);
  const query = new URLSearchParams({ limit: String(limit) });
  for (const name of [...filters, "cursor"]) {
    if (here.get(name)) query.set(name, here.get(name));
  }
  return `${path}?${query}`;
}

/** Whether the newest entries are being shown. */
export function onFirstPage() {
  return !new URLSearchParams(location.search).has("cursor");
}

/** @param {string | null} nextCursor */
export function showPager(nextCursor) {
  const node = document.getElementById("pager");
  const link = (cursor) => {
    const query = new URLSearchParams(location.search);
    query.delete("cursor");
    if (cursor) query.set("cursor", cursor);
    return `${location.pathname}${query.size ? `?${query}` : ""}`;
  };
  const sorted = new URLSearchParams(location.search).has("sort");
  node.hidden = !nextCursor && onFirstPage();
  replace(
    node,
    !onFirstPage() && h("a", { class: "button quiet", href: link(null) }, sorted ? "First" : "Newest"),
    nextCursor && h("a", { class: "button quiet", href: link(nextCursor), rel: "next" }, sorted ? "Next" : "Older"),
  );
}
