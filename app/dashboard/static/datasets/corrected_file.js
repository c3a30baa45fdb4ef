/** Forms that read a corrected file in place of a file that could not be read. @module */
import { rolesPanel } from "./roles.js";
import { onSubmit } from "../forms/forms.js";
import { acceptDrop, contentsOf, sendUpload } from "../forms/upload.js";
import { openAfterDeletion, trashed } from "../lifecycle/undo.js";
import { datasetApi, datasetPage } from "../page/paths.js";
import { creator, request } from "../page/api.js";
import { find, h } from "../page/dom.js";
import { hint } from "../page/parts.js";
import { pausePolling } from "../page/poll.js";

/**
 * Return the form for an uploaded dataset that cannot be read. The new dataset has the same name, options and roles.
 * The unreadable dataset moves to the trash once the new file has arrived. Return null for datasets from other sources
 * and for uploads with a LightGBM query file.
 * @param {Dataset} dataset @param {import("./guess.js").UsualNames} usual
 */
export function correctedFileForm(dataset, usual) {
  const { source, name } = dataset;
  if (source.kind !== "upload" || "query_sizes_filename" in source) return null;
  const { columns, ...options } = /** @type {Record<string, any>} */ (source.options ?? {});
  const roles = h("div.previewed", { hidden: true });
  const file = h("input", { type: "file", name: "file", "data-pointer": "/file" });
  const form = h("form.form.panel.corrected-file", { novalidate: true, "aria-label": "Upload the corrected file" }, [
    h("h2", "Upload the corrected file"),
    hint(
      `The file is read with the same name, options and column roles as ${name}. It replaces this dataset, which moves to the trash.`,
    ),
    h("div.summary", { hidden: true }),
    h("label.field.drop", "File", file),
    roles,
    h("div.upload-progress", { hidden: true }, [
      h("progress", { max: 1, value: 0, "aria-label": "Upload" }),
      h("p.hint", { "aria-live": "off" }),
    ]),
    h("div.actions", [
      h("button.primary", { type: "submit" }, "Upload and replace"),
      h("button.quiet", { "data-action": "abort", hidden: true }, "Stop"),
    ]),
  ]);
  const panel = rolesPanel(roles, usual);
  file.addEventListener("change", () => panel.show(file.files?.[0], columns));
  acceptDrop(form);
  onSubmit(form, async () => {
    const contents = contentsOf(form);
    const settings = { name, format: source.format, project: dataset.project, ...options };
    const fields = { ...settings, ...(find(form, ".previewed").hidden && { columns }) };
    const sent = new FormData();
    for (const [field, value] of Object.entries(fields))
      if (value !== null && value !== undefined)
        sent.append(field, typeof value === "string" ? value : JSON.stringify(value));
    for (const [field, value] of contents) sent.append(field, value);
    const corrected = await sendUpload(form, "/v1/datasets", sent);
    if (corrected) await replaceDataset(dataset, corrected.id);
  });
  return form;
}

/**
 * Return the form that reads the files of a dataset at URLs or in a folder again, after they were corrected. Return null
 * for datasets from other sources.
 * @param {Dataset} dataset
 * @param {() => void} onReadAgain called when the files are being read again
 */
export function correctedSourceForm({ id, source }, onReadAgain) {
  if (source.kind !== "address" && source.kind !== "folder") return null;
  const form = h("form.form.panel", { novalidate: true, "aria-label": "Read the corrected files" }, [
    h("h2", "Read the corrected files"),
    hint("The files are read again as they are now, with the same options."),
    h("div.summary", { hidden: true }),
    h("div.actions", h("button.primary", { type: "submit" }, "Read again")),
  ]);
  const create = creator();
  onSubmit(form, async () => {
    await create(datasetApi(id, "/read-again"), {});
    onReadAgain();
  });
  return form;
}

/** Delete the unreadable dataset, and open its replacement. @param {Dataset} unreadable @param {string} id of the replacement */
async function replaceDataset(unreadable, id) {
  const words = `The unreadable dataset ${unreadable.name} was deleted.`;
  await pausePolling();
  const deleted = await request(datasetApi(unreadable.id), { method: "DELETE" }).then(
    () => trashed(words, [unreadable.id]),
    () => ({ words: `The unreadable dataset ${unreadable.name} could not be deleted.`, ids: [] }),
  );
  openAfterDeletion(datasetPage(id), deleted);
}
