/** `/experiments`: the list of experiments, kept current, and the form that runs one. @module */
import { checkBox } from "../forms/controls.js";
import { dataLabel, isRunning, progressLabel, tableName } from "../experiments/labels.js";
import { offerDatasetsWithPlaceholder } from "../forms/choices.js";
import { bindChoices, bindDialogs, onSubmit, payloadOf } from "../forms/forms.js";
import { deleteTicked } from "../lifecycle/deletion.js";
import { experimentPage, openPage } from "../page/paths.js";
import { creator, get } from "../page/api.js";
import { elementById, find, findAll, h, replace, setText } from "../page/dom.js";
import { statusBadge } from "../page/parts.js";
import { CREATED, fieldColumn, projectColumn, statusColumn, timeColumn } from "../tables/columns.js";
import { showList } from "../tables/list.js";

/** @param {string} paper @param {{id: string, title: string}} experiment */
const paperLink = (paper, { id, title }) => h("a.name", { href: experimentPage(id), title }, paper);

/** @param {string | null} sentence @param {{id: string}} experiment */
const resultLink = (sentence, { id }) =>
  sentence && h("a.quiet-link.conclusion", { href: experimentPage(id) }, sentence);

const COLUMNS = [
  fieldColumn("paper", "Experiment", paperLink, { sort: "paper", fields: ["title"] }),
  statusColumn((status, { dry_run: dry }) => [statusBadge(status), dry && h("span.tag.plain", "dry run")], ["dry_run"]),
  fieldColumn("counts", "Trainings", progressLabel, { key: "trainings", number: true }),
  fieldColumn("tables", "Tables", (tables) => tables.map(tableName).join(", ")),
  fieldColumn("scale", "Scale"),
  fieldColumn("data", "Data", (_, experiment) => dataLabel(experiment), { fields: ["data", "corpus", "folds"] }),
  fieldColumn("sentence", "Result", resultLink),
  projectColumn("/experiments"),
  CREATED,
  timeColumn("finished", "Finished", { optional: true }),
];

showList({
  kind: "experiments",
  noun: "experiment",
  filters: ["status", "paper"],
  fields: ["paper", "status", "created_at"],
  columns: COLUMNS,
  name: ({ paper, id }) => `${paper}, ${id}`,
  actions: [deleteTicked],
  isActive: isRunning,
  announcement: ({ paper, status }) => `${paper}: ${status}.`,
  empty: [
    "An experiment reproduces tables of a paper, and shows which of its claims hold.",
    "#run",
    "Run an experiment",
  ],
});

const form = elementById("run-form", HTMLFormElement);
const create = creator();
onSubmit(form, async () => {
  const { id } = await create("/v1/experiments", requestOf());
  openPage(experimentPage(id));
});
bindChoices(form);
bindDialogs({ run: offerPapers });

function requestOf() {
  const payload = payloadOf(form);
  const boxes = findAll(elementById("tables"), "input", HTMLInputElement);
  // Without tables, the server takes all of them.
  if (boxes.length && boxes.every(({ checked }) => checked)) delete payload.tables;
  return { ...payload, dry_run: find(form, '[name="dry"]', HTMLInputElement).checked };
}

async function offerPapers() {
  const [{ items }] = await Promise.all([
    get("/v1/papers"),
    offerDatasetsWithPlaceholder(findAll(form, 'select[data-list="ready"]', HTMLSelectElement), null),
  ]);
  const select = elementById("paper", HTMLSelectElement);
  replace(select, ...items.map(({ name }) => h("option", { value: name }, name)));
  const showPaper = () => {
    const paper = items.find(({ name }) => name === select.value);
    setText(elementById("paper-title"), paper ? `${paper.authors}: ${paper.title} (${paper.year})` : "");
    const container = elementById("tables");
    const boxes = (paper?.tables ?? []).map(({ name, caption }) =>
      checkBox({ value: name, checked: true }, h("span", `${tableName(name)} `, h("small", caption))),
    );
    replace(container, find(container, "legend"), ...boxes);
  };
  select.addEventListener("change", showPaper);
  showPaper();
  form.removeAttribute("aria-busy");
}
