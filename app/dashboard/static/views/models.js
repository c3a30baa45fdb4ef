/**
 * `/models`: versions of models, and the form that imports one.
 * @module
 */
import { datasetPage } from "../page/addresses.js";
import { tagList } from "../forms/labels.js";
import { followDialogs, onSubmit } from "../forms/forms.js";
import { acceptDrop, contentsOf, sentWatcher, upload } from "../forms/upload.js";
import { followJob, unfinished } from "../jobs/actions.js";
import { deleteTicked } from "../lifecycle/deletion.js";
import { labelTicked } from "../lifecycle/labelling.js";
import { kindName } from "../models/network.js";
import { compareWith, modelPage, openPage } from "../page/addresses.js";
import { Problem } from "../page/api.js";
import { elementById, emptyState, find, h, problemBox, replace } from "../page/dom.js";
import { count, metric, size } from "../page/format.js";
import { CREATED, ID, projectColumn } from "../tables/columns.js";
import { listTable, metricColumns, offerProjectFilter } from "../tables/list.js";
import { followFilters, isNarrowed, onFirstPage } from "../tables/paged_list.js";

const MOST_COMPARED = 20;
const FIELDS = ["name", "version", "aliases", "name_aliases", "metrics", "job_id", "created_at"];

/** @type {import("../tables/list.js").ListColumn[]} */
const COLUMNS = [
  {
    key: "name",
    label: "Model",
    sort: "name",
    cell: (model) =>
      h("a", { class: "name", href: modelPage(reference(model)), title: reference(model) }, reference(model)),
  },
  { key: "aliases", label: "Aliases", cell: aliases },
  {
    key: "loss",
    label: "Loss",
    fields: ["loss.name", "source"],
    cell: ({ loss, source }) => loss?.name || source,
  },
  { key: "kind", label: "Kind", fields: ["kind"], cell: ({ kind }) => kindName(kind) },
  {
    key: "dataset",
    label: "Trained on",
    fields: ["dataset_id", "dataset_name"],
    cell: ({ dataset_id: id, dataset_name: name }) =>
      name && h("a", { class: "quiet-link name", href: datasetPage(id), title: name }, name),
  },
  {
    key: "trees",
    label: "Iterations",
    sort: "trees",
    number: true,
    fields: ["best_iteration"],
    cell: ({ best_iteration: trees }) => count(trees),
  },
  { key: "tags", label: "Tags", fields: ["tags"], cell: ({ tags }) => tagList(tags) },
  projectColumn("/models"),
  CREATED,
  {
    key: "size",
    label: "Size",
    sort: "size",
    number: true,
    optional: true,
    fields: ["size_bytes"],
    cell: ({ size_bytes: bytes }) => size(bytes),
  },
  {
    key: "description",
    label: "Description",
    optional: true,
    fields: ["description"],
    cell: ({ description }) => description && h("span", { class: "name", title: description }, description),
  },
  ID,
];

/** @typedef {Schemas["ListedModel"]} Model */

/** @param {Model} model */
function reference({ name, version }) {
  return `${name}:${version}`;
}

/** Show a metric of the test of its training, as a link to the evaluation. @param {Model} model @param {string} name */
function tested({ metrics, job_id: job }, name) {
  const value = metrics?.[name];
  if (typeof value !== "number") return null;
  return h(
    "a",
    { class: "quiet-link", href: `/jobs/${encodeURIComponent(job)}#result`, title: "Evaluation" },
    metric(value),
  );
}

/** Show the aliases of this version, then those of its name that point at other versions. @param {Model} model */
function aliases({ name, version, name_aliases: all }) {
  const entries = Object.entries(all);
  const own = entries.filter(([, target]) => target === version);
  const others = entries.filter(([, target]) => target !== version);
  return [
    ...own.map(([alias]) => h("span", { class: "tag" }, `@${alias}`)),
    ...others.map(([alias, target]) =>
      h(
        "a",
        { class: "tag plain", href: modelPage(`${name}:${target}`), title: `${name}@${alias} is version ${target}` },
        `@${alias} → ${target}`,
      ),
    ),
  ];
}

/**
 * The form that takes in a model trained elsewhere, and the progress of its upload and of its job.
 *
 * @param {HTMLFormElement} form
 * @param {HTMLElement} place of the job
 * @param {(modelId: string) => void} imported
 */
function importForm(form, place, imported) {
  const progress = find(form, ".upload-progress");
  acceptDrop(form);
  onSubmit(form, async () => {
    try {
      follow(await upload("/v1/models", contentsOf(form), sentWatcher(progress)).done);
    } finally {
      progress.hidden = true;
    }
  });

  /**
   * Follow the job. Where it made no model, the form still holds what was typed.
   *
   * @param {import("../jobs/labels.js").Job} job
   */
  async function follow(job) {
    form.hidden = true;
    try {
      const ended = await followJob(place, job);
      if (ended.status === "succeeded") return imported(ended.result?.model_id ?? "");
      replace(place, unfinished(ended));
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      replace(place, problemBox(problem));
    }
    form.hidden = false;
  }
}

/** @param {string[]} models references or ids */
function compareLink(models) {
  if (models.length < 2) return null;
  if (models.length > MOST_COMPARED)
    return h("span", { class: "hint" }, `At most ${MOST_COMPARED} models can be compared.`);
  return h("a", { class: "button primary", href: compareWith(models) }, `Compare ${models.length} models`);
}

const filters = elementById("filters", HTMLFormElement);

const again = listTable(elementById("models"), {
  path: "/v1/models",
  form: filters,
  label: "Models",
  noun: "model",
  filters: ["name", "tag", "latest", "project"],
  fields: FIELDS,
  columns: COLUMNS,
  after: "aliases",
  found: (items) => metricColumns(items, tested),
  name: reference,
  // Older models come first: the newer ones are set against them. Ids sort by time.
  actions: (ticked) => [
    compareLink([...ticked.ids].sort().map((id) => (ticked.items.has(id) ? reference(ticked.items.get(id)) : id))),
    labelTicked("models", ticked, again),
    deleteTicked("Delete…", "models", ticked),
  ],
  nothing,
});
followFilters(filters, again);
offerProjectFilter(filters).catch(() => {});
followDialogs();
importForm(elementById("import-form", HTMLFormElement), elementById("importing"), (id) => openPage(modelPage(id)));

function nothing() {
  if (isNarrowed(filters) || new URLSearchParams(location.search).has("name"))
    return emptyState("No such models", "No model is as the filters above ask for.", "/models", "All models");
  if (!onFirstPage()) return emptyState("No older models", "This is the end of the list.", "/models", "Newest models");
  return emptyState(
    "No models yet",
    "A training job that succeeds leaves its model here; a LightGBM model can be imported.",
    "/train",
    "New training",
  );
}
