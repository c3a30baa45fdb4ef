/**
 * The aliases of a model's name: where each points, what it asks for before it moves, and what was done with it.
 * @module
 */
import { get } from "../page/api.js";
import { aliasCard } from "./alias_card.js";
import { modelApi } from "../page/addresses.js";
import { h, replace } from "../page/dom.js";
import { onSubmit } from "../forms/forms.js";
import { failureBox } from "../page/loaded.js";
import { setAlias } from "./set_alias.js";

/** @param {any} model @returns {Promise<Node[]>} */
export async function aliasesView(model) {
  const list = h("div", { class: "models" });
  await refresh();
  return [list, newAlias(model, refresh)];

  /** Draws all of them anew: one that moves may have been another's. */
  async function refresh() {
    const { items } = await get(modelApi(model.name, "/aliases"));
    const again = () => refresh().catch((error) => replace(list, failureBox(error, again)));
    const nothing = h("p", { class: "hint nothing-yet" }, `${model.name} has no alias yet. An alias is a name that stays while versions come and go: what calls ${model.name}@champion is served by the version that it points at.`);
    replace(list, ...(items.length ? items.map((alias) => aliasCard(model, alias, again)) : [nothing]));
  }
}

function newAlias(model, done) {
  const name = h("input", { type: "text", "data-pointer": "/alias", autocomplete: "off", spellcheck: "false", placeholder: "champion" });
  const place = h("div", { hidden: true });
  const form = /** @type {HTMLFormElement} */ (
    h(
      "form",
      { class: "panel form alias-form", novalidate: true },
      h("h2", {}, "Another alias"),
      h("div", { class: "summary", hidden: true }),
      h("label", { class: "field" }, "Name ", h("small", {}, "lower case letters, digits, . _ -"), name),
      h("div", { class: "actions" }, h("button", { type: "submit", class: "primary" }, `Promote version ${model.version}`)),
      place,
    )
  );
  onSubmit(form, async () => {
    if (!name.value.trim()) return name.focus();
    if (!(await setAlias(model, name.value.trim(), place))) return;
    name.value = "";
    await done();
  });
  return form;
}
