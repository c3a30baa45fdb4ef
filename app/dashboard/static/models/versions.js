/** Versions of a model name, and models selected for comparison. @module */
import { pagedTable } from "../tables/table.js";
import { datasetName } from "../datasets/dataset.js";
import { kindName } from "./network.js";
import { comparisonFormPage, modelPage } from "../page/paths.js";
import { tagList } from "../page/content.js";
import { findAll, h, setAttribute, setText } from "../page/dom.js";
import { numberHeads } from "../page/parts.js";
import { count, metric, timeElement } from "../page/format.js";

/**
 * Collect the models that are selected for comparison on the page, and update the link that compares them.
 * @param {HTMLAnchorElement} link
 * @returns {(reference: string, createdAt: string) => HTMLInputElement} makes the check box of a model from its reference and time of creation
 */
export function modelTicks(link) {
  /** @type {Map<string, string>} when the ticked models were made, by reference */
  const ticked = new Map();

  /** @param {string} reference @param {string} createdAt @param {boolean} wanted */
  function tick(reference, createdAt, wanted) {
    if (wanted) ticked.set(reference, createdAt);
    else ticked.delete(reference);
    for (const box of findAll(document, `input[value="${CSS.escape(reference)}"]`, HTMLInputElement))
      box.checked = wanted;
    show();
  }

  /** Older models come first, as baselines of the newer ones. */
  function show() {
    const enough = ticked.size > 1;
    const ordered = [...ticked].sort(([, one], [, other]) => one.localeCompare(other)).map(([name]) => name);
    setText(link, enough ? `Compare ${ticked.size} models` : "Compare");
    setAttribute(link, "href", enough && comparisonFormPage(ordered));
    setAttribute(link, "aria-disabled", !enough && "true");
    setAttribute(link, "title", !enough && "Tick two or more models");
  }

  return (reference, createdAt) => {
    const box = h("input", {
      type: "checkbox",
      value: reference,
      "aria-label": `Compare ${reference}`,
      change: () => void tick(reference, createdAt, box.checked),
    });
    box.checked = ticked.has(reference);
    return box;
  };
}

const PAGE_SIZE = 20;

/**
 * Return the table of the versions of a name, newest first, with check boxes.
 * @param {string} name
 * @param {{tick: (model: Schemas["Model"]) => HTMLElement, current?: string}} options
 *   tick: a box to choose a version by; current: the id of the version of this page
 */
export function versionTable(name, { tick, current }) {
  const words = ["Version", "Aliases and tags", "Metrics", "Kind", "Loss", "Trained on"];
  const heads = [...words, numberHeads("Iterations"), "Created"];

  /** @param {Schemas["Model"]} model @returns {Content} */
  function cells(model) {
    const { id, version, aliases, tags, loss, source, dataset_id: dataset } = model;
    const reference = `${name}:${version}`;
    const link = h("a", { href: modelPage(reference), "aria-current": id === current && "page" }, reference);
    return [
      { "data-model": id },
      h("span.check", tick(model), link),
      [...aliases.map((alias) => h("span.tag", `@${alias}`)), ...tagList(tags)],
      metricLabel(model.metrics),
      kindName(model.kind),
      loss?.name || source,
      dataset ? datasetName(dataset) : "–",
      count(model.best_iteration),
      timeElement(model.created_at),
    ];
  }

  const address = /** @type {const} */ (`/v1/models?${new URLSearchParams({ name, limit: String(PAGE_SIZE) })}`);
  return h("div.versions.rows", ...pagedTable(`Versions of ${name}`, heads, address, cells));
}

/** @param {Schemas["Model"]["metrics"]} metrics */
function metricLabel(metrics) {
  const entries = Object.entries(metrics || {});
  if (!entries.length) return h("span.missing", "not tested");
  const [[name, value], ...others] = entries;
  const all = entries.map(([each, number]) => `${each} ${metric(number)}`).join(", ");
  return h("span", { title: all }, [
    h("strong", metric(value)),
    ` ${name}`,
    others.length > 0 && h("small", ` and ${others.length} more`),
  ]);
}
