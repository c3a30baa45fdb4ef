/**
 * One query as a ranking has it: labels coloured by grade, scores, what each document adds to the DCG, its features.
 * @module
 */
import { get, Problem } from "../page/api.js";
import { queryPage, rankingApi } from "../page/addresses.js";
import { discountedGains } from "./discounted_gains.js";
import { h, problemBox, replace, setAttribute } from "../page/dom.js";
import { documentFeatures } from "../datasets/document_features.js";
import { count, counted, metric, short } from "../page/format.js";
import { grade, gradeLegend } from "../figures/grade.js";
import { failureBox } from "../page/loaded.js";
import { bar } from "../figures/bars.js";

const FIRST = 50;
const CUTOFF = 10;

/**
 * @param {any} ranking
 * @param {any | null} dataset null where it is gone
 * @returns {{node: HTMLElement, show: (queryId: string, wanted: boolean) => Promise<void>}}
 *   wanted: whether the user asked for that query, who then is brought to it
 */
export function rankedQuery({ id }, dataset) {
  const title = h("h2", {}, "Query");
  const place = h("div", {});
  const node = h("section", { class: "panel ranked-query", "aria-label": "One query" }, h("div", { class: "panel-head" }, title, gradeLegend(dataset?.statistics)), place);
  const largest = dataset?.statistics?.label_range?.maximum;
  let asked = 0;

  async function show(queryId, wanted) {
    const turn = ++asked;
    place.setAttribute("aria-busy", "true");
    try {
      const { items } = await get(rankingApi(id, `?${new URLSearchParams({ query_id: queryId })}`));
      if (turn !== asked) return;
      replace(title, "Query ", dataset ? h("a", { href: queryPage(dataset.id, queryId) }, queryId) : queryId);
      draw(queryId, items[0].documents, FIRST);
      if (wanted) node.scrollIntoView({ block: "nearest" });
    } catch (error) {
      if (turn !== asked) return;
      replace(title, `Query ${queryId}`);
      replace(place, error instanceof Problem && error.status === 404 ? problemBox({ title: "Not ranked", detail: `The ranking has no query ${queryId}.` }) : failureBox(error, () => show(queryId, wanted)));
    } finally {
      if (turn === asked) place.removeAttribute("aria-busy");
    }
  }

  function draw(queryId, documents, most) {
    const { gains, dcg, ndcg } = discountedGains(documents.map(({ label }) => label ?? 0), CUTOFF);
    const features = dataset && documentFeatures(dataset.id, queryId);
    const facts = [
      ["documents", count(documents.length)],
      ["relevant", count(documents.filter(({ label }) => label > 0).length)],
      [`DCG@${CUTOFF}`, metric(dcg)],
      [`NDCG@${CUTOFF} of these documents`, metric(ndcg)],
    ];
    const more = documents.length > most && h("button", { type: "button", class: "quiet small show-more", click: () => draw(queryId, documents, Infinity) }, `Show all ${counted(documents.length, "document")}`);
    replace(place, h("div", { class: "rows" }, h("dl", { class: "figures" }, ...facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))), table(documents.slice(0, most), gains, features), more, h("p", { class: "hint" }, "A document adds (2^label − 1) / log2(1 + rank) to the DCG; evaluations tell each metric by its own conventions.")));
  }

  function table(documents, gains, features) {
    const most = Math.max(...gains, Number.MIN_VALUE);
    const heads = [["Rank", "number"], ["Label"], ["Document"], ["Score", "number"], ["Adds to DCG", "number"], ["", "bar-head"], features && [""]].filter(Boolean);
    const rows = documents.flatMap((document, index) => row(document, gains[index], most, features, heads.length));
    return h(
      "div",
      { class: "scroll", role: "region", "aria-label": "Documents in their order", tabindex: "0" },
      h("table", { class: "ranked" }, h("thead", {}, h("tr", {}, ...heads.map(([words, kind]) => h(words ? "th" : "td", { scope: words && "col", class: kind }, words)))), h("tbody", {}, ...rows)),
    );
  }

  function row({ document_id: name, rank, score, label }, gain, most, features, columns) {
    const inside = h("td", { colspan: columns });
    const below = h("tr", { class: "reasons", hidden: true }, inside);
    const button = features && h("button", { type: "button", class: "quiet small", "aria-expanded": "false", "aria-label": `Features of ${name}`, click: toggle }, "Features");
    function toggle() {
      below.hidden = !below.hidden;
      setAttribute(button, "aria-expanded", String(!below.hidden));
      if (!inside.hasChildNodes()) features.fill(inside, name);
    }
    const shown = h(
      "tr",
      { "data-document": name },
      h("td", { class: "number" }, count(rank)),
      h("td", {}, grade(label, largest)),
      h("th", { scope: "row" }, h("span", { class: "name", title: name }, name)),
      h("td", { class: "number" }, short(score)),
      h("td", { class: "number" }, gain ? gain.toFixed(3) : h("span", { class: "missing" }, "0")),
      h("td", { class: "bar-cell" }, bar(gain / most)),
      features && h("td", {}, button),
    );
    return features ? [shown, below] : [shown];
  }

  return { node, show };
}
