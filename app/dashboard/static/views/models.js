/** `/models`: versions of models, and the form that imports one. @module */
import { datasetPage, resultPage } from "../page/paths.js";
import { bindDialogs, onSubmit } from "../forms/forms.js";
import { acceptDrop, contentsOf, progressView, upload } from "../forms/upload.js";
import { followJob, noResultNotice } from "../jobs/actions.js";
import { deleteTicked } from "../lifecycle/deletion.js";
import { labelTicked } from "../lifecycle/labelling.js";
import { kindName } from "../models/network.js";
import { comparisonFormPage, modelPage, openPage } from "../page/paths.js";
import { Problem } from "../page/api.js";
import { tagList } from "../page/content.js";
import { elementById, find, h, problemBox, replace } from "../page/dom.js";
import { count, metric, size } from "../page/format.js";
import { CREATED, metricColumns, projectColumn, fieldColumn } from "../tables/columns.js";
import { showList } from "../tables/list.js";

const MAX_COMPARED = 20;
const FIELDS = ["name", "version", "aliases", "metrics", "job_id", "created_at"];

/** @type {ListColumn[]} */
const COLUMNS = [
  {
    key: "name",
    label: "Model",
    sort: "name",
    fields: ["title"],
    cell: (model) => {
      const shown = reference(model);
      const link = h("a.name", { href: modelPage(shown), title: model.title ?? shown }, model.title ?? shown);
      return model.title ? h("span.titled", link, " ", h("small", shown)) : link;
    },
  },
  {
    key: "aliases",
    label: "Aliases",
    cell: (model) => model.aliases.map((/** @type {string} */ alias) => h("span.tag", `@${alias}`)),
  },
  {
    key: "loss",
    label: "Loss",
    fields: ["loss.name", "source"],
    cell: ({ loss, source }) => loss?.name || (source === "imported" && source),
  },
  { key: "kind", label: "Kind", fields: ["kind"], cell: ({ kind }) => kindName(kind) },
  {
    key: "dataset",
    label: "Trained on",
    fields: ["dataset_id", "dataset_name"],
    cell: ({ dataset_id: id, dataset_name: name }) =>
      name && h("a.quiet-link.name", { href: datasetPage(id), title: name }, name),
  },
  fieldColumn("best_iteration", "Iterations", count, { key: "trees", sort: "trees", number: true }),
  { key: "tags", label: "Tags", fields: ["tags"], cell: ({ tags }) => tagList(tags) },
  projectColumn("/models"),
  CREATED,
  fieldColumn("size_bytes", "Size", size, { key: "size", sort: "size", number: true, optional: true }),
  {
    key: "description",
    label: "Description",
    optional: true,
    fields: ["description"],
    cell: ({ description }) => description && h("span.name", { title: description }, description),
  },
];

/** @typedef {Schemas["ListedModel"]} Model */

/** @param {Model} model */
function reference({ name, version }) {
  return `${name}:${version}`;
}

/** Show a model's metric on its test dataset, as a link to the evaluation. @param {Model} model @param {string} name */
function tested({ metrics, job_id: job }, name) {
  const value = metrics?.[name];
  if (typeof value !== "number") return null;
  return h("a.quiet-link", { href: resultPage(job), title: "Evaluation" }, metric(value));
}

/**
 * Bind the form that imports a model, and show the progress of its upload and of its job.
 *
 * @param {HTMLFormElement} form
 * @param {HTMLElement} container of the job
 * @param {(modelId: string) => void} imported
 */
function importForm(form, container, imported) {
  const progress = find(form, ".upload-progress");
  acceptDrop(form);
  onSubmit(form, async () => {
    try {
      follow(await upload("/v1/models", contentsOf(form), progressView(progress)).done);
    } finally {
      progress.hidden = true;
    }
  });

  /** Follow the job. If it makes no model, the form keeps its values. @param {Job} job */
  async function follow(job) {
    form.hidden = true;
    try {
      const ended = await followJob(container, job);
      if (ended.status === "succeeded") return imported(ended.result?.model_id ?? "");
      replace(container, noResultNotice(ended));
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      replace(container, problemBox(problem));
    }
    form.hidden = false;
  }
}

/** @param {Ticked} ticked */
function compareTicked({ ids, items }) {
  if (ids.length < 2) return null;
  // Older models come first, as baselines of the newer ones. Ids sort by time.
  const models = [...ids].sort().map((id) => (items.has(id) ? reference(items.get(id)) : id));
  if (models.length > MAX_COMPARED) return h("span.hint", `At most ${MAX_COMPARED} models can be compared.`);
  return h("a.button.primary", { href: comparisonFormPage(models) }, `Compare ${models.length} models`);
}

showList({
  kind: "models",
  noun: "model",
  filters: ["name", "tag", "latest"],
  fields: FIELDS,
  columns: COLUMNS,
  after: "aliases",
  furtherColumns: (items) => metricColumns(items, tested),
  name: reference,
  actions: [compareTicked, labelTicked, deleteTicked],
  empty: ["Train a model, or import a LightGBM model.", "/train", "New training"],
});
bindDialogs();
importForm(elementById("import-form", HTMLFormElement), elementById("importing"), (id) => openPage(modelPage(id)));
