/** Actions on a study: pause, resume, cancel, clone, extend, add a trial, delete. @module */
import { field, textInput } from "../forms/controls.js";
import { confirmedDeleteButton } from "../lifecycle/confirmed_deletion.js";
import { actionButtons } from "../page/actions.js";
import { onSubmit, payloadOf } from "../forms/forms.js";
import { trashLabel } from "../lifecycle/undo.js";
import { openPage, studyApi, studyPage } from "../page/paths.js";
import { creator, request } from "../page/api.js";
import { announce, changeDetector, h, replace } from "../page/dom.js";
import { confirmed, hint, showDialog } from "../page/parts.js";
import { dimensionsOf, isOpen, parameterName, valueAt } from "./labels.js";

const CONSEQUENCE = `Its trials are deleted as well; models, comparison and jobs are kept. ${trashLabel()}`;

/** @param {string} id @param {() => void} changed */
export function studyActions(id, changed) {
  const node = h("div.actions");
  const failure = h("div.study-failure");
  const create = creator();
  /** @type {Study | null} */ let study = null;
  /** @type {Trial[]} */ let trials = [];
  const hasChanged = changeDetector();

  const button = actionButtons(failure, changed);

  const change = async (/** @type {"pause" | "resume" | "cancel"} */ what) => {
    await request(studyApi(id, `/${what}`), { method: "POST" });
    announce(`Requested: ${what} the study.`);
  };

  async function cancel() {
    const isSure = await confirmed("Cancel this study?", "Cancel the study", [
      "Its trials are stopped, and there will be no conclusion. Finished trials stay in the table.",
    ]);
    if (isSure) await change("cancel");
  }

  async function extend() {
    if (!study) return;
    const { trials: most, seconds, patience } = study.budget;
    await submitDialog(
      "Change the budget",
      "The first limit that is reached ends the study. Empty fields for seconds and for trials without a new best are no limits.",
      [
        textField("/trials", "Trials", "integer", most),
        textField("/seconds", "Seconds", "number", seconds ?? ""),
        textField("/patience", "Trials without a new best", "integer", patience ?? ""),
        textField("/parallel_trials", "Parallel trials", "integer", study.parallel_trials),
      ],
      "Change",
      (payload) => {
        // The service refuses empty texts with a message at the field.
        const empty = { trials: "", seconds: null, patience: null, parallel_trials: "" };
        return request(studyApi(id), { method: "PATCH", json: { ...empty, ...payload } });
      },
    );
  }

  async function add() {
    if (!study) return;
    const best = trials.find(({ number }) => number === study?.best?.number) ?? trials[0];
    const fields = dimensionsOf(study).map(([pointer, dimension]) => {
      const value = best && valueAt(best, pointer);
      if (dimension.type !== "choice")
        return textField(
          `/parameters/${pointer.replaceAll("/", "~1")}`,
          parameterName(pointer),
          "number",
          /** @type {number} */ (value) ?? "",
        );
      const choices = dimension.choices ?? [];
      const options = choices.map((choice) =>
        h("option", { value: JSON.stringify(choice), selected: isSame(choice, value) }, choiceLabel(choice)),
      );
      return field(parameterName(pointer), h("select", { "data-choice": pointer }, ...options));
    });
    await submitDialog(
      "Add a trial",
      "You choose the parameters. The trial does not count toward the budget, and the sampler learns from it. The fields start with the values of the best trial.",
      fields,
      "Add",
      (payload, form) => {
        const values = /** @type {Record<string, Json>} */ (payload.parameters ?? {});
        /** @type {Record<string, Json>} */ const parameters = Object.fromEntries(
          Object.entries(values).map(([name, value]) => [name.replaceAll("~1", "/"), value]),
        );
        for (const select of form.querySelectorAll("select"))
          parameters[select.dataset.choice ?? ""] = JSON.parse(select.value);
        return create(studyApi(id, "/trials"), { parameters });
      },
    );
  }

  async function clone() {
    if (!study) return;
    await submitDialog(
      "Clone the study",
      "A new study with the same settings and without trials. Held-out queries that decided the original study are no longer independent.",
      [
        textField("/name", "Name", "text", `${study.name} again`),
        textField("/budget/trials", "Trials", "integer", study.budget.trials),
        textField("/seed", "Seed", "integer", study.seed + 1),
      ],
      "Clone",
      async (payload) => {
        const clone = await create(studyApi(id, "/clone"), payload);
        openPage(studyPage(clone.id));
      },
    );
  }

  return {
    node,
    failure,
    /** @param {Study} newStudy @param {Trial[]} newTrials */
    update(newStudy, newTrials) {
      study = newStudy;
      trials = newTrials;
      const { status } = newStudy;
      if (!hasChanged(status)) return;
      const open = status === "running" || status === "paused";
      replace(node, [
        status === "running" && button("Pause", () => change("pause")),
        status === "paused" && button("Resume", () => change("resume"), "primary"),
        open && button("Change budget", extend),
        open && button("Add a trial", add),
        button("Clone", clone),
        isOpen(newStudy) && button("Cancel", cancel, "danger quiet"),
        !isOpen(newStudy) && confirmedDeleteButton("studies", newStudy, CONSEQUENCE),
      ]);
    },
  };
}

/** @param {Json} choice */
function choiceLabel(choice) {
  return choice !== null && typeof choice === "object" && "name" in choice ? String(choice.name) : String(choice);
}

/** @param {Json} choice @param {Json | undefined} value */
const isSame = (choice, value) => value !== undefined && choiceLabel(choice) === choiceLabel(value);

/** @param {string} pointer @param {string} label @param {string} type @param {string | number} value */
function textField(pointer, label, type, value) {
  return field(label, textInput({ "data-pointer": pointer, "data-type": type, value }));
}

/**
 * Show fields in a dialog and send them; the dialog stays open if the API refuses them.
 * @param {string} title
 * @param {string} words above the fields
 * @param {HTMLElement[]} fields @param {string} yes
 * @param {(payload: Record<string, Json>, form: HTMLFormElement) => Promise<unknown>} send
 * @returns {Promise<void>} when the dialog closes
 */
function submitDialog(title, words, fields, yes, send) {
  const form = h("form.form", { novalidate: true }, [
    hint(words),
    h("div.summary", { hidden: true }),
    h("div.grid", ...fields),
    h("div.actions", h("button.primary", { type: "submit" }, yes)),
  ]);
  const dialog = h("dialog.form-dialog", { "aria-label": title });
  const close = h("button.quiet.small", { "aria-label": "Close", click: () => dialog.close() }, "×");
  dialog.append(h("div.dialog-head", h("h2", title), close), form);
  onSubmit(form, async () => {
    await send(payloadOf(form), form);
    dialog.close();
  });
  return showDialog(dialog);
}
