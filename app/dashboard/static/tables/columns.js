/** Columns that several lists have. @module */
import { severityCounts } from "../figures/marks.js";
import { datasetPage, jobPage } from "../page/paths.js";
import { projectTag } from "../page/content.js";
import { h } from "../page/dom.js";
import { statusBadge } from "../page/parts.js";
import { count, timeElement } from "../page/format.js";
import { parameters } from "./paged_list.js";

/**
 * Return a column of a field.
 * @param {string} field @param {string} label
 * @param {(value: any, item: any) => Children} [cell] formats the value; default: as it is
 * @param {Partial<ListColumn>} [others] such as further fields, which replace the field
 * @returns {ListColumn}
 */
export const fieldColumn = (field, label, cell = (value) => value, others = {}) => ({
  key: field,
  label,
  fields: [field],
  cell: (item) => cell(item[field], item),
  ...others,
});

/** @param {string} id @param {{dataset_name: string | null}} item */
const datasetLink = (id, { dataset_name: name }) =>
  h("a.quiet-link.name", { href: datasetPage(id), title: name ?? id }, name ?? id);

export const DATASET = fieldColumn("dataset_id", "Dataset", datasetLink, {
  key: "dataset",
  sort: "dataset",
  fields: ["dataset_id", "dataset_name"],
});

/**
 * Return a column of the times in `<key>_at`, latest first.
 * @param {string} key @param {string} label @param {Partial<ListColumn>} [others] @returns {ListColumn}
 */
export function timeColumn(key, label, others) {
  const cell = (/** @type {string | null} */ time) => time && timeElement(time);
  return fieldColumn(`${key}_at`, label, cell, { key, sort: key, descends: true, ...others });
}

export const CREATED = timeColumn("created", "Created");

/** @param {string | null} id */
const jobLink = (id) => id && h("a.quiet-link", { href: jobPage(id) }, "Job");

export const JOB = fieldColumn("job_id", "Job", jobLink, { key: "job", optional: true });

/** Fields that rows of uploaded data need, whatever columns are shown. */
export const DATA_FIELDS = ["name", "status", "problem.title", "problem.detail", "created_at"];

/**
 * Return columns of uploaded data: name, status of the ingestion, and counts of the statistics.
 * @param {(id: string) => string} page returns the path of an item's page
 * @param {string[]} counts names of the statistics
 */
export function dataColumns(page, counts) {
  return [
    nameColumn("Name", page),
    statusColumn((status, { id, name, problem }) => [
      statusBadge(status),
      status === "pending" && h("progress", { "aria-label": `Reading ${name}` }),
      problem && " ",
      problem && h("a.name", { href: page(id), title: problem.detail }, problem.title),
    ]),
    ...counts.map((name) =>
      fieldColumn("statistics", name[0].toUpperCase() + name.slice(1), (all) => all && count(all[name]), {
        key: name,
        sort: name,
        number: true,
        fields: [`statistics.${name}`],
      }),
    ),
  ];
}

export const FINDINGS = fieldColumn("findings", "Findings", (found) => found && severityCounts(found), {
  fields: ["findings.severity"],
});

/** Return a column of the source of uploaded data. @param {(item: any) => Child} label */
export function sourceColumn(label) {
  return fieldColumn("source", "Source", (_, item) => label(item), {
    fields: ["source", "size_bytes"],
    optional: true,
  });
}

/** @param {string} list page that is filtered by the project */
export const projectColumn = (list) =>
  fieldColumn("project", "Project", (project) => project && projectTag(project, list), { optional: true });

/** Return a column of the status, which can be sorted by. @param {(status: string, item: any) => Children} [cell] @param {string[]} [fields] */
export function statusColumn(cell = (status) => statusBadge(status), fields = []) {
  return fieldColumn("status", "Status", cell, { sort: "status", fields: ["status", ...fields] });
}

/** Return a column of names that link to pages. @param {string} label @param {(id: string) => string} page @param {string} [field] */
export function nameColumn(label, page, field = "name") {
  /** @param {string} name @param {{id: string}} item */
  const cell = (name, { id }) => h("a.name", { href: page(id), title: name }, name);
  return fieldColumn(field, label, cell, { sort: field });
}

export const ID = fieldColumn("id", "ID", (id) => h("code", id), { fields: [], optional: true });

/**
 * Return columns of the metrics that items have: the first two are shown, the others can be selected.
 * @param {any[]} items @param {(item: any, metric: string) => any} cell @returns {ListColumn[]}
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
