/**
 * One query of a comparison as both systems of a pair rank it, with a field to look at any other.
 * @module
 */
import { get, Problem } from "../page/api.js";
import { comparisonApi, queryPage } from "../page/addresses.js";
import { h, problemBox, replace } from "../page/dom.js";
import { failureBox } from "../page/loaded.js";
import { reasons } from "./reasons.js";
import { searchField } from "../lists/search_field.js";
import { twoRankings } from "./two_rankings.js";

const TOP = 20;

/**
 * @param {any} comparison
 * @param {(queryId: string) => void} wanted called with the id that was typed
 * @returns {{node: HTMLElement, show: (queryId: string, pair: any, metric: string) => Promise<void>}}
 */
export function comparedQuery({ id, dataset_id: dataset, systems }, wanted) {
  const title = h("h3", { tabindex: "-1" }, "A query as both rank it");
  const field = searchField("Look at a query by its id", "Id of a query", { keydown: (event) => event.key === "Enter" && field.value && wanted(field.value.trim()) });
  const place = h("div", {});
  const node = h("section", { class: "compared-query", "aria-label": "A query as both rank it" }, h("div", { class: "panel-head" }, title, field), place);
  let asked = 0;
  replace(place, h("p", { class: "hint" }, "Choose a query above, or type the id of any other."));

  async function show(queryId, pair, metric) {
    const turn = ++asked;
    place.setAttribute("aria-busy", "true");
    try {
      const query = await get(comparisonApi(id, `/rankings?${new URLSearchParams({ query_id: queryId, top: String(TOP) })}`));
      if (turn !== asked) return;
      const [left, right] = [query.systems[pair.a], query.systems[pair.b]];
      replace(title, "Query ", h("a", { href: queryPage(dataset, queryId) }, queryId));
      const why = reasons(dataset, queryId, [{ ...left, ...systems[pair.a] }, { ...right, ...systems[pair.b] }]);
      replace(place, twoRankings(left, right, { metric, largestLabel: largest(query.systems), open: why?.open }), why?.node);
    } catch (error) {
      if (turn !== asked) return;
      replace(title, "A query as both rank it");
      replace(place, error instanceof Problem && error.status === 404 ? problemBox(error) : failureBox(error, () => show(queryId, pair, metric)));
    } finally {
      if (turn === asked) place.removeAttribute("aria-busy");
    }
  }
  return { node, show };
}

function largest(systems) {
  return Math.max(1, ...systems.flatMap(({ ranking }) => ranking.map(({ label }) => label ?? 0)));
}
