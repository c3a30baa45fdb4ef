/**
 * A box to try a model in: documents of a query, their values changed at will, ranked anew with the reasons.
 * @module
 */
import { get } from "../page/api.js";
import { keep, kept } from "../page/address.js";
import { datasetApi, modelApi } from "../page/addresses.js";
import { candidateTable } from "./candidate_table.js";
import { candidateText } from "./candidate_text.js";
import { chooseDataset, offerReady } from "../forms/dataset_select.js";
import { h, replace, setText } from "../page/dom.js";
import { onSubmit } from "../forms/forms.js";
import { counted } from "../page/format.js";
import { failureBox } from "../page/loaded.js";
import { question, readCandidates, scored } from "./scored.js";
import { scoringCode } from "./scoring_code.js";

const MOST = 20;
const TELLING = 6;

/** @param {any} model @returns {Promise<Node[]>} */
export async function tryView(model) {
  const reference = `${model.name}:${model.version}`;
  const dataset = /** @type {HTMLSelectElement} */ (h("select", { "aria-label": "Dataset", change: () => choose("") }));
  const query = h("input", { type: "text", list: "try-queries", "aria-label": "Query", autocomplete: "off", spellcheck: "false", change: () => choose(query.value.trim()) });
  const known = h("datalist", { id: "try-queries" });
  const words = h("p", { class: "hint", role: "status" });
  const [{ features }, datasets] = await Promise.all([get(modelApi(model.id, "/importance")), offerReady([dataset], kept("dataset") ?? model.dataset_id)]);
  const telling = features.filter(({ split }) => split > 0).slice(0, TELLING).map(({ feature }) => feature);
  const table = candidateTable(telling);
  const text = candidateText(model, (candidates) => {
    turn += 1; // documents still on their way would replace these
    table.take(candidates);
  });
  const code = h("div", {});
  const form = /** @type {HTMLFormElement} */ (
    h(
      "form",
      { class: "try-form", novalidate: true, "aria-label": "Documents" },
      h("div", { class: "summary", hidden: true }),
      table.node,
      text.node,
      h("div", { class: "actions" }, h("button", { type: "submit", class: "primary" }, "Rank"), h("button", { type: "button", class: "quiet", click: () => choose(query.value.trim()) }, "Start over")),
    )
  );
  let turn = 0;
  let ranking = 0;

  onSubmit(form, async () => {
    text.apply();
    await rank();
  });

  async function rank() {
    const now = ++ranking;
    const asked = question(model, query.value.trim() || "q", table.candidates());
    const found = await scored(model.id, asked);
    if (now !== ranking) return; // the table holds other documents by now
    table.show(found);
    text.show(asked);
    replace(code, scoringCode(reference, asked));
  }

  /** Reads a query of the chosen dataset, its first unless one is named, and ranks it as it is. */
  async function choose(wanted) {
    const now = ++turn;
    form.setAttribute("aria-busy", "true");
    try {
      const queryId = wanted || (await firstQueries());
      const { candidates, total } = await readCandidates(dataset.value, queryId, { most: MOST });
      if (now !== turn) return;
      query.value = queryId;
      keep({ view: "try", dataset: dataset.value, query: queryId });
      setText(words, total > candidates.length ? `The first ${counted(candidates.length, "document")} of ${total}.` : counted(total, "document"));
      table.take(candidates);
      await rank();
      form.hidden = false;
      replace(problem);
    } catch (error) {
      if (now !== turn) return;
      form.hidden = true;
      replace(problem, failureBox(error, () => choose(wanted)));
    } finally {
      form.removeAttribute("aria-busy");
    }
  }

  async function firstQueries() {
    const { items } = await get(datasetApi(dataset.value, "/queries?limit=50"));
    replace(known, ...items.map(({ query_id: id }) => h("option", { value: id })));
    return (items.find(({ relevant }) => relevant > 0) || items[0]).query_id;
  }

  const problem = h("div", {});
  const head = h("div", { class: "panel-head" }, h("h2", {}, "Try it on documents"), h("div", { class: "try-choice" }, h("label", {}, "Dataset ", dataset), h("label", {}, "Query ", query), known));
  const hint = h("p", { class: "hint" }, `Change what a document is like and rank again: ${telling.length < TELLING ? "these are the features" : `these ${TELLING} features`} the trees gain most by; all others stay as they are in the data.`);
  if (datasets.length) {
    chooseDataset([dataset], kept("dataset") ?? model.dataset_id);
    choose(kept("query") ?? "");
  } else {
    table.take([{ id: "d1", label: null, features: {} }, { id: "d2", label: null, features: {} }]);
    setText(words, "There is no dataset to take documents from: these two have no feature yet.");
    await rank();
  }
  return [h("section", { class: "panel" }, head, hint, words, problem, form), h("section", { class: "panel" }, h("h2", {}, "The same by a program"), code)];
}
