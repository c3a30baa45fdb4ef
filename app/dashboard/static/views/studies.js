/** `/studies`: the list of studies, kept current. @module */
import { studyPage } from "../page/paths.js";
import { h, statusBadge } from "../page/dom.js";
import { count, metric } from "../page/format.js";
import { isRunning } from "../studies/labels.js";
import { CREATED, projectColumn, fieldColumn, nameColumn } from "../tables/columns.js";
import { showList } from "../tables/list.js";

/** @type {ListColumn[]} */
const COLUMNS = [
  nameColumn("Study", studyPage),
  fieldColumn("status", "Status", statusBadge, { sort: "status" }),
  { key: "trials", label: "Trials", number: true, fields: ["counts", "budget"], cell: trials },
  {
    key: "best",
    label: "Best",
    sort: "best",
    number: true,
    fields: ["best", "objective"],
    cell: ({ best, objective }) => best && [h("strong", metric(best.value)), h("small", ` ${objective.metric}`)],
  },
  fieldColumn("default", "Default", (trial) => trial && metric(trial.value), { number: true }),
  {
    key: "conclusion",
    label: "Conclusion",
    fields: ["conclusion"],
    cell: ({ id, conclusion }) =>
      conclusion && h("a.quiet-link.conclusion", { href: studyPage(id) }, conclusion.sentence),
  },
  { key: "model", label: "Model", fields: ["model_name"], cell: ({ model_name: name }) => name },
  {
    key: "sampler",
    label: "Sampler",
    optional: true,
    fields: ["sampler", "pruner"],
    cell: ({ sampler, pruner }) => `${sampler}, ${pruner}`,
  },
  projectColumn("/studies"),
  CREATED,
];

/** @param {Study} study */
function trials({ counts, budget }) {
  return `${count(counts.succeeded + counts.pruned + counts.failed + counts.cancelled)} of ${count(budget.trials)}`;
}

showList({
  kind: "studies",
  noun: "study",
  filters: ["status", "dataset"],
  fields: ["name", "status", "created_at"],
  columns: COLUMNS,
  name: ({ name }) => name,
  isActive: isRunning,
  announcement: ({ name, status }) => `${name}: ${status}.`,
  empty: [
    "A study tries many parameters and tests whether the best ones are better than the default.",
    "/studies/new",
    "New study",
  ],
});
