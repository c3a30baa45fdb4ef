/**
 * How an export stands to its model, in the arithmetic of each engine that reads it; then the files.
 * @module
 */
import { h, problemBox } from "../page/dom.js";
import { datasetPage } from "../page/addresses.js";
import { count, counted, metric, short } from "../page/format.js";
import { failureBox } from "../page/loaded.js";
import { datasetName } from "../page/names.js";
import { signed } from "../measuring/verdict.js";

/**
 * @param {any} report
 * @param {{filename: string}} format
 * @param {{file: () => Promise<void>, archive: () => Promise<void>}} downloads
 */
export function parityReport(report, { filename }, { file, archive }) {
  const { exact, engines, notes, dataset_id: dataset, score_shift: shift } = report;
  return h(
    "section",
    { class: "panel parity", "aria-label": "How the export stands to the model" },
    h("div", { class: "panel-head" }, h("h2", {}, exact ? "It decides as the model does" : "It does not always decide as the model does"), h("span", { class: "verdict", "data-verdict": exact ? "better" : "worse" }, exact ? "exact" : "differs")),
    h("p", { class: "hint" }, dataset ? ["Over the documents of ", h("a", { href: datasetPage(dataset) }, datasetName(dataset))] : "Over no documents", ` and the neighbours of every threshold; ${counted(report.trees, "tree")}.`, shift !== 0 && ` All scores are raised by ${short(shift)}.`),
    ...engines.map(engine),
    notes.length > 0 && h("div", { class: "notes" }, h("h3", {}, "To know"), h("ul", {}, ...notes.map((note) => h("li", {}, note)))),
    h("div", { class: "actions" }, download(`Download ${filename}`, "primary", file), download("Download with proof (zip)", "", archive), h("span", { class: "hint" }, "The archive has the commands that load it, this report, and golden vectors to replay in the engine.")),
  );
}

function download(words, kind, start) {
  const button = h("button", { type: "button", class: kind, click }, words);
  async function click() {
    button.disabled = true;
    try {
      await start();
    } catch (error) {
      button.parentElement.after(failureBox(error, click));
    } finally {
      button.disabled = false;
    }
  }
  return button;
}

function engine({ engine: name, arithmetic, data, neighbours, slack_residue: slack }) {
  return h(
    "section",
    { class: "engine" },
    h("h3", {}, name),
    h("p", { class: "hint" }, arithmetic),
    data && h("dl", { class: "figures" }, ...dataFacts(data).map(fact)),
    h("dl", { class: "figures" }, ...neighbourFacts(neighbours).map(fact)),
    neighbours.examples.length > 0 && examples(neighbours.examples),
    slack && slack.splits > 0 && problemBox({ title: "Remaining differences", detail: `${counted(slack.splits, "threshold")} too close to 0 for Solr, which adds 1e-6 to each: values within ${short(slack.widest_range)} of one go elsewhere.` }),
  );
}

function fact([name, value, differs]) {
  return h("div", {}, h("dt", {}, name), h("dd", { class: differs && "unusual" }, value));
}

function dataFacts(data) {
  const part = (some, all) => `${count(some)} of ${count(all)}`;
  return [
    ["mismatched scores", part(data.differing_documents, data.documents), data.differing_documents > 0],
    ["mismatched leaves", part(data.differing_leaves, data.leaves), data.differing_leaves > 0],
    ["neighbours swapped", part(data.swapped_pairs, data.adjacent_pairs), data.swapped_pairs > 0],
    ["neighbours tied", count(data.tied_pairs), data.tied_pairs > 0],
    ["largest difference of a score", data.largest_score_difference.toPrecision(2)],
    data.ndcg_at_10 !== null && ["NDCG@10 there", metric(data.ndcg_at_10 + (data.ndcg_at_10_difference ?? 0))],
    data.ndcg_at_10 !== null && ["against the model's", signed(data.ndcg_at_10_difference), data.ndcg_at_10_difference !== 0],
  ].filter(Boolean);
}

function neighbourFacts({ splits, decisions, differing_decisions: differing, differing_splits: at }) {
  return [
    ["decisions around thresholds that differ", `${count(differing)} of ${count(decisions)}`, differing > 0],
    ["splits with such a decision", `${count(at)} of ${count(splits)}`, at > 0],
  ];
}

function examples(found) {
  const heads = ["Tree", "Feature", "Threshold", "As the engine loads it", "Value", "The model goes"];
  const row = ({ tree, feature, threshold, loaded, value, lightgbm }) =>
    h("tr", {}, h("td", {}, count(tree + 1)), h("td", {}, h("span", { class: "name", title: feature }, feature)), ...[threshold, loaded].map((number) => h("td", { class: "number" }, number === null ? "∞" : String(number))), h("td", {}, value), h("td", {}, lightgbm));
  return h(
    "details",
    { class: "more" },
    h("summary", {}, "Mismatched values"),
    h("div", { class: "scroll", role: "region", "aria-label": "Mismatched values", tabindex: "0" }, h("table", {}, h("thead", {}, h("tr", {}, ...heads.map((words) => h("th", { scope: "col" }, words)))), h("tbody", {}, ...found.map(row)))),
  );
}
