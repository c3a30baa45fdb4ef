/** `/datasets`: the list of datasets, and the forms that add one. @module */
import { rangeLabel, sourceLabel } from "../datasets/dataset.js";
import { rolesPanel } from "../datasets/roles.js";
import { bindChoices, bindDialogs, choose, onSubmit, payloadOf } from "../forms/forms.js";
import { acceptDrops, contentsOf, sendUpload } from "../forms/upload.js";
import { offerUndo, trashed, trashLabel } from "../lifecycle/undo.js";
import { datasetPage, openPage } from "../page/paths.js";
import { creator, apiError, request } from "../page/api.js";
import { announce, elementById, find, findAll, h } from "../page/dom.js";
import { alertText, confirmed } from "../page/parts.js";
import { count, counted, short, size } from "../page/format.js";
import {
  DATA_FIELDS,
  dataColumns,
  fieldColumn,
  FINDINGS,
  projectColumn,
  sourceColumn,
  timeColumn,
} from "../tables/columns.js";
import { showList } from "../tables/list.js";

/** @type {ListColumn[]} */ const COLUMNS = [
  ...dataColumns(datasetPage, ["queries", "documents", "features"]),
  fieldColumn("statistics", "Documents per query", (all) => lengthLabel(all?.documents_per_query), {
    key: "length",
    number: true,
    optional: true,
    fields: ["statistics.documents_per_query"],
  }),
  fieldColumn("statistics", "Queries without relevant documents", (all) => all && count(all.queries_without_relevant), {
    key: "unjudged",
    number: true,
    optional: true,
    fields: ["statistics.queries_without_relevant"],
  }),
  FINDINGS,
  sourceColumn(sourceLabel),
  fieldColumn("size_bytes", "Size", (bytes) => bytes && size(bytes), { key: "size", sort: "size", number: true }),
  timeColumn("created", "Added"),
  fieldColumn("status", "Next step", nextStep, { key: "train" }),
  projectColumn("/datasets"),
];

/** @param {string} status @param {{id: string, name: string}} dataset */
function nextStep(status, { id, name }) {
  if (status !== "ready") return null;
  return h("a", { href: `/train?dataset=${encodeURIComponent(id)}`, "aria-label": `Train on ${name}` }, "Train");
}

/** @param {Statistics["documents_per_query"]} lengths */
function lengthLabel(lengths) {
  if (!lengths) return null;
  if (lengths.min === lengths.max) return count(lengths.min);
  return `${rangeLabel(lengths.min, lengths.max)}, median ${short(lengths.median)}`;
}

/** @param {Ticked} ticked */
function deleteTicked({ ids, items, clear, reload }) {
  const button = h("button.danger.quiet", { click, needs: "write" }, `Delete ${counted(ids.length, "dataset")}`);
  async function click() {
    const only = ids.length === 1 && items.get(ids[0])?.name;
    const sure = await confirmed(`Delete ${only || counted(ids.length, "dataset")}?`, "Delete", [
      `${trashLabel()} Models trained on it are kept.`,
    ]);
    if (!sure) {
      button.focus();
      return;
    }
    try {
      const { body } = await request("/v1/datasets/delete", { method: "POST", json: { ids } });
      report(body.items);
    } catch (error) {
      button.after(alertText(apiError(error).message));
    }
  }
  /**
   * Report the deleted datasets. Datasets in use stay selected, with the reason.
   * @param {{id: string, outcome: string, detail?: string | null}[]} outcomes
   */
  function report(outcomes) {
    const inUse = outcomes.filter(({ outcome }) => outcome === "in_use");
    const gone = outcomes.filter(({ outcome }) => outcome === "deleted").map(({ id }) => id);
    offerUndo(trashed(`${counted(gone.length, "dataset")} deleted.`, gone));
    reload();
    if (!inUse.length) return clear();
    const reasons = inUse.map(({ id, detail }) => `${items.get(id)?.name ?? id}: ${detail}`);
    button.after(alertText(`In use: ${reasons.join("; ")}`));
  }
  return button;
}

/**
 * Bind the form that uploads judged data: one file, or the parts of a split, with reading options.
 * @param {HTMLFormElement} form @param {(dataset: Schemas["Dataset"]) => void} uploaded
 */
function uploadForm(form, uploaded) {
  previewFiles(form);
  acceptDrops(form, (layout) => choose(form, "layout", layout));
  form.addEventListener("change", ({ target }) => {
    if (target instanceof HTMLInputElement && target.files?.length) target.closest("details")?.setAttribute("open", "");
  });

  onSubmit(form, async () => {
    const dataset = await sendUpload(form, "/v1/datasets", contentsOf(form));
    if (dataset) uploaded(dataset);
  });
}

/** Show the first rows of the first chosen file. Roles of its columns apply to all files of the upload. @param {HTMLFormElement} form */
function previewFiles(form) {
  const named = elementById("table-columns", HTMLDetailsElement);
  const panel = rolesPanel(elementById("roles"), JSON.parse(form.dataset.usualNames ?? "{}"), (isTable) => {
    named.hidden = isTable;
    find(named, "fieldset", HTMLFieldSetElement).disabled = isTable;
  });
  form.addEventListener("change", ({ target }) => {
    if (!(target instanceof HTMLInputElement) || (target.type !== "file" && target.name !== "layout")) return;
    const [chosen] = findAll(form, 'input[type="file"]:enabled:not([name$="_query"])', HTMLInputElement).flatMap(
      ({ files }) => [...(files ?? [])],
    );
    panel.show(chosen);
  });
}

const adding = elementById("add-dialog", HTMLDialogElement);
const judged = elementById("upload", HTMLFormElement);
const synthetic = elementById("synthetic", HTMLFormElement);
const folder = elementById("folder", HTMLFormElement);
const address = elementById("address", HTMLFormElement);
const create = creator();

const reload = showList({
  kind: "datasets",
  noun: "dataset",
  filters: ["status"],
  fields: DATA_FIELDS,
  columns: COLUMNS,
  name: ({ name }) => name,
  actions: [deleteTicked],
  isActive: ({ status }) => status === "pending",
  announcement: ({ name, status }) => `Dataset ${name} is ${status}.`,
  empty: ["Upload judged query-document data, or generate a synthetic dataset.", "#add", "Add a dataset"],
});
bindDialogs();

onSubmit(synthetic, async () => {
  const dataset = await create("/v1/datasets/synthetic", payloadOf(synthetic));
  announce(`Dataset ${dataset.name} is being made.`);
  adding.close();
  reload();
});

onSubmit(folder, async () => {
  const { name, parts } = await create("/v1/datasets/folders", payloadOf(folder));
  announce(
    parts ? `${counted(Object.keys(parts).length, "dataset")} are being read.` : `Dataset ${name} is being read.`,
  );
  adding.close();
  reload();
});

onSubmit(address, async () => {
  const { id } = await create("/v1/datasets", payloadOf(address));
  openPage(datasetPage(id));
});

bindChoices(judged);
uploadForm(judged, ({ id }) => openPage(datasetPage(id)));
