/**
 * One alias: where it points, what can be done with it, its gate and its history.
 * @module
 */
import { freshKey, request } from "../page/api.js";
import { aliasHistory } from "./alias_history.js";
import { modelPage } from "../page/addresses.js";
import { confirmed } from "../page/confirm.js";
import { announce, h, replace } from "../page/dom.js";
import { timeElement } from "../page/format.js";
import { gatePanel } from "./gate_panel.js";
import { failureBox } from "../page/loaded.js";
import { aliasApi, setAlias } from "./set_alias.js";

/**
 * @param {any} model the version whose page this is
 * @param {{alias: string, version: number, gated: boolean, updated_at: string}} of
 * @param {() => void} changed called once it points elsewhere
 */
export function aliasCard(model, of, changed) {
  const { alias, version, updated_at: updated } = of;
  const { name } = model;
  const place = h("div", { class: "alias-job", hidden: true });
  const history = aliasHistory(name, alias);
  const action = (words, kind, act) => {
    const button = h("button", { type: "button", class: kind, click: run }, words);
    async function run() {
      button.disabled = true;
      try {
        await act();
      } catch (error) {
        place.hidden = false;
        replace(place, failureBox(error, run));
      } finally {
        button.disabled = false;
      }
    }
    return button;
  };

  /** Why a gate refused stays in sight; where it let the version pass, the history tells why. */
  async function move() {
    if (await setAlias(model, alias, place)) changed();
    else history.refresh();
  }

  async function rollBack() {
    const words = { question: `Roll ${name}@${alias} back?`, consequence: `It goes back to the version before its last move, at once and past its gate. Whatever calls it is served by that version from then on.`, yes: "Roll back", no: "Leave it" };
    if (!(await confirmed(words))) return;
    const { body } = await request(aliasApi(name, alias, "/rollback"), { method: "POST", headers: { "idempotency-key": freshKey() } });
    announce(`${name}@${alias} is version ${body.version} again.`);
    changed();
  }

  async function remove() {
    const words = { question: `Remove ${name}@${alias}?`, consequence: "Whatever calls it is refused from then on. Its history and its gate stay.", yes: "Remove", no: "Keep it" };
    if (!(await confirmed(words))) return;
    await request(aliasApi(name, alias), { method: "DELETE" });
    announce(`${name}@${alias} was removed.`);
    changed();
  }

  return h(
    "article",
    { class: "panel alias", "data-alias": alias },
    h(
      "div",
      { class: "panel-head" },
      h("h2", {}, h("span", { class: "alias-name" }, `@${alias}`), " is ", version === model.version ? "this version" : h("a", { href: modelPage(`${name}:${version}`) }, `version ${version}`), h("small", {}, " since ", timeElement(updated))),
      h(
        "div",
        { class: "actions" },
        version !== model.version && action(`Promote version ${model.version}`, "small", move),
        action("Roll back", "quiet small", rollBack),
        action("Remove", "quiet small danger", remove),
      ),
    ),
    place,
    gatePanel(name, of),
    history.node,
  );
}
