/** Action buttons, and functions that run actions and show the API's refusals. @module */
import { apiError } from "./api.js";
import { failureBox } from "./content.js";
import { h, replace } from "./dom.js";
import { problemBox } from "./parts.js";

/**
 * Return a function that runs an action and shows a refusal of the API.
 * @param {HTMLElement} outcome where a refusal is shown
 * @param {() => unknown} done called after each action
 * @returns {(act: () => Promise<unknown>) => Promise<void>}
 */
export function actionRunner(outcome, done) {
  return async (act) => {
    replace(outcome);
    try {
      await act();
    } catch (error) {
      replace(outcome, h("p.error", { role: "alert" }, apiError(error).message));
    }
    done();
  };
}

/**
 * Return a button that is disabled while its action runs.
 * @param {string} words
 * @param {string} kind class of the button
 * @param {() => Promise<unknown>} act
 * @param {HTMLElement | ((error: unknown, retry: () => void) => unknown)} refused shows a refusal; in an element, it
 *   replaces the content, and is removed when the action begins again
 * @param {Attributes} [attributes]
 */
export function actionButton(words, kind, act, refused, attributes = {}) {
  const button = h("button", { class: kind, click: run, ...attributes }, words);
  /** @param {unknown} error */
  function showRefusal(error) {
    if (typeof refused === "function") return refused(error, run);
    const box = failureBox(error, run);
    box.dataset.refusal = "";
    refused.hidden = false;
    return replace(refused, box);
  }
  async function run() {
    const hadFocus = document.activeElement !== document.body;
    if (typeof refused !== "function") refused.querySelector(":scope > [data-refusal]")?.remove();
    button.disabled = true;
    try {
      await act();
    } catch (error) {
      showRefusal(error);
    } finally {
      button.disabled = false;
      // A disabled button and a removed "Try again" lose the focus, and a dialog does not return it.
      if (hadFocus && document.activeElement === document.body) button.focus({ preventScroll: true });
    }
  }
  return button;
}

/**
 * Return a function that makes buttons of actions that need the scope write; all show refusals in the same element.
 * @param {HTMLElement} container
 * @param {() => unknown} done called after each action that was not refused
 * @returns {(words: string, act: () => Promise<unknown>, kind?: string) => HTMLButtonElement}
 */
export function actionButtons(container, done) {
  return (words, act, kind = "quiet") =>
    actionButton(
      words,
      kind,
      async () => {
        replace(container);
        await act();
        done();
      },
      (error) => replace(container, problemBox(apiError(error))),
      { needs: "write" },
    );
}
