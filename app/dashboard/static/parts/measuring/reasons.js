/**
 * Why two systems put a document where they do: what each feature adds to its score by the models among them.
 * @module
 */
import { get } from "../page/api.js";
import { modelApi } from "../page/addresses.js";
import { balance } from "../models/contributions.js";
import { h, setAttribute } from "../page/dom.js";
import { featureValue } from "../figures/feature_value.js";
import { count } from "../page/format.js";
import { loaded } from "../page/loaded.js";
import { question, readCandidates, scored } from "../models/scored.js";
import { standardized } from "./standardized.js";
import { signed } from "./verdict.js";

const FIRST = 8;

/**
 * @typedef {{name: string, model_id: string | null, ranking: {document_id: string, rank: number}[]}} Side
 */

/**
 * @param {string} datasetId
 * @param {string} queryId
 * @param {[Side, Side]} sides
 * @returns {{node: HTMLElement, open: (documentId: string) => void} | null} null where no side is a model
 */
export function reasons(datasetId, queryId, sides) {
  const models = sides.filter(({ model_id: model }) => model);
  if (!models.length) return null;
  const node = h("section", { class: "document-reasons", "aria-label": "Why a document is there", "aria-live": "polite" }, h("p", { class: "hint" }, "Press a document to see why it is there."));
  /** @type {Promise<any[]> | null} */
  let explaining = null;

  /** All documents in sight are explained at once, for it is among them that one is put above another. */
  async function explain() {
    const wanted = new Set(sides.flatMap(({ ranking }) => ranking.map(({ document_id: id }) => id)));
    const { candidates } = await readCandidates(datasetId, queryId, { wanted });
    const explained = await Promise.all(
      models.map(async ({ model_id: id }) => {
        const model = await get(modelApi(id));
        return standardized(await scored(id, question(model, queryId, candidates)));
      }),
    );
    return explained.map((byDocument, index) => ({ name: models[index].name, byDocument, candidates }));
  }

  function open(documentId) {
    for (const button of node.parentElement.querySelectorAll(".two-rankings button")) setAttribute(button, "aria-expanded", String(button.value === documentId));
    loaded(node, async () => {
      explaining ??= explain().catch((error) => {
        explaining = null;
        throw error;
      });
      return shown(documentId, sides, await explaining);
    }).then(() => node.scrollIntoView({ block: "nearest" }));
  }
  return { node, open };
}

function shown(documentId, sides, explained) {
  const places = sides.map(({ name, ranking }) => `${name} ${placeOf(ranking, documentId)}`).join(", ");
  const features = new Map(explained.flatMap(({ byDocument }) => [...(byDocument.get(documentId)?.keys() || [])].map((name) => [name, null])));
  const { candidates } = explained[0];
  const values = candidates.find(({ id }) => id === documentId)?.features || {};
  const rows = [...features.keys()].map((feature) => ({ feature, value: values[feature] ?? null, parts: explained.map(({ byDocument }) => byDocument.get(documentId)?.get(feature) ?? 0) }));
  const telling = ({ parts }) => Math.abs(parts.length > 1 ? parts[1] - parts[0] : parts[0]);
  rows.sort((one, other) => telling(other) - telling(one));
  const words = `Contributions to the score above the average of the ${count(candidates.length)} documents in sight, in units of the spread of the model's scores over them, so that ${explained.length > 1 ? "two models can be set side by side" : "they say how far it stands out"}.`;
  return [h("h4", {}, h("span", { class: "kind" }, "Why "), documentId, h("span", { class: "kind" }, ` is there: ${places}`)), table(rows.slice(0, FIRST), explained), h("p", { class: "hint" }, [words, rest(rows.slice(FIRST))].filter(Boolean).join(" "))];
}

function placeOf(ranking, documentId) {
  const found = ranking.find(({ document_id: id }) => id === documentId);
  return found ? `at ${count(found.rank)}` : `below ${count(ranking.length)}`;
}

function rest(rows) {
  return rows.length > 0 && `${count(rows.length)} more features differ less.`;
}

function table(rows, explained) {
  const most = Math.max(...rows.flatMap(({ parts }) => parts.map(Math.abs)), Number.MIN_VALUE);
  const several = explained.length > 1;
  const head = (words, kind) => h("th", { scope: "col", class: kind }, words);
  const heads = [head("Feature"), head("Value", "number"), ...explained.flatMap(({ name }) => [head(h("span", { class: "name", title: name }, name), "side-head"), h("td", {})]), several && head("Difference", "number")];
  const cells = (part) => [h("td", { class: "bar-cell" }, balance(part / most)), h("td", { class: "number" }, signed(part, 2))];
  const row = ({ feature, value, parts }) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, h("span", { class: "name", title: feature }, feature)),
      h("td", { class: "number" }, featureValue(value)),
      ...parts.flatMap(cells),
      several && h("td", { class: "number" }, h("strong", {}, signed(parts[1] - parts[0], 2))),
    );
  return h("div", { class: "scroll", role: "region", "aria-label": "What each feature adds", tabindex: "0" }, h("table", { class: "reasons-table" }, h("thead", {}, h("tr", {}, ...heads.filter(Boolean))), h("tbody", {}, ...rows.map(row))));
}
