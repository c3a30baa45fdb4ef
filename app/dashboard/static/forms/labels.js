/** A panel that shows the name, notes, tags and project of a job or a model, with a form to edit them. @module */
import { field, textInput } from "./controls.js";
import { onSubmit } from "./forms.js";
import { request } from "../page/api.js";
import { actionRow, announce, h, hint, panelHead, replace } from "../page/dom.js";

/**
 * @typedef {object} Labels
 * @property {string | null} [name] display name that a user entered, or null
 * @property {string | null} notes
 * @property {Record<string, string>} tags
 * @property {string | null} project
 */

/**
 * @typedef {object} LabelsOptions
 * @property {string} heading
 * @property {string} path of the API, which takes a PATCH
 * @property {{name: string, notes: string}} members names of the API's fields for the name and the notes
 * @property {string} list URL of the list page, which can be filtered by tags and project
 * @property {(answer: any) => Labels} read the labels from the response
 * @property {(answer: any) => void} [changed]
 */

/** @param {Labels} labels @param {LabelsOptions} options */
export function labelsPanel(labels, { heading, path, members, list, read, changed = () => {} }) {
  const body = h("div", { class: "labels-text" });
  const edit = h("button", { class: "quiet small", click: showForm }, "Edit");
  const node = h("section", { class: "panel" }, panelHead(h("h2", {}, heading), edit), body);

  /** @param {Labels} now */
  function show(now) {
    labels = now;
    edit.hidden = false;
    const { name, notes, tags, project } = labels;
    const isMarked = Object.keys(tags).length > 0 || project;
    replace(
      body,
      name && h("p", {}, h("strong", {}, name)),
      notes ? h("p", { class: "description" }, notes) : hint(`No ${heading.toLowerCase()} yet.`),
      isMarked && h("p", { class: "model-marks" }, project && projectTag(project, list), tagList(tags, list)),
    );
  }

  function showForm() {
    const { name, notes, tags, project } = labels;
    const line = (/** @type {string | null | undefined} */ value, /** @type {string} */ pointer) =>
      textInput({ "data-pointer": pointer, value: value ?? "" });
    const nameField = line(name, `/${members.name}`);
    const words = h("textarea", { rows: 3, "data-pointer": `/${members.notes}` }, notes || "");
    const rows = Math.max(2, Object.keys(tags).length + 1);
    const lines = h("textarea", { rows, "data-pointer": "/tags", spellcheck: "false" }, linesOf(tags));
    const projectField = line(project, "/project");
    const form = h(
      "form",
      { class: "form", novalidate: true },
      h("div", { class: "summary", hidden: true }),
      field(["Display name ", h("small", {}, "leave empty for the default name")], nameField),
      field(heading, words),
      field(["Tags ", h("small", {}, "one per line, such as team: search")], lines),
      field(["Project ", h("small", {}, "leave empty for none")], projectField),
      actionRow(
        h("button", { type: "submit", class: "primary" }, "Save"),
        h("button", { class: "quiet", click: cancel }, "Cancel"),
      ),
    );
    onSubmit(form, async () => {
      const newTags = tagsOf(lines.value);
      const gone = Object.keys(tags).filter((tag) => !(tag in newTags));
      const json = {
        [members.name]: nameField.value.trim() || null,
        [members.notes]: words.value.trim() || null,
        tags: { ...Object.fromEntries(gone.map((tag) => [tag, null])), ...newTags },
        ...((projectField.value.trim() || null) !== project && { project: projectField.value.trim() || null }),
      };
      const { body: answer } = await request(path, { method: "PATCH", json });
      show(read(answer));
      changed(answer);
      announce("Saved.");
      edit.focus();
    });
    edit.hidden = true;
    replace(body, form);
    words.focus();
  }

  function cancel() {
    show(labels);
    edit.focus();
  }

  show(labels);
  return node;
}

/** Return links from tags to lists of the items that have them. @param {Record<string, string>} tags @param {string} [list] page */
export function tagList(tags, list = "/models") {
  return Object.entries(tags).map(([name, value]) => {
    const filter = value ? `${name}:${value}` : name;
    const href = `${list}?${new URLSearchParams({ tag: filter })}`;
    return h(
      "a",
      { class: "tag plain", href, title: "Show everything with this tag" },
      value ? `${name}: ${value}` : name,
    );
  });
}

/** @param {string} project @param {string} list page */
export function projectTag(project, list) {
  const href = `${list}?${new URLSearchParams({ project })}`;
  return h("a", { class: "tag", href, title: "Show everything in this project" }, project);
}

/** @param {Record<string, string>} tags */
function linesOf(tags) {
  return Object.entries(tags)
    .map(([name, value]) => (value ? `${name}: ${value}` : name))
    .join("\n");
}

/**
 * Parse tags. The name of a tag contains no colon; its value may.
 *
 * @param {string} text with one tag per line
 * @returns {Record<string, string>}
 */
export function tagsOf(text) {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  return Object.fromEntries(
    lines.map((line) => {
      const [name, ...value] = line.split(":");
      return [name.trim(), value.join(":").trim()];
    }),
  );
}
