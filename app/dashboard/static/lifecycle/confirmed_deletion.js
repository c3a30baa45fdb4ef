/** Button that deletes the object of a page after a confirmation. @module */
import { refusal, request } from "../page/api.js";
import { alertText, confirmed, h } from "../page/dom.js";
import { pausePolling, resumePolling } from "../page/poll.js";

/**
 * @param {string} name of the object
 * @param {string} path of the API
 * @param {string} consequence a sentence
 * @param {() => void} leave opens another page after the deletion
 */
export function confirmedDeleteButton(name, path, consequence, leave) {
  const button = h("button.quiet.danger", { "aria-label": `Delete ${name}`, click }, "Delete");
  async function click() {
    button.parentElement?.querySelector(".error")?.remove();
    if (await confirmed({ question: `Delete ${name}?`, consequence, yes: "Delete", no: "Keep it" })) await remove();
    button.focus();
  }
  async function remove() {
    await pausePolling();
    try {
      await request(path, { method: "DELETE" });
    } catch (error) {
      resumePolling();
      button.after(alertText(refusal(error).message));
      return;
    }
    leave();
  }
  return button;
}
