/**
 * Dialog that moves objects to the trash. A preview lists all objects to delete, and refusals with their reasons.
 * @module
 */
import { modelPage, OBJECT_PAGES } from "../page/paths.js";
import { messageOf, request } from "../page/api.js";
import { latestReader } from "../page/content.js";
import { h, replace, setAttribute, setText } from "../page/dom.js";
import { hint, showDialog } from "../page/parts.js";
import { counted, size, timeElement } from "../page/format.js";
import { pausePolling, resumePolling } from "../page/poll.js";
import { countedKind, refusedList, scopeChoice, soFar } from "./scope.js";
import { offerUndo, openAfterDeletion } from "./undo.js";

/** @typedef {"jobs" | "models" | "evaluations" | "comparisons" | "rankings" | "inspections" | "experiments"} Kind */
/** @typedef {Schemas["Deletion"]} Deletion */
/** @typedef {Deletion["refused"][number]} Refusal */

/**
 * Return the button that deletes the object of a page and opens the list of its kind.
 * @param {Kind} kind @param {string} id
 */
export const deleteButton = (kind, id) =>
  dialogButton("Delete…", () => openDialog(kind, [id], (deleted) => openAfterDeletion(`/${kind}`, deleted)));

/** Return the button that deletes ticked or matching rows. @param {Ticked} ticked @param {string} [words] */
export function deleteTicked({ kind, ids, clear, filters }, words = "Delete…") {
  const done = (/** @type {import("./undo.js").Deleted} */ deleted) => {
    clear();
    resumePolling();
    offerUndo(deleted);
  };
  return dialogButton(words, () => openDialog(kind, ids, done, filters()));
}

/** @param {string} words @param {() => void} click */
const dialogButton = (words, click) => h("button.danger.quiet", { click, needs: "write" }, words);

/**
 * @param {string} kind @param {string[]} ids
 * @param {(deleted: import("./undo.js").Deleted) => void} done called while polling is paused
 * @param {import("../tables/paged_list.js").ActiveFilter[]} [filters]
 */
function openDialog(kind, ids, done, filters) {
  const scope = scopeChoice(kind, ids, filters, preview);
  const question = h("h2");
  const withResults = h("input", { type: "checkbox", name: "with_results", change: preview });
  const permanently = h("input", { type: "checkbox", name: "permanently", change: preview });
  const outcome = h("div.deletion", { "aria-live": "polite" });
  const confirm = h("button.danger", { type: "submit", disabled: true }, "Delete");
  const cancel = h("button.quiet", { click: () => dialog.close() }, "Cancel");
  /** @type {HTMLDialogElement} */ const dialog = h("dialog.form-dialog", [
    h("form.form", { submit: send }, [
      question,
      scope.node,
      ["jobs", "models", "rankings"].includes(kind) &&
        h("label.check", [
          withResults,
          ` With ${kind === "jobs" ? "their results" : "their evaluations, rankings and inspections"}`,
        ]),
      h("label.check", permanently, " Delete permanently, without the trash"),
      outcome,
      h("div.actions.end", cancel, confirm),
    ]),
  ]);
  const read = latestReader(outcome, (error) => replace(outcome, h("p.error", { role: "alert" }, messageOf(error))));

  /** @param {number | null} number of the objects that match, null before it is known */
  function showQuestion(number) {
    setText(question, `Delete ${scope.words(number)}?`);
    setAttribute(dialog, "aria-label", question.textContent);
  }

  /** @param {boolean} dry @returns {Promise<Deletion>} */
  async function post(dry) {
    const options = { with_results: withResults.checked, permanently: permanently.checked, dry_run: dry };
    return (await request(`/v1/${kind}/delete`, { method: "POST", json: { ...scope.payload(), ...options } })).body;
  }

  function preview() {
    showQuestion(null);
    confirm.disabled = true; // also prevents a deletion while a preview is pending
    read(
      () => post(true),
      (preview) => {
        showQuestion(preview.complete ? (preview.deleted[kind] ?? 0) + preview.refused_count : null);
        const isOffered = preview.refused_count > 0 && withResults.isConnected && !withResults.checked;
        replace(outcome, ...summary(preview), isOffered && hint("Tick the first box to delete results, too."));
        confirm.disabled = Object.keys(preview.deleted).length === 0;
      },
    );
  }

  /** @param {Event} event */
  async function send(event) {
    event.preventDefault();
    confirm.disabled = true;
    /** @type {Deletion | null} */ let deletion = null;
    await pausePolling();
    try {
      // A request deletes for a limited time; repeat it as long as it makes progress.
      for (let more = true; more;) {
        replace(outcome, [
          h("p", { role: "status" }, deletion ? `${deletedLabel(deletion)} deleted so far…` : "Deleting…"),
        ]);
        const latest = await post(false);
        deletion = deletion ? sumOf(deletion, latest) : latest;
        more = dialog.open && !latest.complete && Object.keys(latest.deleted).length > 0;
      }
      dialog.close();
    } catch (error) {
      replace(outcome, h("p.error", { role: "alert" }, messageOf(error)));
      confirm.disabled = false;
      resumePolling();
    }
    if (!deletion) return;
    done({ words: `${deletedLabel(deletion)} deleted.`, ids: deletion.purge_at ? (deletion.ids ?? []) : [] });
  }

  preview();
  showDialog(dialog);
}

/** @param {Deletion} deletion @returns {Node[]} */
function summary(deletion) {
  const { deleted, size_bytes: bytes, purge_at: purge, refused, refused_count: refusals, complete } = deletion;
  const nodes = [];
  if (!complete) nodes.push(soFar());
  if (complete && refusals === 0 && Object.keys(deleted).length === 0) nodes.push(h("p", "Nothing will be deleted."));
  if (Object.keys(deleted).length > 0) {
    const until = purge
      ? h("span", "They stay in the trash and are deleted permanently ", timeElement(purge), ".")
      : "They cannot be restored.";
    nodes.push(h("p", h("strong", deletedLabel(deletion)), ` will be deleted, ${size(bytes)}. `, until));
  }
  if (refusals > 0) {
    nodes.push(
      h("p", [
        h("strong", counted(refusals, "object")),
        ` will be kept, because ${refusals === 1 ? "it is" : "they are"} active or needed by others:`,
      ]),
      ...refusedList(refused, refusals, refusal),
    );
  }
  return nodes;
}

/** @param {Refusal} refused */
function refusal({ name, holders }) {
  return h("li", [
    h("strong", name),
    ": ",
    ...holders.flatMap((holder, index) => [index > 0 && ", ", holderLink(holder)]),
  ]);
}

/** @type {typeof OBJECT_PAGES} */
const PAGES = { ...OBJECT_PAGES, alias: (reference) => `${modelPage(reference)}#view=aliases` };

/** @param {Refusal["holders"][number]} holder */
function holderLink({ kind, id, name, reason }) {
  const page = PAGES[kind];
  return h("span", { title: reason }, `${kind} `, page ? h("a", { href: page(id) }, name) : name);
}

/** Add the counts of two requests of one deletion. @param {Deletion} one @param {Deletion} other @returns {Deletion} */
function sumOf(one, other) {
  const deleted = { ...one.deleted };
  for (const [kind, number] of Object.entries(other.deleted)) deleted[kind] = (deleted[kind] ?? 0) + number;
  const ids = [...(one.ids ?? []), ...(other.ids ?? [])];
  return { ...other, deleted, ids, size_bytes: one.size_bytes + other.size_bytes };
}

/** "3 jobs and 5 models" @param {Deletion} deletion */
export function deletedLabel({ deleted }) {
  const words = Object.entries(deleted).map(([kind, number]) => countedKind(kind, number));
  return words.length > 1 ? `${words.slice(0, -1).join(", ")} and ${words.at(-1)}` : (words[0] ?? "Nothing");
}
