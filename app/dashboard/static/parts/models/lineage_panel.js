/**
 * What a model was made of and by what, and whether the same bytes come out once more.
 * @module
 */
import { creator } from "../page/api.js";
import { datasetPage, modelApi, modelPage } from "../page/addresses.js";
import { h, problemBox, replace } from "../page/dom.js";
import { followJob, unfinished } from "../jobs/followed_job.js";
import { counted, short } from "../page/format.js";
import { foundWords } from "../jobs/job_labels.js";
import { failureBox } from "../page/loaded.js";
import { datasetName } from "../page/names.js";

/** @param {any} model */
export function lineagePanel(model) {
  const { lineage, sha256, source } = model;
  const head = h("h2", {}, "Lineage");
  const checksum = fact("sha-256 of its text", h("code", { class: "digest" }, sha256));
  const imported = source === "imported";
  if (!lineage) return h("section", { class: "panel" }, head, h("p", { class: "hint" }, "It was made before lineages were kept."), h("dl", { class: "facts wide" }, checksum));
  return h(
    "section",
    { class: "panel lineage" },
    h("div", { class: "panel-head" }, head, h("p", { class: "hint" }, imported ? "It was imported: of what it was made is not known here." : "All that decides its bytes.")),
    h("dl", { class: "facts wide" }, ...Object.entries(lineage.datasets).map(dataset), lineage.init_model && base(lineage.init_model), checksum),
    h(
      "dl",
      { class: "facts" },
      lineage.seed !== null && fact("seed", short(lineage.seed)),
      fact("rankery", lineage.rankery),
      ...Object.entries(lineage.libraries).map(([name, version]) => fact(name, version)),
      fact("machine", lineage.machine),
    ),
    h("details", { class: "more" }, h("summary", {}, "What was asked for, as JSON"), h("pre", { tabindex: "0" }, JSON.stringify(lineage.spec, null, 2))),
    !imported && reproduction(model),
  );
}

function fact(name, value) {
  return h("div", {}, h("dt", {}, name), h("dd", {}, value ?? "–"));
}

function dataset([role, { id, digest }]) {
  return fact(role, [h("a", { href: datasetPage(id) }, datasetName(id)), digest && h("small", {}, "content ", h("code", { class: "digest" }, digest))]);
}

function base({ id, model, trees }) {
  return fact("went on from", [h("a", { href: modelPage(id) }, model), h("small", {}, counted(trees, "tree"))]);
}

function reproduction({ id }) {
  const place = h("div", { class: "reproduction", hidden: true });
  const create = creator();
  const button = h("button", { type: "button", click: () => again().catch(refused) }, "Train again and compare bytes");

  async function again() {
    button.disabled = true;
    const job = await followJob(place, await create(modelApi(id, "/reproduce"), {}));
    button.disabled = false;
    replace(place, unfinished(job) || answer(job));
  }

  function refused(error) {
    button.disabled = false;
    place.hidden = false;
    replace(place, failureBox(error, () => again().catch(refused)));
  }

  return h("div", { class: "rows" }, h("div", { class: "actions" }, button), place);
}

function answer(job) {
  const { equal, sha256 } = job.result;
  if (equal) return h("p", { class: "verdict-line", "data-verdict": "better" }, h("strong", {}, "The same bytes came out."), " ", h("code", { class: "digest" }, sha256));
  return problemBox({ title: "Not the same bytes", detail: foundWords(job) });
}
