/**
 * Asking before what cannot be undone.
 * @module
 */
import { h } from "./dom.js";

/**
 * @param {{question: string, consequence: string, yes: string, no: string}} words
 * @returns {Promise<boolean>}
 */
export function confirmed({ question, consequence, yes, no }) {
  const dialog = /** @type {HTMLDialogElement} */ (
    h(
      "dialog",
      { "aria-label": question },
      h(
        "form",
        { method: "dialog" },
        h("h2", {}, question),
        h("p", { class: "hint" }, consequence),
        h("div", { class: "actions end" }, h("button", { value: "no", class: "quiet" }, no), h("button", { value: "yes", class: "danger" }, yes)),
      ),
    )
  );
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
  });
}
