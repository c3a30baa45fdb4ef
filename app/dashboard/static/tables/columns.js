/**
 * Columns that several lists have.
 * @module
 */
import { projectTag } from "../forms/labels.js";
import { datasetPage, jobPage } from "../page/addresses.js";
import { h } from "../page/dom.js";
import { timeElement } from "../page/format.js";

/** @typedef {import("./list.js").ListColumn} ListColumn */

/** @type {ListColumn} */
export const DATASET = {
  key: "dataset",
  label: "Dataset",
  sort: "dataset",
  fields: ["dataset_id", "dataset_name"],
  cell: ({ dataset_id: id, dataset_name: name }) =>
    h("a", { class: "quiet-link name", href: datasetPage(id), title: name ?? id }, name ?? id),
};

/** @type {ListColumn} */
export const CREATED = {
  key: "created",
  label: "Created",
  sort: "created",
  descends: true,
  cell: ({ created_at: created }) => timeElement(created),
};

/** @type {ListColumn} */
export const JOB = {
  key: "job",
  label: "Job",
  optional: true,
  fields: ["job_id"],
  cell: ({ job_id: id }) => id && h("a", { class: "quiet-link", href: jobPage(id) }, "Job"),
};

/** @param {string} list page that is narrowed by the project @returns {ListColumn} */
export function projectColumn(list) {
  return {
    key: "project",
    label: "Project",
    optional: true,
    fields: ["project"],
    cell: ({ project }) => project && projectTag(project, list),
  };
}

/** @type {ListColumn} */
export const ID = { key: "id", label: "ID", optional: true, cell: ({ id }) => h("code", {}, id) };
