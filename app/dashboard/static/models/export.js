/** Exports: formats, options, parity report and files. @module */
import { field, textInput } from "../forms/controls.js";
import { actionButton } from "../page/actions.js";
import { datasetName } from "../datasets/dataset.js";
import { signed } from "../evaluation/verdict.js";
import { offerReadyDatasets } from "../forms/choices.js";
import { onSubmit, payloadOf } from "../forms/forms.js";
import { datasetPage, setHashValues, hashValue, jobPage, modelApi, openPage } from "../page/paths.js";
import { creator, get, request } from "../page/api.js";
import { downloadFile, helpLink, withCode } from "../page/content.js";
import { h, replace } from "../page/dom.js";
import { dataTable, disclosure, hint, numberHeads, problemBox } from "../page/parts.js";
import { count, counted, metric, short } from "../page/format.js";

/** @param {string} pointer @param {string} placeholder */
const text = (pointer, placeholder) => textInput({ "data-pointer": pointer, placeholder });

/**
 * Return a field with the choices no and yes: yes sends true, and no sends nothing.
 * @param {string} name @param {string} words @param {string} hint
 */
function yesNoField(name, words, hint) {
  const box = h("select", { "data-pointer": `/${name}`, "data-type": "boolean" }, [
    h("option", { value: "" }, "no (default)"),
    h("option", { value: "true" }, "yes"),
  ]);
  return field(words, box, hint);
}

/** @type {Record<string, () => HTMLElement>} */ const FIELDS = {
  target_version: () =>
    field("Engine version", text("/target_version", "the newest"), "It determines how missing values are handled."),
  model_name: () => field("Name in the engine", text("/model_name", "the model's own")),
  feature_set: () => field("Feature set or store", text("/feature_set", "rankery")),
  score_shift: () =>
    yesNoField(
      "score_shift",
      "Raise scores to 0 or more",
      "Adds a constant to all scores, because Lucene allows no negative scores.",
    ),
  never_missing: () =>
    yesNoField(
      "never_missing",
      "No missing values",
      "Every document has every feature, so the handling of missing values does not matter.",
    ),
};

/** @param {string[]} options names of the options of the format @param {string[]} features of the model @returns {Node[]} */
function optionFields(options, features) {
  const fields = options.filter((name) => FIELDS[name]).map((name) => FIELDS[name]());
  return options.includes("feature_names") ? [...fields, featureNamesField(features)] : fields;
}

/** @param {string[]} features */
function featureNamesField(features) {
  const control = h("textarea.code", {
    rows: 4,
    spellcheck: "false",
    "data-pointer": "/feature_names",
    "data-type": "lines",
    placeholder: `${features[0]} = bm25(title)`,
  });
  return h("label.field.wide", [
    "Feature names in the engine ",
    h("small", `one per line, “${features[0]} = engine name”; other features keep their names`),
    control,
  ]);
}

/**
 * Show how an export differs from its model in the arithmetic of each engine, and offer the files.
 * @param {Schemas["ExportParity"]} report @param {{filename: string}} format
 * @param {{file: () => Promise<void>, archive: () => Promise<void>}} downloads
 */
function parityReport(report, { filename }, { file, archive }) {
  const { exact, engines, notes, dataset_id: dataset, score_shift: shift, scorer = "trees" } = report;
  const trees = scorer === "trees";
  const verdicts = trees
    ? ["The export decides as the model does", "The export does not always decide as the model does"]
    : ["The export scores as the model does, up to rounding", "The export does not always score as the model does"];
  const box = h("div");
  return h("section.panel.parity", { "aria-label": "Parity of the export with the model" }, [
    h("div.panel-head", [
      h("h2", verdicts[exact ? 0 : 1]),
      h("span.verdict", { "data-verdict": exact ? "better" : "worse" }, exact ? "exact" : "differs"),
    ]),
    hint(
      dataset
        ? ["Checked on the documents of ", h("a", { href: datasetPage(dataset) }, datasetName(dataset)), " and "]
        : "Checked without documents, on ",
      trees ? `the neighbours of every threshold; ${counted(report.trees, "tree")}.` : "made-up edge cases.",
      shift !== 0 && ` All scores are ${shift > 0 ? "raised" : "lowered"} by ${short(Math.abs(shift))}.`,
    ),
    ...engines.map(engine),
    notes.length > 0 && h("div.notes", h("h3", "Notes"), h("ul", ...notes.map((note) => h("li", ...withCode(note))))),
    h("div.actions", [
      actionButton(`Download ${filename}`, "primary", file, box),
      actionButton("Download with parity files (zip)", "", archive, box),
      h("span.hint", [
        "The archive contains the commands that load the export, this report, and golden vectors to replay in the engine.",
      ]),
    ]),
    box,
  ]);
}

/** @param {Schemas["EngineParity"]} engine */
function engine({ engine: name, arithmetic, data, neighbours, slack_residue: slack, edge_cases: edges }) {
  return h("section.engine", [
    h("h3", name),
    hint(arithmetic),
    data && h("dl.figures", ...dataFacts(data).map(fact)),
    h("dl.figures", ...(edges ? edgeFacts(edges) : neighbourFacts(neighbours)).map(fact)),
    neighbours.examples.length > 0 && examples(neighbours.examples),
    slack &&
      slack.splits > 0 &&
      problemBox({
        title: "Remaining differences",
        detail: `${counted(slack.splits, "threshold")} cannot be written exactly for Solr, which adds 1e-6 to each threshold: values within ${short(slack.widest_range)} of such a threshold take the other branch.`,
      }),
  ]);
}

/** @typedef {[name: string, value: string, differs?: boolean]} Fact */

/** @param {Fact} fact */
const fact = ([name, value, differs]) => h("div", h("dt", name), h("dd", { class: differs && "unusual" }, value));

/** @param {Schemas["DataParity"]} data @returns {Fact[]} */
function dataFacts(data) {
  /** @param {number} some @param {number} all */
  const part = (some, all) => `${count(some)} of ${count(all)}`;
  /** @type {(Fact | false)[]} */ const facts = [
    ["mismatched scores", part(data.differing_documents, data.documents), data.differing_documents > 0],
    data.leaves > 0 && ["mismatched leaves", part(data.differing_leaves, data.leaves), data.differing_leaves > 0],
    ["adjacent documents swapped", part(data.swapped_pairs, data.adjacent_pairs), data.swapped_pairs > 0],
    ["adjacent documents tied", count(data.tied_pairs), data.tied_pairs > 0],
    ["largest difference of a score", data.largest_score_difference.toPrecision(2)],
    data.ndcg_at_10 !== null && ["NDCG@10 of the export", metric(data.ndcg_at_10 + (data.ndcg_at_10_difference ?? 0))],
    data.ndcg_at_10 !== null && [
      "difference to the model",
      signed(data.ndcg_at_10_difference),
      data.ndcg_at_10_difference !== 0,
    ],
  ];
  return facts.filter((each) => each !== false);
}

/** @param {Schemas["NeighbourParity"]} neighbours @returns {Fact[]} */
function neighbourFacts({ splits, decisions, differing_decisions: differing, differing_splits: at }) {
  return [
    ["differing decisions around thresholds", `${count(differing)} of ${count(decisions)}`, differing > 0],
    ["splits with a differing decision", `${count(at)} of ${count(splits)}`, at > 0],
  ];
}

/** @param {Schemas["EdgeParity"]} edges @returns {Fact[]} */
function edgeFacts({ documents, differing_documents: differing, largest_relative_difference: largest }) {
  return [
    ["mismatched edge cases", `${count(differing)} of ${count(documents)}`, differing > 0],
    ["largest relative difference of edge cases", largest.toPrecision(2)],
  ];
}

/** @param {Schemas["NeighbourParity"]["examples"]} found */
function examples(found) {
  const numbers = numberHeads("Threshold", "Loaded by the engine");
  const heads = ["Tree", "Feature", numbers, "Value", "Branch of the model"];
  const table = dataTable("Mismatched values", heads, found, ({ tree, feature, ...example }) => [
    h("td", count(tree + 1)),
    h("span.name", { title: feature }, feature),
    ...[example.threshold, example.loaded].map((number) => (number === null ? "∞" : String(number))),
    example.value,
    example.lightgbm,
  ]);
  return disclosure("Mismatched values", table);
}

/** @param {Schemas["Model"]} model @returns {Promise<Node[]>} */
export async function exportView(model) {
  const { items: formats } = await get(`/v1/export-formats?scorer=${model.kind}`);
  const format = h(
    "select",
    { "data-pointer": "/format" },
    formats.map(({ name, reader }) => h("option", { value: name }, `${name}: ${reader}`)),
  );
  const dataset = h("select", { "data-pointer": "/dataset_id" });
  const words = h("div.export-words");
  const options = h("div.grid");
  const report = h("div", { "aria-live": "polite" });
  const form = h("form.panel.form", { novalidate: true }, [
    h("div.panel-head", h("h2", "Export"), helpLink("how-to/elsewhere/", "Exports")),
    hint(
      `The export is read back and scored as the engine does it: on judged documents, and on ${model.kind === "trees" ? "values around the thresholds of the trees" : "edge cases"}. Then you can download it.`,
    ),
    h("div.summary", { hidden: true }),
    h("div.row", field("Format", format), field("Compared with the model on ", dataset)),
    words,
    options,
    h("div.actions", h("button.primary", { type: "submit" }, "Export and compare")),
  ]);

  function choose() {
    const chosen = formats.find(({ name }) => name === format.value);
    if (!chosen) return;
    replace(words, h("p", ...withCode(chosen.summary), "."), chosen.limits.length > 0 && limitList(chosen.limits));
    replace(options, ...optionFields(chosen.options, model.feature_names));
    options.hidden = !chosen.options.length;
    replace(report);
  }

  onSubmit(
    form,
    async () => {
      replace(report, h("div.skeleton.chart"));
      const requested = payloadOf(form);
      try {
        const parity = (await request(modelApi(model.id, "/export/parity"), { method: "POST", json: requested })).body;
        if (requested.format !== format.value) return; // the user has chosen another format meanwhile
        replace(report, [
          parityReport(
            parity,
            formats.find(({ name }) => name === requested.format) ?? formats[0],
            downloads(model, requested),
          ),
        ]);
      } catch (error) {
        replace(report);
        throw error;
      }
    },
    "read",
  );
  format.addEventListener("change", () => {
    setHashValues({ format: format.value });
    choose();
  });
  const wanted = hashValue("format");
  if (wanted && formats.some(({ name }) => name === wanted)) format.value = wanted;
  choose();
  await offerReadyDatasets([dataset], null);
  dataset.prepend(h("option", { value: "", selected: true }, "the model's test data, else its training data"));
  return [form, report, ...(model.kind === "trees" ? [] : [distillation(model, dataset)])];
}

/**
 * Offer to train a forest on the scores of a model.
 * @param {Schemas["Model"]} model
 * @param {HTMLSelectElement} dataset choice of the data, empty for the model's own
 */
function distillation(model, dataset) {
  const refused = h("div");
  const create = creator();
  async function distil() {
    const job = await create(modelApi(model.id, "/distil"), dataset.value ? { dataset_id: dataset.value } : {});
    openPage(jobPage(job.id));
  }
  return h("section.panel", { "aria-label": "Distillation" }, [
    h("div.panel-head", [
      h("h2", "For other engines: a forest"),
      helpLink("how-to/networks/#distillation", "Distillation"),
    ]),
    hint(
      "Elasticsearch and OpenSearch read only trees and some linear scorers; Solr reads no sums of models. Distillation trains a forest on the scores of this model, and compares both on test queries.",
    ),
    h("div.actions", actionButton("Distil into a forest", "", distil, refused, { needs: "write" })),
    refused,
  ]);
}

/** @param {string[]} limits */
const limitList = (limits) =>
  disclosure("Limits of the format", h("ul.hint", ...limits.map((words) => h("li", ...withCode(words)))));

/**
 * Return the functions that download the export and its archive. They send POST requests, because feature names
 * can be too long for a URL.
 * @param {Schemas["Model"]} model @param {Record<string, Json>} requested
 */
function downloads(model, requested) {
  const { dataset_id: dataset, ...withoutData } = requested;
  /** @param {string} below @param {Record<string, Json>} json */
  const file = (below, json) => downloadFile(modelApi(model.id, `/export${below}`), json);
  return { file: () => file("", withoutData), archive: () => file("/archive", requested) };
}
