/**
 * Dialog that changes tags and the project of the selected rows of a list, or of all objects that match its filters.
 * @module
 */
import { field, textInput } from "../forms/controls.js";
import { onSubmit, partsOf, tagsOf } from "../forms/forms.js";
import { get, request } from "../page/api.js";
import { announce, h, replace, setAttribute, setText } from "../page/dom.js";
import { showDialog } from "../page/parts.js";
import { count, counted } from "../page/format.js";
import { refusedList, scopeChoice, soFar } from "./scope.js";

/** Return a button that opens the dialog. @param {Ticked} ticked */
export const labelTicked = (ticked) => h("button", { click: () => openDialog(ticked), needs: "write" }, "Label…");

/** @param {Ticked} ticked */
function openDialog({ kind, ids, clear, filters, reload }) {
  const scope = scopeChoice(kind, ids, filters(), edited);
  const question = h("h2");
  const tagsToSet = h("textarea", { rows: 2, "data-pointer": "/tags", spellcheck: "false" });
  const tagsToRemove = textInput();
  const project = textInput({ "data-pointer": "/project", list: "known-projects" });
  const known = h("datalist", { id: "known-projects" });
  const outcome = h("div", { "aria-live": "polite" });
  const save = h("button.primary", { type: "submit" });
  const form = h("form.form", { novalidate: true, input: edited }, [
    question,
    h("div.summary", { hidden: true }),
    scope.node,
    field(["Tags to set ", h("small", "one per line: team: search")], tagsToSet),
    field(["Tags to remove ", h("small", "names, separated by commas")], tagsToRemove),
    field(
      [
        "Project ",
        h("small", `empty for no change, - for no project${kind === "models" ? "; moves all versions of a name" : ""}`),
      ],
      project,
    ),
    known,
    outcome,
    h("div.actions.end", h("button.quiet", { click: () => dialog.close() }, "Cancel"), save),
  ]);
  /** @type {HTMLDialogElement} */ const dialog = h("dialog.form-dialog", form);
  /** The previewed request as text; only the same request is sent. @type {string | null} */
  let previewed = null;

  function labels() {
    const gone = partsOf(tagsToRemove.value, /[\s,]+/);
    const to = project.value.trim();
    return {
      tags: { ...Object.fromEntries(gone.map((tag) => [tag, null])), ...tagsOf(tagsToSet.value) },
      ...(to && { project: to === "-" ? null : to }),
    };
  }

  /** @param {Json} payload @param {boolean} dry @returns {Promise<Schemas["Labelled"]>} */
  const post = async (payload, dry) =>
    (await request(`/v1/${kind}/labels`, { method: "POST", json: { ...Object(payload), dry_run: dry } })).body;

  /** @param {number | null} number of the objects that match, null before it is known */
  function showQuestion(number) {
    setText(question, `Label ${scope.words(number)}`);
    setAttribute(dialog, "aria-label", question.textContent);
  }

  function edited() {
    previewed = null;
    showQuestion(null);
    replace(outcome);
    setText(save, "filter" in scope.payload() ? "Preview" : "Save");
  }

  onSubmit(form, async () => {
    const payload = { ...scope.payload(), ...labels() };
    const text = JSON.stringify(payload);
    if ("filter" in payload && previewed !== text) {
      const preview = await post(payload, true);
      previewed = text;
      showQuestion(preview.complete ? preview.changed + preview.unchanged + preview.refused_count : null);
      replace(outcome, ...summary(preview));
      setText(save, "Apply labels");
      return;
    }
    let changed = 0;
    /** @type {Schemas["Labelled"]} */ let latest;
    // A request runs for a limited time; repeat it as long as it makes progress.
    do {
      latest = await post(payload, false);
      changed += latest.changed;
    } while (dialog.open && !latest.complete && latest.changed > 0);
    announce(`${counted(changed, kind.slice(0, -1))} labelled.`);
    if (latest.refused_count) replace(outcome, ...summary({ ...latest, changed }));
    else dialog.close();
    clear();
    reload();
  });

  edited();
  showDialog(dialog);
  get("/v1/projects")
    .then(({ items }) => replace(known, ...items.map(({ name }) => h("option", { value: name }))))
    .catch(() => {});
}

/** @param {Schemas["Labelled"]} labelled @returns {Node[]} */
function summary({ dry_run: dry, changed, unchanged, moved_names: names, refused, refused_count: refusals, complete }) {
  const nodes = [];
  if (!complete) nodes.push(soFar());
  const others = unchanged ? ` ${count(unchanged)} have these labels already.` : "";
  nodes.push(h("p", h("strong", count(changed)), dry ? ` will change.${others}` : " were changed."));
  if (names.length)
    nodes.push(
      h("p", `All versions ${dry ? "of these names will move" : "of these names moved"}: ${names.join(", ")}.`),
    );
  if (refusals) {
    nodes.push(
      h("p", h("strong", count(refusals)), " keep their labels:"),
      ...refusedList(refused, refusals, ({ id, reason }) => h("li", h("code", id), `: ${reason}`)),
    );
  }
  return nodes;
}
