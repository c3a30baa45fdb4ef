/** A panel that shows the name, notes, tags and project of a job or a model, with a form to edit them. @module */
import { field, textInput } from "./controls.js";
import { onSubmit, tagsOf } from "./forms.js";
import { request } from "../page/api.js";
import { projectTag, tagList } from "../page/content.js";
import { announce, h, replace } from "../page/dom.js";
import { confirmed, hint } from "../page/parts.js";

/** Labels of an object; the name is the display name that a user entered. @typedef {Pick<Job, "notes" | "tags" | "project"> & {name?: string | null}} Labels */

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
  const body = h("div.labels-text");
  const edit = h("button.quiet.small", { click: showForm, needs: "write" }, "Edit");
  const node = h("section.panel", h("div.panel-head", h("h2", heading), edit), body);

  /** @param {Labels} now */
  function show(now) {
    labels = now;
    edit.hidden = false;
    const { name, notes, tags, project } = labels;
    const isMarked = Object.keys(tags).length > 0 || project;
    replace(body, [
      name && h("p", h("strong", name)),
      notes ? h("p.description", notes) : hint(`No ${heading.toLowerCase()} yet.`),
      isMarked && h("p.model-marks", project && projectTag(project, list), tagList(tags, list)),
    ]);
  }

  function showForm() {
    const { name, notes, tags, project } = labels;
    const inputFor = (/** @type {string | null | undefined} */ value, /** @type {string} */ pointer) =>
      textInput({ "data-pointer": pointer, value: value ?? "" });
    const nameField = inputFor(name, `/${members.name}`);
    const notesField = h("textarea", { rows: 3, "data-pointer": `/${members.notes}` }, notes || "");
    const rows = Math.max(2, Object.keys(tags).length + 1);
    const tagsField = h("textarea", { rows, "data-pointer": "/tags", spellcheck: "false" }, linesOf(tags));
    const projectField = inputFor(project, "/project");
    const form = h("form.form", { novalidate: true }, [
      h("div.summary", { hidden: true }),
      field(["Display name ", h("small", "leave empty for the default name")], nameField),
      field(heading, notesField),
      field(["Tags ", h("small", "one per line, such as team: search")], tagsField),
      field(["Project ", h("small", "leave empty for none")], projectField),
      h("div.actions", h("button.primary", { type: "submit" }, "Save"), h("button.quiet", { click: cancel }, "Cancel")),
    ]);
    onSubmit(form, async () => {
      const edited = {
        name: nameField.value.trim() || null,
        notes: notesField.value.trim() || null,
        tags: tagsOf(tagsField.value),
        project: projectField.value.trim() || null,
      };
      const others = overwritten(labels, edited, read((await request(path)).body));
      if (others.length && !(await confirmedOverwriting(others, heading))) return;
      const { name, notes, ...rest } = changedLabels(labels, edited);
      const json = {
        ...(name !== undefined && { [members.name]: name }),
        ...(notes !== undefined && { [members.notes]: notes }),
        ...rest,
      };
      const { body: answer } = await request(path, { method: "PATCH", json });
      show(read(answer));
      changed(answer);
      announce("Saved.");
      edit.focus();
    });
    edit.hidden = true;
    replace(body, form);
    notesField.focus();
  }

  function cancel() {
    show(labels);
    edit.focus();
  }

  show(labels);
  return node;
}

/** Return each label, with tags as `tags/team`. @param {Labels} labels @returns {Record<string, string | null>} */
function flat({ name = null, notes, tags, project }) {
  const flatTags = Object.entries(tags).map(([tag, value]) => [`tags/${tag}`, value]);
  return { name, notes, project, ...Object.fromEntries(flatTags) };
}

/** Return the labels that differ, null where one was removed. @param {Labels} before @param {Labels} after */
function differences(before, after) {
  const [earlier, later] = [flat(before), flat(after)];
  const names = Object.keys({ ...earlier, ...later });
  return Object.fromEntries(
    names
      .filter((name) => (earlier[name] ?? null) !== (later[name] ?? null))
      .map((name) => [name, later[name] ?? null]),
  );
}

/**
 * Return the fields of a PATCH that changes labels.
 * @param {Labels} before @param {Labels} after @returns {Partial<Labels> & {tags?: Record<string, string | null>}}
 */
export function changedLabels(before, after) {
  const entries = Object.entries(differences(before, after));
  const tags = entries.filter(([name]) => name.startsWith("tags/")).map(([name, value]) => [name.slice(5), value]);
  const fields = Object.fromEntries(entries.filter(([name]) => !name.startsWith("tags/")));
  return tags.length ? { ...fields, tags: Object.fromEntries(tags) } : fields;
}

/**
 * Return the labels that someone else has changed since they were loaded, and that an edit would overwrite.
 * @param {Labels} loaded @param {Labels} edited @param {Labels} now
 */
export function overwritten(loaded, edited, now) {
  const own = differences(loaded, edited);
  return Object.entries(differences(loaded, now))
    .filter(([name, value]) => name in own && own[name] !== value)
    .map(([name, value]) => [name.replace("tags/", ""), value]);
}

/** @param {(string | null)[][]} others labels with their values @param {string} heading of the notes */
function confirmedOverwriting(others, heading) {
  const values = others.map(
    ([name, value]) => `${name === "notes" ? heading.toLowerCase() : name}: ${value ?? "none"}`,
  );
  const consequence = `Since you opened this form, someone else has saved ${values.join("; ")}`;
  return confirmed("Overwrite the changes of others?", "Overwrite", consequence, "Go on editing");
}

/** @param {Record<string, string>} tags */
function linesOf(tags) {
  return Object.entries(tags)
    .map(([name, value]) => (value ? `${name}: ${value}` : name))
    .join("\n");
}
