/** `/rankings`: rankings of models and uploaded runs, and the forms that add one. @module */
import { chooseDataset, offerSystems, offerDatasetsWithPlaceholder } from "../forms/choices.js";
import { bindDialogs, onSubmit, payloadOf } from "../forms/forms.js";
import { runForm } from "../forms/upload.js";
import { deleteTicked } from "../lifecycle/deletion.js";
import { comparisonFormPage, modelPage, openResult, rankingPage } from "../page/paths.js";
import { creator } from "../page/api.js";
import { elementById, find, findAll, h } from "../page/dom.js";
import { count } from "../page/format.js";
import { CREATED, DATASET, fieldColumn, JOB, nameColumn, projectColumn } from "../tables/columns.js";
import { showList } from "../tables/list.js";

/** @param {string | null} model */
const sourceLink = (model) =>
  model ? h("a.quiet-link", { href: modelPage(model) }, "model") : h("span.tag.plain", "run");

const COLUMNS = [
  nameColumn("Model or run", rankingPage, "system"),
  fieldColumn("model_id", "Source", sourceLink, { key: "source" }),
  DATASET,
  fieldColumn("queries", "Queries", count, { sort: "queries", number: true }),
  fieldColumn("documents", "Documents", count, { sort: "documents", number: true }),
  CREATED,
  JOB,
  projectColumn("/rankings"),
];

/** Rankings of the same queries can be compared. @param {Ticked} ticked */
function compareTicked({ ids, items }) {
  const datasets = new Set(ids.map((id) => items.get(id)?.dataset_id ?? ""));
  if (ids.length < 2) return h("span.hint", "Select another ranking to compare it with this one.");
  if (datasets.size > 1) return h("span.hint", "Only rankings of the same dataset can be compared.");
  return h("a.button.primary", { href: comparisonFormPage(ids, [...datasets][0]) }, `Compare ${ids.length} rankings`);
}

const form = elementById("rank-form", HTMLFormElement);
const create = creator();

const run = elementById("run-form", HTMLFormElement);

showList({
  kind: "rankings",
  noun: "ranking",
  filters: ["dataset_id", "uploaded"],
  fields: ["system", "model_id", "dataset_id", "created_at"],
  columns: COLUMNS,
  name: ({ system, id }) => `${system}, ${id}`,
  actions: [compareTicked, deleteTicked],
  empty: ["Rank a dataset with a model, or upload a run of another system.", "#rank", "Rank a dataset"],
});
onSubmit(form, async () => openResult(await create("/v1/jobs", { kind: "rank", ...payloadOf(form) })));
runForm(run, openResult);
bindDialogs({
  rank: offerChoices,
  run: () => offerDatasetsWithPlaceholder(findAll(run, "select[data-list]", HTMLSelectElement), null),
});

async function offerChoices() {
  const wanted = new URLSearchParams(location.search).get("dataset_id");
  const selects = findAll(form, 'select[data-list="ready"]', HTMLSelectElement);
  await Promise.all([
    offerDatasetsWithPlaceholder(selects, wanted),
    offerSystems(find(form, "input[list]", HTMLInputElement), { runs: false }),
  ]);
  chooseDataset(selects, wanted);
}
