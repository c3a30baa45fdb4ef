/** Notice after a deletion, with a button to undo it. @module */
import { openPage } from "../page/paths.js";
import { messageOf, request } from "../page/api.js";
import { elementById, h, replace } from "../page/dom.js";
import { counted } from "../page/format.js";
import { resumePolling } from "../page/poll.js";
import { store, stored } from "../page/storage.js";

/**
 * A deletion: `words` such as "3 jobs deleted.", and the ids of the objects in the trash, empty if they are not
 * there. `create` recreates an object that was not moved to the trash, and returns a sentence about the result.
 * @typedef {{words: string, ids: string[], create?: () => Promise<string>}} Deleted
 */

/** Maximum number of objects that one request restores. */
const MAX_RESTORED = 1000;

const KEY = "rankery-deleted";

/** Return a sentence about how long a deletion can be undone. */
export function trashLabel() {
  const days = Number(document.body.dataset.trashDays);
  return days ? `It can be restored from the trash for ${counted(days, "day")}.` : "It cannot be restored.";
}

/** Return a deletion, with ids only if there is a trash. @param {string} words @param {string[]} ids */
export const trashed = (words, ids) => ({ words, ids: Number(document.body.dataset.trashDays) ? ids : [] });

/** Announce a deletion, and offer to undo it. @param {Deleted} deleted */
export function offerUndo({ words, ids, create }) {
  const notice = elementById("undo");
  const close = h("button.quiet.small", { "aria-label": "Dismiss", click: () => (notice.hidden = true) }, "×");
  const undo = h("button.small", { click: restore }, "Undo");
  async function restore() {
    undo.disabled = true;
    try {
      replace(notice, h("span", await (create ? create() : restored(ids))), close);
      close.focus();
      resumePolling();
    } catch (error) {
      undo.disabled = false;
      replace(notice, h("span.error", messageOf(error)), undo, close);
    }
  }
  notice.hidden = false;
  replace(notice, h("span", words), (create || ids.length > 0) && undo, close);
}

/** Restore objects, and return a sentence about whether that succeeded. @param {string[]} ids */
async function restored(ids) {
  let some = false;
  for (let at = 0; at < ids.length; at += MAX_RESTORED) {
    const json = { ids: ids.slice(at, at + MAX_RESTORED) };
    const { body } = await request("/v1/trash/restore", { method: "POST", json });
    some ||= Object.keys(body.restored).length > 0;
  }
  return some ? "Restored." : "Nothing was restored: the trash no longer contains the objects.";
}

/** Open a page that announces a deletion. @param {string} path @param {Deleted} deleted */
export function openAfterDeletion(path, deleted) {
  store(KEY, JSON.stringify(deleted), "sessionStorage"); // without storage, the page of the trash restores objects
  openPage(path);
}

/** Offer to undo a deletion that was made on the previous page. */
export function offerPendingUndo() {
  const pending = stored(KEY, "sessionStorage");
  store(KEY, null, "sessionStorage");
  if (pending) offerUndo(JSON.parse(pending));
}
