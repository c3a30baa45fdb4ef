/**
 * One dataset: whether it can be trained on, what is in it, or why not.
 * @module
 */
import { h, problemBox, svg } from "./dom.js";
import { count, short, size, timeElement } from "./format.js";

/**
 * @param {any} dataset
 * @param {(dataset: any) => Promise<Error | null>} remove
 */
export function datasetCard(dataset, remove) {
  const { status, statistics, problem } = dataset;
  return h(
    "article",
    { class: "panel dataset", "data-dataset": dataset.id, "data-status": status },
    h(
      "div",
      { class: "dataset-head" },
      h("h2", {}, dataset.name, " ", h("span", { class: "status", "data-status": status }, status)),
      h("p", { class: "job-meta" }, source(dataset), " · ", timeElement(dataset.created_at)),
    ),
    h(
      "div",
      { class: "actions" },
      status === "ready" && h("a", { class: "button", href: `/train?dataset=${encodeURIComponent(dataset.id)}` }, "Train on it"),
      dataset.job_id && h("a", { class: "button quiet", href: `/jobs/${encodeURIComponent(dataset.job_id)}` }, "Job"),
      status !== "pending" && deleteButton(dataset, remove),
    ),
    status === "pending" && h("progress", { "aria-label": `Reading ${dataset.name}` }),
    statistics && contents(statistics),
    problem && problemBox(problem),
  );
}

function source({ source: from, size_bytes: bytes }) {
  if (from?.kind === "synthetic") return `synthetic, seed ${from.seed}, polynomials ${from.polynomial_seed}`;
  return [from?.filename, bytes && size(bytes)].filter(Boolean).join(", ") || "upload";
}

function deleteButton(dataset, remove) {
  const button = h("button", { type: "button", class: "quiet danger", "aria-label": `Delete ${dataset.name}`, click }, "Delete");
  async function click() {
    const error = await remove(dataset);
    button.parentElement.querySelector(".error")?.remove();
    if (error) button.after(h("span", { class: "error", role: "alert" }, error.message));
    button.focus();
  }
  return button;
}

function contents(statistics) {
  const perQuery = statistics.documents_per_query || {};
  const facts = [
    ["queries", count(statistics.queries)],
    ["documents", count(statistics.documents)],
    ["features", count(statistics.features)],
    ["documents a query", `${short(perQuery.min)} – ${short(perQuery.max)}, median ${short(perQuery.median)}`],
    ["queries without relevant", count(statistics.queries_without_relevant)],
  ];
  return h(
    "div",
    { class: "dataset-contents" },
    h("dl", { class: "figures" }, ...facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
    statistics.labels?.length > 0 && labels(statistics.labels),
  );
}

/** How many documents hold each label, as bars. */
function labels(counts) {
  const largest = Math.max(...counts.map((each) => each.documents));
  const bar = ({ documents }) =>
    svg(
      "svg",
      { class: "label-bar", viewBox: "0 0 100 6", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { x: 0, y: 0, width: Math.max(0.5, (100 * documents) / largest), height: 6, rx: 1 }),
    );
  return h(
    "table",
    { class: "labels" },
    h("caption", {}, "Documents by label"),
    h("tbody", {}, ...counts.map((each) => h("tr", {}, h("th", { scope: "row" }, short(each.label)), h("td", { class: "bar-cell" }, bar(each)), h("td", { class: "number" }, count(each.documents))))),
  );
}
