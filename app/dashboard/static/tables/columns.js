/** Columns that several lists have. @module */
import { datasetPage, jobPage } from "../page/paths.js";
import { projectTag } from "../page/content.js";
import { h, statusBadge } from "../page/dom.js";
import { count, timeElement } from "../page/format.js";
import { parameters } from "./paged_list.js";

/** @type {ListColumn} */
export const DATASET = {
  key: "dataset",
  label: "Dataset",
  sort: "dataset",
  fields: ["dataset_id", "dataset_name"],
  cell: ({ dataset_id: id, dataset_name: name }) =>
    h("a.quiet-link.name", { href: datasetPage(id), title: name ?? id }, name ?? id),
};

/**
 * Return a column of the times in `<key>_at`, latest first.
 *
 * @param {string} key
 * @param {string} label
 * @param {Partial<ListColumn>} [others]
 * @returns {ListColumn}
 */
export function timeColumn(key, label, others) {
  const field = `${key}_at`;
  const cell = (/** @type {Record<string, string | null>} */ { [field]: time }) => time && timeElement(time);
  return { key, label, sort: key, descends: true, fields: [field], cell, ...others };
}

export const CREATED = timeColumn("created", "Created");

/** @type {ListColumn} */
export const JOB = {
  key: "job",
  label: "Job",
  optional: true,
  fields: ["job_id"],
  cell: ({ job_id: id }) => id && h("a.quiet-link", { href: jobPage(id) }, "Job"),
};

/** Fields that rows of uploaded data need, whatever columns are shown. */
export const DATA_FIELDS = ["name", "status", "problem.title", "problem.detail", "created_at"];

/**
 * Return columns of uploaded data: name, status of the ingestion, and counts of the statistics.
 *
 * @param {(id: string) => string} page returns the path of an item's page
 * @param {string[]} counts names of the statistics
 * @returns {ListColumn[]}
 */
export function dataColumns(page, counts) {
  return [
    nameColumn("Name", page),
    {
      key: "status",
      label: "Status",
      sort: "status",
      cell: ({ id, name, status, problem }) => [
        statusBadge(status),
        status === "pending" && h("progress", { "aria-label": `Reading ${name}` }),
        problem && " ",
        problem && h("a.name", { href: page(id), title: problem.detail }, problem.title),
      ],
    },
    ...counts.map((name) => ({
      key: name,
      label: name[0].toUpperCase() + name.slice(1),
      sort: name,
      number: true,
      fields: [`statistics.${name}`],
      cell: (/** @type {{statistics: Record<string, number> | null}} */ { statistics }) =>
        statistics && count(statistics[name]),
    })),
  ];
}

/** @param {string} list page that is filtered by the project */
export function projectColumn(list) {
  return fieldColumn("project", "Project", (project) => project && projectTag(project, list), { optional: true });
}

/**
 * Return a column of one field.
 *
 * @param {string} field
 * @param {string} label
 * @param {(value: any) => Child | Child[]} cell formats the value
 * @param {Partial<ListColumn>} [others]
 * @returns {ListColumn}
 */
export function fieldColumn(field, label, cell, others) {
  return { key: field, label, fields: [field], cell: (item) => cell(item[field]), ...others };
}

/** Return a column of names that link to pages. @param {string} label @param {(id: string) => string} page @returns {ListColumn} */
export function nameColumn(label, page) {
  const cell = (/** @type {{id: string, name: string}} */ { id, name }) =>
    h("a.name", { href: page(id), title: name }, name);
  return { key: "name", label, sort: "name", cell };
}

/** @type {ListColumn} */
export const ID = { key: "id", label: "ID", optional: true, cell: ({ id }) => h("code", id) };

/**
 * Return columns of the metrics that items have: the first two are shown, the others can be selected.
 *
 * @param {any[]} items
 * @param {(item: any, metric: string) => any} cell
 * @returns {ListColumn[]}
 */
export function metricColumns(items, cell) {
  const names = [...new Set(items.flatMap(({ metrics }) => Object.keys(metrics ?? {})))];
  const sorted = parameters()
    .get("sort")
    ?.replace(/^metric:/, "");
  return names.map((name, index) => ({
    key: name,
    label: name,
    sort: `metric:${name}`,
    number: true,
    optional: index > 1 && name !== sorted,
    cell: (item) => cell(item, name),
  }));
}
