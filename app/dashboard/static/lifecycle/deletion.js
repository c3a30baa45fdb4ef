/**
 * The dialog that moves objects to the trash: what goes along, what is refused and why, before anything is done.
 * @module
 */
import {
  comparisonPage,
  datasetPage,
  evaluationPage,
  experimentPage,
  jobPage,
  modelPage,
  rankingPage,
  studyPage,
} from "../page/addresses.js";
import { messageOf, request } from "../page/api.js";
import { announce, h, replace } from "../page/dom.js";
import { count, counted, size, timeElement } from "../page/format.js";

/** @typedef {"jobs" | "models" | "evaluations" | "comparisons" | "rankings" | "inspections"} Kind */
/** @typedef {Schemas["Deletion"]} Deletion */
/** @typedef {Deletion["refused"][number]} Refusal */
/** @typedef {Refusal["holders"][number]} Holder */

/** Refused objects that are listed. */
const MOST_LISTED = 20;

/**
 * Return a button that opens the dialog.
 *
 * @param {string} words
 * @param {Kind} kind
 * @param {() => string[]} ids of the objects, asked for when it is pressed
 * @param {(deletion: Deletion) => void} done
 */
export function deleteButton(words, kind, ids, done) {
  return h("button", { type: "button", class: "danger quiet", click: () => openDialog(kind, ids(), done) }, words);
}

/** @param {Kind} kind @param {string[]} ids @param {(deletion: Deletion) => void} done */
function openDialog(kind, ids, done) {
  const question = `Delete ${countedKind(kind, ids.length)}?`;
  const withResults = h("input", { type: "checkbox", name: "with_results", change: preview });
  const permanently = h("input", { type: "checkbox", name: "permanently", change: preview });
  const outcome = h("div", { class: "deletion", "aria-live": "polite" });
  const confirm = h("button", { type: "submit", class: "danger", disabled: true }, "Delete");
  const cancel = h("button", { type: "button", class: "quiet", click: close }, "Cancel");
  /** @type {HTMLDialogElement} */
  const dialog = h(
    "dialog",
    { class: "form-dialog", "aria-label": question },
    h(
      "form",
      { class: "form", submit: send },
      h("h2", {}, question),
      hasResults(kind) &&
        h(
          "label",
          { class: "check" },
          withResults,
          ` With ${kind === "jobs" ? "what they made" : "their evaluations, rankings and inspections"}`,
        ),
      h("label", { class: "check" }, permanently, " Free the bytes at once, without the trash"),
      outcome,
      h("div", { class: "actions end" }, cancel, confirm),
    ),
  );
  let asked = 0;

  function close() {
    dialog.close();
  }

  /** @param {boolean} dry @returns {Promise<Deletion>} */
  async function post(dry) {
    const json = { ids, with_results: withResults.checked, permanently: permanently.checked, dry_run: dry };
    return (await request(`/v1/${kind}/delete`, { method: "POST", json })).body;
  }

  async function preview() {
    const mine = ++asked;
    confirm.disabled = true;
    outcome.setAttribute("aria-busy", "true");
    try {
      const found = await post(true);
      if (mine !== asked) return;
      replace(outcome, ...summary(found));
      confirm.disabled = Object.keys(found.deleted).length === 0;
    } catch (error) {
      if (mine === asked) replace(outcome, h("p", { class: "error", role: "alert" }, messageOf(error)));
    } finally {
      outcome.removeAttribute("aria-busy");
    }
  }

  /** @param {Event} event */
  async function send(event) {
    event.preventDefault();
    confirm.disabled = true;
    try {
      let deletion = await post(false);
      // A request stops after a while; what is left is sent again.
      while (!deletion.complete) deletion = added(deletion, await post(false));
      dialog.close();
      announce(`${deletedWords(deletion)} deleted.`);
      done(deletion);
    } catch (error) {
      replace(outcome, h("p", { class: "error", role: "alert" }, messageOf(error)));
      confirm.disabled = false;
    }
  }

  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  preview();
}

/** @param {Deletion} deletion @returns {Node[]} */
function summary(deletion) {
  const { deleted, size_bytes: bytes, purge_at: purge, refused, refused_count: refusals } = deletion;
  const nodes = [];
  if (Object.keys(deleted).length > 0) {
    const until = purge
      ? h("span", {}, "They stay in the trash, and go for good ", timeElement(purge), ".")
      : "They cannot be restored.";
    nodes.push(h("p", {}, h("strong", {}, deletedWords(deletion)), ` will go, ${size(bytes)}. `, until));
  }
  if (refusals > 0) {
    nodes.push(
      h("p", {}, h("strong", {}, counted(refusals, "object")), " will stay, as something still needs it:"),
      h("ul", { class: "holders" }, ...refused.slice(0, MOST_LISTED).map(refusal)),
    );
    if (refusals > MOST_LISTED) nodes.push(h("p", { class: "hint" }, `And ${count(refusals - MOST_LISTED)} more.`));
  }
  return nodes;
}

/** @param {Refusal} refused */
function refusal({ name, holders }) {
  return h(
    "li",
    {},
    h("strong", {}, name),
    ": ",
    ...holders.flatMap((holder, index) => [index > 0 && ", ", holderLink(holder)]),
  );
}

/** @type {Record<string, (id: string) => string>} */
const PAGES = {
  job: jobPage,
  model: modelPage,
  alias: (reference) => `${modelPage(reference)}#view=aliases`,
  evaluation: evaluationPage,
  comparison: comparisonPage,
  ranking: rankingPage,
  dataset: datasetPage,
  study: studyPage,
  experiment: experimentPage,
};

/** @param {Holder} holder */
function holderLink({ kind, id, name, reason }) {
  const page = PAGES[kind];
  return h("span", { title: reason }, `${kind} `, page ? h("a", { href: page(id) }, name) : name);
}

/** @param {Deletion} one @param {Deletion} other @returns {Deletion} */
function added(one, other) {
  const deleted = { ...one.deleted };
  for (const [kind, number] of Object.entries(other.deleted)) deleted[kind] = (deleted[kind] ?? 0) + number;
  return { ...other, deleted, size_bytes: one.size_bytes + other.size_bytes };
}

/** "3 jobs and 5 models" @param {Deletion} deletion */
export function deletedWords({ deleted }) {
  const words = Object.entries(deleted).map(([kind, number]) => countedKind(kind, number));
  return words.length > 1 ? `${words.slice(0, -1).join(", ")} and ${words.at(-1)}` : (words[0] ?? "Nothing");
}

/** @param {string} kind plural @param {number} number */
function countedKind(kind, number) {
  return counted(number, kind.slice(0, -1), kind);
}

/** @param {Kind} kind */
function hasResults(kind) {
  return kind === "jobs" || kind === "models" || kind === "rankings";
}
