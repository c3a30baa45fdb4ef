/** `/models`: versions of models, and the form that imports one. @module */
import { resultPage } from "../page/paths.js";
import { bindDialogs, onSubmit } from "../forms/forms.js";
import { acceptDrop, contentsOf, progressView, upload } from "../forms/upload.js";
import { succeededJob } from "../jobs/actions.js";
import { deleteTicked } from "../lifecycle/deletion.js";
import { labelTicked } from "../lifecycle/labelling.js";
import { kindName } from "../models/network.js";
import { comparisonFormPage, modelPage, openPage } from "../page/paths.js";
import { tagList } from "../page/content.js";
import { elementById, find, h } from "../page/dom.js";
import { count, metric, size } from "../page/format.js";
import { CREATED, DATASET, fieldColumn, metricColumns, projectColumn } from "../tables/columns.js";
import { showList } from "../tables/list.js";

const MAX_COMPARED = 20;
const FIELDS = ["name", "version", "aliases", "metrics", "job_id", "created_at"];

/** @typedef {Schemas["ListedModel"]} Model */

/** @param {Model} model */
const datasetLink = (model) => model.dataset_name && DATASET.cell(model);

const COLUMNS = [
  fieldColumn("title", "Model", nameLink, { key: "name", sort: "name" }),
  fieldColumn("aliases", "Aliases", (aliases) =>
    aliases.map((/** @type {string} */ alias) => h("span.tag", `@${alias}`)),
  ),
  fieldColumn("loss", "Loss", (loss, { source }) => loss?.name || (source === "imported" && source), {
    fields: ["loss.name", "source"],
  }),
  fieldColumn("kind", "Kind", kindName),
  { ...DATASET, label: "Trained on", sort: undefined, cell: datasetLink },
  fieldColumn("best_iteration", "Iterations", count, { key: "trees", sort: "trees", number: true }),
  fieldColumn("tags", "Tags", (tags) => tagList(tags)),
  projectColumn("/models"),
  CREATED,
  fieldColumn("size_bytes", "Size", size, { key: "size", sort: "size", number: true, optional: true }),
  fieldColumn("description", "Description", (words) => words && h("span.name", { title: words }, words), {
    optional: true,
  }),
];

/** Return a link with the title of a model, else its reference. @param {string | null} title @param {Model} model */
function nameLink(title, model) {
  const shown = reference(model);
  const link = h("a.name", { href: modelPage(shown), title: title ?? shown }, title ?? shown);
  return title ? h("span.titled", link, " ", h("small", shown)) : link;
}

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
    const succeeded = await succeededJob(container, job);
    if (succeeded) return imported(succeeded.result?.model_id ?? "");
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
