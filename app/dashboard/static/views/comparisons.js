/** `/comparisons`: the list of comparisons, and the forms to compare systems and to upload runs. @module */
import { searchField } from "../forms/controls.js";
import { comparisonPage, openResult } from "../page/paths.js";
import { verdictChip } from "../evaluation/verdict.js";
import {
  asSystem,
  offerEvaluationDatasets,
  offerContracts,
  offerDatasetsWithPlaceholder,
  readNewestSystems,
} from "../forms/choices.js";
import { bindDialogs, onSubmit, payloadOf, showUnread } from "../forms/forms.js";
import { runForm } from "../forms/upload.js";
import { deleteTicked } from "../lifecycle/deletion.js";
import { creator } from "../page/api.js";
import { announce, elementById, find, findAll, h, replace, setAttribute, setText } from "../page/dom.js";
import { hint } from "../page/parts.js";
import { count } from "../page/format.js";
import { CREATED, DATASET, fieldColumn, projectColumn } from "../tables/columns.js";
import { showList } from "../tables/list.js";

const COLUMNS = [
  fieldColumn("systems", "Systems", (systems, { id }) =>
    h("a.name", { href: comparisonPage(id), title: systems.join(", ") }, systems.join(", ")),
  ),
  fieldColumn("verdict", "Verdict", (verdict) => verdict && verdictChip(verdict)),
  fieldColumn("sentence", "Conclusion", (sentence) => h("span.conclusion", sentence), { key: "conclusion" }),
  DATASET,
  CREATED,
  projectColumn("/comparisons"),
];

/**
 * Show the choice of systems to compare, in the chosen order: models, uploaded runs, or other references.
 * @param {HTMLElement} container
 * @param {(references: string[]) => Promise<void>} changed called with the choice, initially and after each change
 */
async function systemPicker(container, changed) {
  const offered = await readNewestSystems();
  const names = new Map(offered.map(({ reference, name }) => [reference, name]));
  const chosen = new Set(new URLSearchParams(location.search).getAll("system"));
  const field = searchField("Find a model or run, or enter a reference", "Find, or type name:version or rnk_…", {
    input: show,
    keydown: addTyped,
  });
  const options = h("div.options");
  const order = h("ol.chosen", { "aria-label": "Chosen systems, in order" });
  const words = hint();

  function show() {
    const text = field.value.trim().toLowerCase();
    const matching = offered.filter(({ name, detail }) => `${name} ${detail}`.toLowerCase().includes(text));
    replace(options, [
      ...matching.map(option),
      text && !matching.length && hint(`Press Enter to add “${field.value.trim()}”.`),
    ]);
    showOrder();
  }

  /** @param {{reference: string, name: string, detail: string}} system */
  function option({ reference, name, detail }) {
    const box = h("input", { type: "checkbox", value: reference });
    box.addEventListener("change", () => toggle(reference, box.checked));
    box.checked = chosen.has(reference);
    return h("label.check", box, h("span.name", { title: name }, name), h("small", detail));
  }

  function showOrder() {
    const remove = (/** @type {string} */ reference) =>
      h(
        "button.quiet.small",
        { "aria-label": `Leave out ${names.get(reference) ?? reference}`, click: () => toggle(reference, false) },
        "×",
      );
    replace(
      order,
      [...chosen].map((reference) =>
        h("li", h("span.name", { title: reference }, names.get(reference) ?? reference), remove(reference)),
      ),
    );
    order.hidden = chosen.size === 0;
    setText(
      words,
      chosen.size < 2
        ? "Choose at least two systems, baselines first."
        : `${count(chosen.size)} chosen; later ones are compared with earlier ones.`,
    );
  }

  /** @param {string} reference @param {boolean} wanted */
  function toggle(reference, wanted) {
    if (wanted) chosen.add(reference);
    else chosen.delete(reference);
    for (const box of options.querySelectorAll("input")) box.checked = chosen.has(box.value);
    showOrder();
    changed([...chosen]);
    announce(`${names.get(reference) ?? reference} ${wanted ? "chosen" : "left out"}.`);
  }

  /** Add the typed system on Enter, also if the list does not have it. @param {KeyboardEvent} event */
  function addTyped(event) {
    if (event.key !== "Enter") return;
    event.preventDefault();
    const text = field.value.trim();
    if (!text) return;
    const known = offered.find(({ reference, name }) => reference === text || name === text);
    field.value = "";
    show();
    toggle(known?.reference ?? text, true);
  }

  setAttribute(options, "aria-label", "Models and runs");
  replace(container, h("div.browser-head", field, words), order, options);
  show();
  await changed([...chosen]);
  return { systems: () => [...chosen].map(asSystem) };
}

const form = elementById("compare-form", HTMLFormElement);
const run = elementById("run-form", HTMLFormElement);
const create = creator();

showList({
  kind: "comparisons",
  noun: "comparison",
  filters: ["dataset_id"],
  fields: ["created_at"],
  columns: COLUMNS,
  name: ({ sentence }) => sentence,
  actions: [deleteTicked],
  empty: ["Compare two models or runs: which one is better, and is the difference significant?", "#compare", "Compare"],
});
bindDialogs({
  compare: offerChoices,
  run: () => offerDatasetsWithPlaceholder(findAll(run, "select[data-list]", HTMLSelectElement), null),
});
runForm(run, openResult);

async function offerChoices() {
  const wanted = new URLSearchParams(location.search).get("dataset");
  const offer = offerEvaluationDatasets(find(form, '[data-pointer="/dataset_id"]', HTMLSelectElement), wanted);
  /** @param {string[]} references */
  const offerDatasets = (references) => offer(references).catch((error) => showUnread(form, error));
  const offered = Promise.all([systemPicker(elementById("systems"), offerDatasets), offerContracts(form)]);
  onSubmit(form, async () => {
    const [picker] = await offered;
    openResult(await create("/v1/jobs", { kind: "compare", ...payloadOf(form), systems: picker.systems() }));
  });
  await offered;
  form.removeAttribute("aria-busy");
}
