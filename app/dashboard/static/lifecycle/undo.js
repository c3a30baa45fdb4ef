/**
 * The notice after a deletion, with the button to undo it.
 * @module
 */
import { openPage } from "../page/addresses.js";
import { messageOf, request } from "../page/api.js";
import { elementById, h, replace } from "../page/dom.js";
import { counted } from "../page/format.js";
import { resumePolling } from "../page/poll.js";

/**
 * A deletion: "3 jobs deleted.", and the ids of objects to restore; none where the trash has nothing of it,
 * null where the page does not know them.
 * @typedef {{words: string, ids: string[] | null}} Deleted
 */

const KEY = "rankery-deleted";

/** Return a sentence about how long a deletion can be undone. */
export function trashLabel() {
  const days = Number(document.body.dataset.trashDays);
  return days ? `It can be restored from the trash for ${counted(days, "day")}.` : "It cannot be brought back.";
}

/** Return the objects of a deletion that went to the trash. @param {string} words @param {string[]} ids */
export function trashed(words, ids) {
  return { words, ids: Number(document.body.dataset.trashDays) ? ids : [] };
}

/** Announce a deletion, and offer to undo it. @param {Deleted} deleted */
export function offerUndo({ words, ids }) {
  const notice = elementById("undo");
  const close = h(
    "button",
    { type: "button", class: "quiet small", "aria-label": "Dismiss", click: () => (notice.hidden = true) },
    "×",
  );
  const undo = h("button", { type: "button", class: "small", click: restore }, "Undo");
  async function restore() {
    undo.disabled = true;
    try {
      replace(notice, await restored(ids ?? []), close);
      close.focus();
      resumePolling();
    } catch (error) {
      undo.disabled = false;
      replace(notice, h("span", { class: "error" }, messageOf(error)), undo, close);
    }
  }
  notice.hidden = false;
  replace(
    notice,
    h("span", {}, words),
    ids === null ? h("a", { href: "/settings/storage" }, "Trash") : ids.length > 0 && undo,
    close,
  );
}

/** Restore objects, and return whether that succeeded. @param {string[]} ids */
async function restored(ids) {
  const { body } = await request("/v1/trash/restore", { method: "POST", json: { ids } });
  const some = Object.keys(body.restored).length > 0;
  return h("span", {}, some ? "Restored." : "Nothing was restored: the trash does not hold it any more.");
}

/** Open a page that announces a deletion. @param {string} path @param {Deleted} deleted */
export function openAfterDeletion(path, deleted) {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(deleted));
  } catch {
    // Without storage the page of the trash restores it.
  }
  openPage(path);
}

/** Announce a deletion on the previous page. */
export function offerCarriedUndo() {
  let carried = null;
  try {
    carried = sessionStorage.getItem(KEY);
    sessionStorage.removeItem(KEY);
  } catch {
    // Nothing was carried.
  }
  if (carried) offerUndo(JSON.parse(carried));
}
