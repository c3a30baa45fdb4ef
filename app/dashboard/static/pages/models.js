/**
 * `/models`: trained models, newest first, with the metrics of their test.
 * @module
 */
import { conditionalReader } from "../parts/api.js";
import { compareWith, modelPage } from "../parts/addresses.js";
import { emptyState, h, problemBox, replace, setAttribute, setText } from "../parts/dom.js";
import { count, metric, size, timeElement } from "../parts/format.js";
import { datasetName } from "../parts/names.js";
import { apiAddress, showPager } from "../parts/pager.js";
import { poll } from "../parts/poll.js";

const list = document.getElementById("models");
const compare = document.getElementById("compare");
const read = conditionalReader();
/** @type {Map<string, string>} references of the ticked models, by the time they were made */
const ticked = new Map();
let shown = null;

poll(refresh, (problem) => replace(list, problemBox(problem)));

async function refresh() {
  const page = await read(apiAddress("/v1/models", 50, ["name"]));
  if (page === shown) return false;
  list.removeAttribute("aria-busy");
  showPager(page.next_cursor);
  if (page.items.length) replace(list, ...page.items.map(card));
  else replace(list, emptyState("No models yet", "A training job that succeeds leaves its model here.", "/train", "New training"));
  if (shown === null) document.getElementById(location.hash.slice(1))?.scrollIntoView({ block: "center" });
  shown = page;
  return false;
}

/** Older models come first: the newer ones are set against them. */
function tick({ created_at: made }, reference, wanted) {
  if (wanted) ticked.set(reference, made);
  else ticked.delete(reference);
  const ordered = [...ticked].sort(([, one], [, other]) => one.localeCompare(other)).map(([name]) => name);
  setText(compare, ticked.size > 1 ? `Compare ${ticked.size} models` : "Compare");
  setAttribute(compare, "href", ticked.size > 1 && compareWith(ordered));
  setAttribute(compare, "aria-disabled", ticked.size < 2 && "true");
  setAttribute(compare, "title", ticked.size < 2 && "Tick two or more models");
}

function card(model) {
  const reference = `${model.name}:${model.version}`;
  const box = h("input", { type: "checkbox", "aria-label": `Compare ${reference}`, change: () => tick(model, reference, box.checked) });
  box.checked = ticked.has(reference);
  const facts = [
    `${count(model.best_iteration)} iterations`,
    `${count(model.feature_names.length)} features`,
    size(model.size_bytes),
  ];
  return h(
    "article",
    { class: "panel model", id: model.id },
    h(
      "div",
      { class: "model-head" },
      h("h2", {}, h("label", { class: "check" }, box, reference), ...model.aliases.map((alias) => h("span", { class: "tag" }, `@${alias}`))),
      h("p", { class: "job-meta" }, model.loss?.name || model.source, " · ", model.dataset_id && [datasetName(model.dataset_id), " · "], timeElement(model.created_at)),
      h("p", { class: "job-meta" }, facts.join(" · ")),
    ),
    figures(model.metrics),
    h(
      "div",
      { class: "actions" },
      h("a", { class: "button", href: modelPage(reference), "aria-label": `Open ${reference}` }, "Open"),
      model.job_id && model.metrics && h("a", { class: "button quiet", href: `/jobs/${encodeURIComponent(model.job_id)}#result` }, "Evaluation"),
      model.job_id && h("a", { class: "button quiet", href: `/jobs/${encodeURIComponent(model.job_id)}` }, "Job"),
      h("a", { class: "button quiet", href: `/v1/models/${encodeURIComponent(model.id)}/export?format=lightgbm`, download: "" }, "Model file"),
    ),
  );
}

function figures(metrics) {
  const entries = Object.entries(metrics || {});
  if (!entries.length) return h("p", { class: "hint" }, "not tested");
  return h("dl", { class: "figures" }, ...entries.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, metric(value)))));
}
