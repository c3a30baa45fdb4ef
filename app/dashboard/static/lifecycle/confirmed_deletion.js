/** Button that deletes the object of a page after a confirmation. @module */
import { apiError, request } from "../page/api.js";
import { h } from "../page/dom.js";
import { alertText, confirmed } from "../page/parts.js";
import { pausePolling, resumePolling } from "../page/poll.js";
import { openAfterDeletion, trashed } from "./undo.js";
import { openPage } from "../page/paths.js";

/**
 * Return the button that deletes the object of a page after a confirmation, and opens the list of its kind. The list
 * offers to restore an object from the trash.
 * @param {"click-logs" | "datasets" | "interleavings" | "studies"} kind @param {{id: string, name: string}} object
 * @param {string} consequence a sentence
 */
export function confirmedDeleteButton(kind, { id, name }, consequence) {
  const button = h("button.quiet.danger", { "aria-label": `Delete ${name}`, click, needs: "write" }, "Delete");
  async function click() {
    button.parentElement?.querySelector(".error")?.remove();
    if (await confirmed(`Delete ${name}?`, "Delete", consequence)) await remove();
    button.focus();
  }
  async function remove() {
    await pausePolling();
    try {
      await request(`/v1/${kind}/${encodeURIComponent(id)}`, { method: "DELETE" });
    } catch (error) {
      resumePolling();
      button.after(alertText(apiError(error).message));
      return;
    }
    // Interleavings are deleted permanently.
    if (kind === "interleavings") openPage("/interleavings");
    else openAfterDeletion(`/${kind}`, trashed(`${name} deleted.`, [id]));
  }
  return button;
}
