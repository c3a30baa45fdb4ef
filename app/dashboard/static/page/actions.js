/** Actions of a card, which show a refusal of the API below the card. @module */
import { messageOf, Problem } from "./api.js";
import { h, replace } from "./dom.js";

/**
 * Return a function that runs an action and shows a refusal of the API.
 *
 * @param {HTMLElement} outcome where a refusal is shown
 * @param {() => unknown} done called after each action
 * @returns {(act: () => Promise<void>) => Promise<void>}
 */
export function actionRunner(outcome, done) {
  return async (act) => {
    replace(outcome);
    try {
      await act();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      replace(outcome, h("p", { class: "error", role: "alert" }, messageOf(error)));
    }
    done();
  };
}
