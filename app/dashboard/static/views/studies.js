/** `/studies`: the list of studies, kept current. @module */
import { studyPage } from "../page/paths.js";
import { h } from "../page/dom.js";
import { count, metric } from "../page/format.js";
import { isRunning } from "../studies/labels.js";
import { CREATED, fieldColumn, nameColumn, projectColumn, statusColumn } from "../tables/columns.js";
import { showList } from "../tables/list.js";

/** @param {Study["counts"]} counts @param {Study} study */
const trials = ({ succeeded, pruned, failed, cancelled }, { budget }) =>
  `${count(succeeded + pruned + failed + cancelled)} of ${count(budget.trials)}`;

/** @param {Study["best"]} best @param {Study} study */
const bestValue = (best, { objective }) =>
  best && [h("strong", metric(best.value)), h("small", ` ${objective.metric}`)];

/** @param {Study["conclusion"]} conclusion @param {Study} study */
const conclusionLink = (conclusion, { id }) =>
  conclusion && h("a.quiet-link.conclusion", { href: studyPage(id) }, conclusion.sentence);

const COLUMNS = [
  nameColumn("Study", studyPage),
  statusColumn(),
  fieldColumn("counts", "Trials", trials, { key: "trials", number: true, fields: ["counts", "budget"] }),
  fieldColumn("best", "Best", bestValue, { sort: "best", number: true, fields: ["best", "objective"] }),
  fieldColumn("default", "Default", (trial) => trial && metric(trial.value), { number: true }),
  fieldColumn("conclusion", "Conclusion", conclusionLink),
  fieldColumn("model_name", "Model", undefined, { key: "model" }),
  fieldColumn("sampler", "Sampler", (sampler, { pruner }) => `${sampler}, ${pruner}`, {
    fields: ["sampler", "pruner"],
    optional: true,
  }),
  projectColumn("/studies"),
  CREATED,
];

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
