/**
 * One name in the list of models: its latest version, its aliases and its main metric, opening to all versions.
 * @module
 */
import { modelPage } from "../page/addresses.js";
import { h } from "../page/dom.js";
import { counted, metric, timeElement } from "../page/format.js";
import { datasetName } from "../page/names.js";
import { tagList } from "./tag_list.js";
import { versionTable } from "./version_table.js";

/**
 * @param {{name: string, aliases: Record<string, number>, latest: any}} named
 * @param {(reference: string, made: string) => HTMLElement} tick
 */
export function modelRow({ name, aliases, latest }, tick) {
  const reference = `${name}:${latest.version}`;
  const versions = h("details", { class: "more" }, h("summary", {}, counted(latest.version, "version")));
  versions.addEventListener("toggle", () => {
    if (versions.open && versions.childElementCount === 1) versions.append(versionTable(name, { tick: (model) => tick(`${name}:${model.version}`, model.created_at) }));
  });
  return h(
    "article",
    { class: "panel model", "data-name": name },
    h(
      "div",
      {},
      h("h2", {}, h("span", { class: "check" }, tick(reference, latest.created_at), h("a", { class: "quiet-link", href: modelPage(reference), title: `Open ${reference}` }, name))),
      h("p", { class: "job-meta" }, reference, " · ", latest.loss?.name || latest.source, latest.dataset_id && [" · ", datasetName(latest.dataset_id)], " · ", timeElement(latest.created_at)),
      latest.description && h("p", { class: "model-words" }, latest.description),
    ),
    h("p", { class: "model-marks" }, ...Object.entries(aliases).map(([alias, version]) => aliasLink(name, alias, version)), tagList(latest.tags)),
    figures(latest),
    versions,
  );
}

function aliasLink(name, alias, version) {
  return h("a", { class: "tag", href: modelPage(`${name}:${version}`), title: `${name}@${alias} is version ${version}` }, `@${alias} `, h("small", {}, version));
}

/** The metrics of the test; where it came from a training, they lead to its evaluation. */
function figures({ metrics, job_id: job }) {
  const entries = Object.entries(metrics || {});
  if (!entries.length) return h("p", { class: "hint" }, "not tested");
  const shown = entries.slice(0, 2).map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, metric(value))));
  return h("div", { class: "model-metrics" }, h("dl", { class: "figures" }, ...shown), h("a", { class: "hint", href: `/jobs/${encodeURIComponent(job)}#result` }, "Evaluation"));
}
