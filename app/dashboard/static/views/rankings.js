/**
 * `/rankings`: rankings of models and uploaded runs, and the forms that add one.
 * @module
 */
import { chooseDataset, offerSystems, offerUnchosen } from "../forms/choices.js";
import { followDialogs, onSubmit, payloadOf, showError } from "../forms/forms.js";
import { runForm } from "../forms/upload.js";
import { deleteTicked } from "../lifecycle/deletion.js";
import { compareWith, datasetPage, modelPage, openPage, rankingPage } from "../page/addresses.js";
import { creator } from "../page/api.js";
import { elementById, emptyState, find, findAll, h } from "../page/dom.js";
import { count } from "../page/format.js";
import { CREATED, ID, JOB, projectColumn } from "../tables/columns.js";
import { listTable, offerDatasetFilter, offerProjectFilter } from "../tables/list.js";
import { followFilters, isNarrowed, onFirstPage } from "../tables/paged_list.js";

/** @type {import("../tables/list.js").ListColumn[]} */
const COLUMNS = [
  {
    key: "system",
    label: "Model or run",
    sort: "system",
    cell: ({ id, system }) => h("a", { class: "name", href: rankingPage(id), title: system }, system),
  },
  {
    key: "source",
    label: "Source",
    cell: ({ model_id: model }) =>
      model
        ? h("a", { class: "quiet-link", href: modelPage(model) }, "model")
        : h("span", { class: "tag plain" }, "uploaded run"),
  },
  {
    key: "dataset",
    label: "Dataset",
    sort: "dataset",
    fields: ["dataset_name"],
    cell: ({ dataset_id: id, dataset_name: name }) =>
      h("a", { class: "quiet-link name", href: datasetPage(id), title: name ?? id }, name ?? id),
  },
  {
    key: "queries",
    label: "Queries",
    sort: "queries",
    number: true,
    fields: ["queries"],
    cell: ({ queries }) => count(queries),
  },
  {
    key: "documents",
    label: "Documents",
    sort: "documents",
    number: true,
    fields: ["documents"],
    cell: ({ documents }) => count(documents),
  },
  CREATED,
  JOB,
  projectColumn("/rankings"),
  ID,
];

/**
 * Return the actions for ticked rankings: those of the same queries can be compared, all can be deleted.
 *
 * @param {import("../tables/list.js").Ticked} ticked
 */
function bulkActions(ticked) {
  const { ids, items } = ticked;
  return [
    comparing(ids, new Set(ids.map((id) => items.get(id)?.dataset_id ?? ""))),
    deleteTicked("Delete…", "rankings", ticked),
  ];
}

/** @param {string[]} ids @param {Set<string>} datasets */
function comparing(ids, datasets) {
  if (ids.length < 2) return h("span", { class: "hint" }, "Select another ranking to compare it with this one.");
  if (datasets.size > 1) return h("span", { class: "hint" }, "Rankings of one dataset can be compared.");
  return h(
    "a",
    { class: "button primary", href: compareWith(ids, [...datasets][0]) },
    `Compare ${ids.length} rankings`,
  );
}

const filters = elementById("filters", HTMLFormElement);
const form = elementById("rank-form", HTMLFormElement);
const create = creator();

const run = elementById("run-form", HTMLFormElement);

const again = listTable(elementById("rankings"), {
  path: "/v1/rankings",
  form: filters,
  label: "Rankings",
  noun: "ranking",
  filters: ["dataset_id", "uploaded", "project"],
  fields: ["system", "model_id", "dataset_id", "created_at"],
  columns: COLUMNS,
  name: ({ system, id }) => `${system}, ${id}`,
  actions: bulkActions,
  nothing,
});
followFilters(filters, again);
offerProjectFilter(filters).catch(() => {});
offerDatasetFilter(filters, "dataset_id").catch(() => {});
onSubmit(form, async () => follow(await create("/v1/jobs", { kind: "rank", ...payloadOf(form) })));
runForm(run, follow);
followDialogs({
  rank: () => offerChoices().catch((error) => showError(form, error)),
  run: () =>
    offerUnchosen(findAll(run, "select[data-list]", HTMLSelectElement), null).catch((error) => showError(run, error)),
});

async function offerChoices() {
  const wanted = new URLSearchParams(location.search).get("dataset_id");
  const selects = findAll(form, 'select[data-list="ready"]', HTMLSelectElement);
  await Promise.all([
    offerUnchosen(selects, wanted),
    offerSystems(find(form, "input[list]", HTMLInputElement), { runs: false }),
  ]);
  chooseDataset(selects, wanted);
}

/** Open the page of a job, which redirects to the ranking once it exists. @param {{id: string}} job */
function follow({ id }) {
  openPage(`/jobs/${encodeURIComponent(id)}#result`);
}

function nothing() {
  if (isNarrowed(filters)) return emptyState("No such rankings", "Nothing ranks so yet.", "/rankings", "All rankings");
  if (!onFirstPage())
    return emptyState("No older rankings", "This is the end of the list.", "/rankings", "Newest rankings");
  return emptyState(
    "No rankings yet",
    "Let a model rank a dataset, or upload what another system ranks.",
    "#rank",
    "Rank a dataset",
  );
}
