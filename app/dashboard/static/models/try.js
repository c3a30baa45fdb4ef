/** Try a model: candidate documents, editable features, their ranking and explanations. @module */
import { textInput } from "../forms/controls.js";
import { documentName, largestLabel } from "../datasets/queries.js";
import { grade, rankShift } from "../figures/marks.js";
import { chooseDataset, offerReadyDatasets } from "../forms/choices.js";
import { onSubmit } from "../forms/forms.js";
import { isTrees } from "./network.js";
import {
  candidatesOf,
  categoriesIn,
  contributions,
  rankRequest,
  readCandidates,
  removeRefusedTexts,
  rankDocuments,
  valueOfField,
} from "./scored.js";
import { datasetApi, setHashValues, hashValue, modelApi, serviceUrl } from "../page/paths.js";
import { get } from "../page/api.js";
import { failureBox, pythonLiteral, snippet } from "../page/content.js";
import { findAll, h, missingScope, replace, setAttribute, setText } from "../page/dom.js";
import { disclosure, hint, rowHead, scrollRegion, tableHead, panel } from "../page/parts.js";
import { counted, featureText, fixed } from "../page/format.js";

/** @param {string} reference @param {import("./scored.js").RankRequest} requested */
function scoringCode(reference, requested) {
  const address = `${serviceUrl()}${modelApi(reference, "/rank").replace("%3A", ":").replace("%40", "@")}`;
  const body = JSON.stringify({ queries: requested.queries }).replaceAll("'", "'\\''");
  const queries = requested.queries.map(pythonQuery).join("\n");
  const python = `import rankery\n\nclient = rankery.Client(${pythonLiteral(serviceUrl())})\nqueries = [\n${queries}\n]\nranked = client.rank(${pythonLiteral(reference)}, queries)\n`;
  return h("div", snippet("curl", `curl ${address} --json '${body}'`), snippet("Python", python));
}

/** Return a query as Python code, one document per line. @param {import("./scored.js").RankRequest["queries"][number]} query */
function pythonQuery({ id, documents }) {
  /** @param {{id: string, features: Record<string, number | string>}} document */
  const line = ({ id: name, features }) =>
    `        {"id": ${pythonLiteral(name)}, "features": {${Object.entries(features)
      .map(([feature, value]) => `${pythonLiteral(feature)}: ${pythonLiteral(value)}`)
      .join(", ")}}},`;
  return `    {"id": ${pythonLiteral(id)}, "documents": [\n${documents.map(line).join("\n")}\n    ]},`;
}

/**
 * Show the candidate documents as the JSON of the request, which can be edited and replaced.
 * @param {{feature_names: string[]}} model
 * @param {(candidates: import("./scored.js").Candidate[]) => void} take called with the candidates of an edited text
 */
function candidateText({ feature_names: names }, take) {
  const area = h("textarea.code", {
    rows: 10,
    spellcheck: "false",
    "data-pointer": "/queries",
    "aria-label": "Documents as JSON",
  });
  const node = disclosure("As JSON", [
    hint(
      "The JSON of the request. Paste your own documents, with features as an object by name or as an array in the model's order, and rank.",
    ),
    h("div.field", area),
  ]);
  let shown = "";

  /** @param {import("./scored.js").RankRequest} requested */
  function show({ queries }) {
    shown = JSON.stringify({ queries }, null, 1);
    area.value = shown;
  }

  /** Take the documents of an edited text. */
  function apply() {
    if (area.value === shown || !area.value.trim()) return;
    take(candidatesOf(area.value, names));
  }
  return { node, show, apply };
}

/**
 * Return the table of candidate documents in the order of the model, with editable features and explanations.
 * @param {string[]} shown names of the features to edit
 */
function candidateTable(shown) {
  const body = h("tbody");
  const heads = ["Rank", "", "Document", "Label", "Score", ...shown, ""];
  const node = scrollRegion("Documents in the order of the model", [
    h("table.candidates", tableHead(...heads.map(head)), body),
  ]);
  /** @type {import("./scored.js").Candidate[]} */ let candidates = [];
  /** Features with categories given as text; their fields accept text even if empty. */
  let categories = categoriesIn([]);
  /** @type {Map<string, number>} ranks in the previous ranking */
  let before = new Map();
  /** @type {Set<string>} */ const open = new Set();

  /** @param {string} words @param {number} index */
  function head(words, index) {
    if (!words) return h("td");
    return h("th", { scope: "col", class: index > 3 && "number" }, [
      index > 4 ? h("span.name", { title: words }, words) : words,
    ]);
  }

  /** @param {import("./scored.js").Scored[]} ranking @param {number | undefined} largest label of the dataset */
  function show(ranking, largest) {
    const { feature, document: edited } =
      document.activeElement instanceof HTMLElement ? document.activeElement.dataset : {};
    const byId = new Map(candidates.map((candidate) => [candidate.id, candidate]));
    replace(
      body,
      ranking.flatMap((scored) =>
        rows(byId.get(scored.id) ?? { id: scored.id, label: null, features: {} }, scored, largest),
      ),
    );
    before = new Map(ranking.map(({ id, rank }) => [id, rank]));
    if (feature)
      findAll(body, "input", HTMLInputElement)
        .find((input) => input.dataset.feature === feature && input.dataset.document === edited)
        ?.focus();
  }

  /**
   * @param {import("./scored.js").Candidate} candidate @param {import("./scored.js").Scored} scored
   * @param {number | undefined} largest
   */
  function rows(candidate, { id, rank, score, explanation }, largest) {
    const reasons = h("tr.reasons", { hidden: !open.has(id) }, [
      h("td", { colspan: heads.length }, h("div.in-sight", contributions(explanation))),
    ]);
    const why = h(
      "button.quiet.small",
      { "aria-expanded": String(open.has(id)), "aria-label": `Why ${id} has its score`, click: toggle },
      "Why",
    );
    function toggle() {
      if (open.has(id)) open.delete(id);
      else open.add(id);
      reasons.hidden = !open.has(id);
      setAttribute(why, "aria-expanded", String(open.has(id)));
    }
    const previousRank = before.get(id);
    const row = h("tr", { "data-document": id }, [
      h("td.number", rank),
      h("td", previousRank !== undefined && rankShift(previousRank - rank)),
      rowHead(documentName({ document_id: id, document_title: candidate.title, document_url: candidate.url })),
      h("td.number", candidate.label === null ? "–" : grade(candidate.label, largest)),
      h("td.number", fixed(score, 4)),
      ...shown.map((feature) => h("td.number", field(candidate, feature))),
      h("td", why),
    ]);
    return [row, reasons];
  }

  /** @param {import("./scored.js").Candidate} candidate @param {string} feature */
  function field(candidate, feature) {
    const { id, features } = candidate;
    const value = features[feature];
    const isCategory = categories.has(feature);
    const input = textInput({
      inputmode: isCategory ? "text" : "decimal",
      "aria-label": `${feature} of ${id}`,
      "data-feature": feature,
      "data-document": id,
      placeholder: "missing",
      value: typeof value === "number" ? featureText(value) : (value ?? ""),
      change: () => void storeValue(candidate, feature, input, isCategory),
    });
    return input;
  }

  return {
    node,
    show,
    candidates: () => candidates,
    /** Replace the documents to rank. @param {import("./scored.js").Candidate[]} others */
    take(others) {
      candidates = others.map((candidate) => ({ ...candidate, features: { ...candidate.features } }));
      categories = categoriesIn(candidates);
      before = new Map();
      open.clear();
    },
  };
}

/**
 * Store the value of a field in its candidate. Text that is not a number is a missing value, except for a category, and the
 * field is marked as invalid.
 * @param {import("./scored.js").Candidate} candidate @param {string} feature @param {HTMLInputElement} input
 * @param {boolean} isCategory
 */
function storeValue(candidate, feature, input, isCategory) {
  const value = valueOfField(input.value, isCategory);
  const isInvalid = Number.isNaN(value);
  candidate.features[feature] = isInvalid ? null : value;
  setAttribute(input, "aria-invalid", isInvalid && "true");
}

const MAX_DOCUMENTS = 20;
const MAX_SHOWN = 6;

/**
 * Return the features that the table shows: those with the largest gain in trees, the most important ones of the latest
 * inspection, or the first ones of the model.
 * @param {Schemas["Model"]} model @returns {Promise<{features: string[], words: string}>}
 */
async function shownFeatures(model) {
  if (isTrees(model)) {
    const { features } = await get(modelApi(model.id, "/importance"));
    const used = features.filter(({ split }) => split > 0).map(({ feature }) => feature);
    return { features: used.slice(0, MAX_SHOWN), words: "the features with the largest gain in the trees" };
  }
  const { items } = await get(modelApi(model.id, "/inspections?limit=1"));
  if (!items.length)
    return { features: model.feature_names.slice(0, MAX_SHOWN), words: "the first features of the model" };
  const { importance } = await get(`/v1/inspections/${encodeURIComponent(items[0].id)}`);
  const features = importance.slice(0, MAX_SHOWN).map(({ feature }) => feature);
  return { features, words: "the most important features of the latest inspection" };
}

/** @param {Schemas["Model"]} model @returns {Promise<Node[]>} */
export async function tryView(model) {
  const refused = missingScope("score");
  if (refused) return [panel("Try the model on documents", h("p", refused))];
  const reference = `${model.name}:${model.version}`;
  const dataset = h("select", { "aria-label": "Dataset", change: () => choose("") });
  const query = textInput({
    list: "try-queries",
    "aria-label": "Query",
    change: () => void choose(query.value.trim()),
  });
  const known = h("datalist", { id: "try-queries" });
  const words = h("p.hint", { role: "status" });
  const [{ features: shown, words: shownLabel }, datasets] = await Promise.all([
    shownFeatures(model),
    offerReadyDatasets([dataset], hashValue("dataset") ?? model.dataset_id),
  ]);
  const table = candidateTable(shown);
  const text = candidateText(model, (candidates) => {
    latestChoice += 1; // a pending response must not replace these documents
    form.removeAttribute("aria-busy");
    table.take(candidates);
  });
  const code = h("div");
  const form = h("form.try-form", { novalidate: true, "aria-label": "Documents" }, [
    h("div.summary", { hidden: true }),
    table.node,
    text.node,
    h("div.actions", [
      h("button.primary", { type: "submit" }, "Rank"),
      h("button.quiet", { click: () => choose(query.value.trim()) }, "Start over"),
    ]),
  ]);
  /** Number of the last document change; responses for earlier documents are dropped. */
  let latestChoice = 0;
  /** Number of the last rank request; responses to earlier requests are dropped. */
  let latestRequest = 0;

  onSubmit(
    form,
    async () => {
      text.apply();
      await rank();
    },
    "score",
  );

  async function rank() {
    const requestNumber = ++latestRequest;
    const requested = rankRequest(model, query.value.trim() || "q", table.candidates());
    const [ranking, largest] = await Promise.all([
      rankDocuments(model.id, requested),
      dataset.value ? largestLabel(dataset.value) : undefined,
    ]);
    if (requestNumber !== latestRequest) return; // a later request ranks the documents of the table
    table.show(ranking, largest);
    text.show(requested);
    replace(code, scoringCode(reference, requested));
  }

  /**
   * Rank documents of the chosen dataset, where a category may be a number of the model.
   * @param {import("./scored.js").Candidate[]} candidates
   * @returns {Promise<string[]>} features whose categories count as missing
   */
  async function rankUnchanged(candidates) {
    table.take(candidates);
    try {
      await rank();
      return [];
    } catch (error) {
      const removed = removeRefusedTexts(candidates, error);
      if (!removed.length) throw error;
      return [...removed, ...(await rankUnchanged(candidates))];
    }
  }

  /**
   * Read the documents of a query in the chosen dataset, and rank them unchanged.
   * @param {string} wanted a query's ID, empty for the proposed query
   */
  async function choose(wanted) {
    const choice = ++latestChoice;
    form.setAttribute("aria-busy", "true");
    try {
      const queryId = wanted || (await proposeQuery());
      const read = await readCandidates(dataset.value, queryId, { most: MAX_DOCUMENTS });
      const { candidates, total, text: searched } = read;
      if (choice !== latestChoice) return;
      query.value = queryId;
      setHashValues({ view: "try", dataset: dataset.value, query: queryId });
      const documents =
        total > candidates.length
          ? `The first ${counted(candidates.length, "document")} of ${total}`
          : counted(total, "document");
      const numbers = (await rankUnchanged(candidates)).join(", ");
      if (choice !== latestChoice) return;
      replace(words, [
        searched && [h("strong", searched), ": "],
        `${documents}.`,
        numbers && ` Categories of ${numbers} count as missing: the model has numbers there.`,
      ]);
      form.hidden = false;
      replace(problem);
    } catch (error) {
      if (choice !== latestChoice) return;
      form.hidden = true;
      replace(problem, [failureBox(error, () => choose(wanted))]);
    } finally {
      if (choice === latestChoice) form.removeAttribute("aria-busy");
    }
  }

  /** Offer the first queries, and return the id of one: the first with a relevant document, else the first. */
  async function proposeQuery() {
    const { items } = await get(datasetApi(dataset.value, "/queries?limit=50"));
    replace(known, ...items.map(({ query_id: id, query_text: label }) => h("option", { value: id, label })));
    return (items.find(({ relevant }) => relevant > 0) || items[0]).query_id;
  }

  const problem = h("div");
  const head = h("div.panel-head", [
    h("h2", "Try the model on documents"),
    h("div.try-choice", h("label", "Dataset ", dataset), h("label", "Query ", query), known),
  ]);
  const explanation = hint(
    `Edit feature values and rank again. The table shows ${shownLabel}; other features keep their values from the data.`,
  );
  if (datasets.length) {
    chooseDataset([dataset], hashValue("dataset") ?? model.dataset_id);
    choose(hashValue("query") ?? "");
  } else {
    table.take([
      { id: "d1", label: null, features: {} },
      { id: "d2", label: null, features: {} },
    ]);
    setText(words, "There is no dataset to take documents from. These two documents have no features yet.");
    await rank();
  }
  return [h("section.panel", head, explanation, words, problem, form), panel("Rank with code", code)];
}
