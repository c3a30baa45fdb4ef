/** `/rankings/{id}`: a ranking's queries, and the documents of the query in the hash: #query=q7&prefix=q. @module */
import { headingOn } from "../datasets/dataset.js";
import { resultFindings } from "../datasets/findings.js";
import { documentFeatures, documentName, queryList } from "../datasets/queries.js";
import { bar, grade, gradeLegend } from "../figures/marks.js";
import { deleteButton } from "../lifecycle/deletion.js";
import {
  comparisonFormPage,
  datasetApi,
  setHashValues,
  hashValue,
  modelPage,
  queryPage,
  rankingApi,
  pageObjectId,
} from "../page/paths.js";
import { get, Problem } from "../page/api.js";
import { failureBox, openObject, latestReader } from "../page/content.js";
import { elementById, h, replace, setAttribute } from "../page/dom.js";
import {
  downloadMenu,
  emptyState,
  factList,
  fileLink,
  hint,
  metaLine,
  numberHeads,
  problemBox,
  rowHead,
  scrollRegion,
  tableHead,
} from "../page/parts.js";
import { count, counted, metric, short } from "../page/format.js";

/**
 * Return the contribution of each document to the DCG by the conventions of papers: gain 2^y − 1, discount log2(1 + rank).
 * @param {number[]} labels in the order of the ranking
 * @param {number} cutoff of the sums
 * @returns {{gains: number[], dcg: number, ndcg: number | null}} ndcg: null where no document is relevant
 */
function discountedGains(labels, cutoff) {
  const gains = discounted(labels);
  const ideal = sum(discounted([...labels].sort((one, other) => other - one)), cutoff);
  const dcg = sum(gains, cutoff);
  return { gains, dcg, ndcg: ideal > 0 ? dcg / ideal : null };
}

/** @param {number[]} labels */
function discounted(labels) {
  return labels.map((label, index) => (2 ** Math.max(0, label) - 1) / Math.log2(2 + index));
}

/** @param {number[]} gains @param {number} cutoff */
function sum(gains, cutoff) {
  return gains.slice(0, cutoff).reduce((total, gain) => total + gain, 0);
}

/** @typedef {ReturnType<typeof documentFeatures> | null} Features */

const FIRST_ROWS = 50;
const CUTOFF = 10;

/**
 * Show one query of a ranking: labels coloured by grade, scores, contributions to the DCG, and features.
 * @param {Schemas["Ranking"]} ranking
 * @param {Schemas["Dataset"] | null} dataset null where it was deleted
 * @returns {{node: HTMLElement, show: (queryId: string, wanted: boolean) => Promise<void>}}
 *   wanted: whether the user chose the query, so that it is scrolled into view
 */
function rankedQuery({ id }, dataset) {
  const title = h("h2", "Query");
  const container = h("div");
  const node = h("section.panel.ranked-query", { "aria-label": "One query" }, [
    h("div.panel-head", title, gradeLegend(dataset?.statistics)),
    container,
  ]);
  const largest = dataset?.statistics?.label_range?.maximum;
  let requested = "";
  const read = latestReader(container, (error, retry) => {
    replace(title, `Query ${requested}`);
    const isAbsent = error instanceof Problem && error.status === 404;
    const absent = { title: "Not ranked", detail: `The ranking has no query ${requested}.` };
    replace(container, isAbsent ? problemBox(absent) : failureBox(error, retry));
  });

  /** @param {string} queryId @param {boolean} wanted */
  function show(queryId, wanted) {
    requested = queryId;
    return read(
      () => get(rankingApi(id, `?${new URLSearchParams({ query_id: queryId })}`)),
      ({ items: [{ query_text: text, documents }] }) => {
        const words = text ?? queryId;
        const link = dataset ? h("a", { href: queryPage(dataset.id, queryId) }, words) : words;
        replace(title, "Query ", link, text && h("small", ` ${queryId}`));
        draw(queryId, documents, FIRST_ROWS);
        if (wanted) node.scrollIntoView({ block: "nearest" });
      },
    );
  }

  /** @param {string} queryId @param {Schemas["RankedDocument"][]} documents @param {number} most */
  function draw(queryId, documents, most) {
    const { gains, dcg, ndcg } = discountedGains(
      documents.map(({ label }) => label ?? 0),
      CUTOFF,
    );
    const features = dataset && documentFeatures(dataset.id, queryId);
    const more =
      documents.length > most &&
      h("button.quiet.small.show-more", { click: () => draw(queryId, documents, Infinity) }, [
        `Show all ${counted(documents.length, "document")}`,
      ]);
    replace(container, [
      h("div.rows", [
        factList("figures", [
          ["Documents", count(documents.length)],
          ["Relevant", count(documents.filter(({ label }) => (label ?? 0) > 0).length)],
          [`DCG@${CUTOFF}`, metric(dcg)],
          [`NDCG@${CUTOFF} of these documents`, metric(ndcg)],
        ]),
        table(documents.slice(0, most), gains, features),
        more,
        hint(
          "A document adds (2^label − 1) / log2(1 + rank) to the DCG; evaluations use the conventions of each metric.",
        ),
      ]),
    ]);
  }

  /** @param {Schemas["RankedDocument"][]} documents @param {number[]} gains @param {Features} features */
  function table(documents, gains, features) {
    const most = Math.max(...gains, Number.MIN_VALUE);
    const heads = [
      ...numberHeads("Rank"),
      ...["Label", "Document"],
      ...numberHeads("Score", "Adds to DCG"),
      h("td.bar-head"),
      ...(features ? [""] : []),
    ];
    const rows = documents.flatMap((document, index) => row(document, gains[index], most, features, heads.length));
    return scrollRegion("Ranked documents", h("table.ranked", tableHead(...heads), h("tbody", ...rows)));
  }

  /**
   * @param {Schemas["RankedDocument"]} document @param {number} gain @param {number} most
   * @param {Features} features @param {number} columns
   */
  function row(document, gain, most, features, columns) {
    const { document_id: name, rank, score, label } = document;
    const inside = h("td", { colspan: columns });
    const below = h("tr.reasons", { hidden: true }, inside);
    const button = h(
      "button.quiet.small",
      { "aria-expanded": "false", "aria-label": `Features of ${name}`, click: toggle },
      "Features",
    );
    function toggle() {
      below.hidden = !below.hidden;
      setAttribute(button, "aria-expanded", String(!below.hidden));
      if (!inside.hasChildNodes()) features?.fill(inside, name);
    }
    const shown = h("tr", { "data-document": name }, [
      h("td.number", count(rank)),
      h("td", grade(label, largest)),
      rowHead(documentName(document)),
      h("td.number", short(score)),
      h("td.number", gain ? gain.toFixed(3) : h("span.missing", "0")),
      h("td.bar-cell", bar(gain / most)),
      features && h("td", button),
    ]);
    return features ? [shown, below] : [shown];
  }

  return { node, show };
}

const id = pageObjectId();
const container = elementById("ranking");

openObject(container, open, { noun: "ranking", id, list: "/rankings" });

async function open() {
  const ranking = await get(rankingApi(id, "?limit=1"));
  draw(ranking, await datasetOf(ranking));
}

/** Return the dataset of a ranking, null where it was deleted. @param {Schemas["Ranking"]} ranking */
async function datasetOf({ dataset_id: dataset }) {
  try {
    return await get(datasetApi(dataset));
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return null;
    throw error;
  }
}

/** @param {Schemas["Ranking"]} ranking @param {Schemas["Dataset"] | null} dataset */
function draw(ranking, dataset) {
  const { system, model_id: model, dataset_id: datasetId, findings } = ranking;
  const view = rankedQuery(ranking, dataset);
  const address = (/** @type {string} */ queryId) => `#${new URLSearchParams({ query: queryId })}`;
  const queries = dataset
    ? queryList(dataset, hashValue("prefix") ?? "", (prefix) => setHashValues({ prefix }), address)
    : emptyState("The dataset was deleted", "The ranking can still be downloaded.");
  document.title = `${system} · Rankery`;
  replace(container, [
    h("div.page-head", headingOn(system, "ranks", datasetId), actions(ranking)),
    metaLine(model ? ["Ranking of ", h("a", { href: modelPage(model) }, "a model")] : "Run", h("code", id)),
    resultFindings(findings),
    view.node,
    h("section.panel.ranking-queries", h("h2", "Queries"), queries),
  ]);
  const show = () => view.show(hashValue("query") ?? ranking.items[0].query_id, Boolean(hashValue("query")));
  addEventListener("hashchange", show);
  show();
}

/** @param {Schemas["Ranking"]} ranking */
function actions({ dataset_id: dataset }) {
  /** @param {string} format @param {string} words */
  const file = (format, words) => fileLink(rankingApi(id, `?format=${format}`), words);
  return h("div.actions", [
    h(
      "a.button",
      { href: `/evaluations?${new URLSearchParams({ model: id, dataset_id: dataset })}#evaluate`, needs: "write" },
      "Evaluate",
    ),
    h("a.button.quiet", { href: comparisonFormPage([id], dataset) }, "Compare"),
    h("a.button.quiet", { href: `/evaluations?${new URLSearchParams({ ranking_id: id })}` }, "Evaluations"),
    downloadMenu(h("div.menu-items", file("trec", "TREC run"), file("parquet", "Parquet"))),
    deleteButton("rankings", id),
  ]);
}
