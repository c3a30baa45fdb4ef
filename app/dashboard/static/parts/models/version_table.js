/**
 * The versions of a name, newest first, page after page, each to be opened and ticked.
 * @module
 */
import { longerTable } from "../lists/longer_table.js";
import { modelPage } from "../page/addresses.js";
import { h } from "../page/dom.js";
import { count, metric, timeElement } from "../page/format.js";
import { datasetName } from "../page/names.js";
import { tagList } from "./tag_list.js";

const PAGE = 20;

/**
 * @param {string} name
 * @param {{tick: (model: any) => HTMLElement, current?: string}} options
 *   tick: a box to choose a version by; current: the id of the version whose page this is
 */
export function versionTable(name, { tick, current }) {
  const heads = ["Version", "Aliases", "Metrics", "Loss", "Trained on", "Iterations", "Made"];

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

  const cells = heads.map((words) => h("th", { scope: "col", class: words === "Iterations" && "number" }, words));
  const address = `/v1/models?${new URLSearchParams({ name, limit: String(PAGE) })}`;
  return h("div", { class: "versions rows" }, ...longerTable(`Versions of ${name}`, cells, address, row));
}

function metricWords(metrics) {
  const entries = Object.entries(metrics || {});
  if (!entries.length) return h("span", { class: "missing" }, "not tested");
  const [[name, value], ...others] = entries;
  const all = entries.map(([each, number]) => `${each} ${metric(number)}`).join(", ");
  return h("span", { title: all }, h("strong", {}, metric(value)), ` ${name}`, others.length > 0 && h("small", {}, ` and ${others.length} more`));
}
