/**
 * What its owners say of a model, and what they mark it with, changed where it stands.
 * @module
 */
import { request } from "../page/api.js";
import { modelApi } from "../page/addresses.js";
import { announce, h, replace } from "../page/dom.js";
import { onSubmit } from "../forms/forms.js";
import { tagList } from "./tag_list.js";

/** @param {any} model */
export function saidPanel(model) {
  const body = h("div", { class: "said" });
  const edit = h("button", { type: "button", class: "quiet small", click: () => write(model) }, "Edit");
  const node = h("section", { class: "panel" }, h("div", { class: "panel-head" }, h("h2", {}, "Description"), edit), body);

  function read(newModel) {
    model = newModel;
    edit.hidden = false;
    const { description, tags } = model;
    replace(
      body,
      description ? h("p", { class: "description" }, description) : h("p", { class: "hint" }, "No description yet."),
      Object.keys(tags).length > 0 && h("p", { class: "model-marks" }, tagList(tags)),
    );
  }

  function write({ description, tags }) {
    const words = h("textarea", { rows: 3, "data-pointer": "/description" }, description || "");
    const lines = h("textarea", { rows: Math.max(2, Object.keys(tags).length + 1), "data-pointer": "/tags", spellcheck: "false" }, linesOf(tags));
    const form = /** @type {HTMLFormElement} */ (
      h(
        "form",
        { class: "form", novalidate: true },
        h("div", { class: "summary", hidden: true }),
        h("label", { class: "field" }, "Description", words),
        h("label", { class: "field" }, "Tags ", h("small", {}, "one a line: team: search"), lines),
        h("div", { class: "actions" }, h("button", { type: "submit", class: "primary" }, "Save"), h("button", { type: "button", class: "quiet", click: cancel }, "Cancel")),
      )
    );
    onSubmit(form, async () => {
      const wanted = tagsOf(lines.value);
      const gone = Object.fromEntries(Object.keys(tags).filter((name) => !(name in wanted)).map((name) => [name, null]));
      const json = { description: words.value.trim() || null, tags: { ...gone, ...wanted } };
      read((await request(modelApi(model.id), { method: "PATCH", json })).body);
      announce("Saved.");
      edit.focus();
    });
    edit.hidden = true;
    replace(body, form);
    words.focus();
  }

  function cancel() {
    read(model);
    edit.focus();
  }

  read(model);
  return node;
}

function linesOf(tags) {
  return Object.entries(tags).map(([name, value]) => (value ? `${name}: ${value}` : name)).join("\n");
}

/** A tag's name holds no colon; its value may. */
function tagsOf(text) {
  const lines = text.split("\n").map((line) => line.trim()).filter(Boolean);
  return Object.fromEntries(
    lines.map((line) => {
      const [name, ...value] = line.split(":");
      return [name.trim(), value.join(":").trim()];
    }),
  );
}
