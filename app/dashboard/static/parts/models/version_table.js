/**
 * The versions of a name, newest first, page after page, each to be opened and ticked.
 * @module
 */
import { get } from "../page/api.js";
import { modelPage } from "../page/addresses.js";
import { h, replace } from "../page/dom.js";
import { count, metric, timeElement } from "../page/format.js";
import { failureBox } from "../page/loaded.js";
import { datasetName } from "../page/names.js";
import { tagList } from "./tag_list.js";

const PAGE = 20;

/**
 * @param {string} name
 * @param {{tick: (model: any) => HTMLElement, current?: string}} options
 *   tick: a box to choose a version by; current: the id of the version whose page this is
 */
export function versionTable(name, { tick, current }) {
  const body = h("tbody");
  const below = h("div", { class: "rows" });
  const heads = ["Version", "Aliases", "Metrics", "Loss", "Trained on", "Iterations", "Made"];

  async function read(cursor) {
    below.setAttribute("aria-busy", "true");
    try {
      const page = await get(`/v1/models?${new URLSearchParams({ name, limit: String(PAGE), ...(cursor && { cursor }) })}`);
      const before = body.rows.length;
      body.append(...page.items.map(row));
      const next = page.next_cursor;
      replace(below, next && h("button", { type: "button", class: "quiet small show-more", click: () => read(next) }, "Show more"));
      if (before) body.rows[before]?.querySelector("a").focus();
    } catch (error) {
      replace(below, failureBox(error, () => read(cursor)));
    } finally {
      below.removeAttribute("aria-busy");
    }
  }

  function row(model) {
    const { id, version, aliases, tags, loss, source, dataset_id: dataset, best_iteration: iterations, created_at: created } = model;
    const reference = `${name}:${version}`;
    const link = h("a", { href: modelPage(reference), "aria-current": id === current && "page" }, reference);
    return h(
      "tr",
      { "data-model": id },
      h("th", { scope: "row" }, h("span", { class: "check" }, tick(model), link)),
      h("td", {}, ...aliases.map((alias) => h("span", { class: "tag" }, `@${alias}`)), tagList(tags)),
      h("td", {}, metricWords(model.metrics)),
      h("td", {}, loss?.name || source),
      h("td", {}, dataset ? datasetName(dataset) : "–"),
      h("td", { class: "number" }, count(iterations)),
      h("td", {}, timeElement(created)),
    );
  }

  read("");
  return h(
    "div",
    { class: "versions rows" },
    h(
      "div",
      { class: "scroll", role: "region", "aria-label": `Versions of ${name}`, tabindex: "0" },
      h("table", {}, h("thead", {}, h("tr", {}, ...heads.map((words) => h("th", { scope: "col", class: words === "Iterations" && "number" }, words)))), body),
    ),
    below,
  );
}

function metricWords(metrics) {
  const entries = Object.entries(metrics || {});
  if (!entries.length) return h("span", { class: "missing" }, "not tested");
  const [[name, value], ...others] = entries;
  const all = entries.map(([each, number]) => `${each} ${metric(number)}`).join(", ");
  return h("span", { title: all }, h("strong", {}, metric(value)), ` ${name}`, others.length > 0 && h("small", {}, ` and ${others.length} more`));
}
