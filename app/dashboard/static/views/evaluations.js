/** `/evaluations`: the list of evaluations, and the form that starts one. @module */
import { intervalLabel } from "../figures/whiskers.js";
import { offerEvaluationDatasets, offerContracts, offerSystems } from "../forms/choices.js";
import { bindDialogs, onSubmit, payloadOf, showUnread } from "../forms/forms.js";
import { deleteTicked } from "../lifecycle/deletion.js";
import { evaluationPage, modelPage, openResult, rankingPage } from "../page/paths.js";
import { creator } from "../page/api.js";
import { elementById, find, h, replace } from "../page/dom.js";
import { metric } from "../page/format.js";
import { CREATED, DATASET, fieldColumn, JOB, metricColumns, projectColumn } from "../tables/columns.js";
import { showList } from "../tables/list.js";

/** @param {string} system @param {{id: string, model_id: string | null}} evaluation */
const systemLink = (system, { id, model_id: model }) => [
  h("a.name", { href: evaluationPage(id), title: system }, system),
  !model && h("span.tag.plain", "run"),
];

const COLUMNS = [
  fieldColumn("system", "Model or ranking", systemLink, { sort: "system", fields: ["model_id"] }),
  DATASET,
  CREATED,
  JOB,
  projectColumn("/evaluations"),
];

/** @param {{metrics: Schemas["Evaluation"]["metrics"]}} evaluation @param {string} name */
function mean({ metrics }, name) {
  const interval = metrics[name];
  if (!interval) return null;
  return [h("strong", metric(interval.mean)), " ", h("small", intervalLabel(interval))];
}

const form = elementById("evaluate-form", HTMLFormElement);
const urlParameters = new URLSearchParams(location.search);
const [model, ranking] = [urlParameters.get("model_id"), urlParameters.get("ranking_id")];
const create = creator();

showList({
  kind: "evaluations",
  noun: "evaluation",
  filters: ["dataset_id", "model_id", "ranking_id"],
  fields: ["system", "metrics", "created_at"],
  columns: COLUMNS,
  after: "dataset",
  furtherColumns: (items) => metricColumns(items, mean),
  name: ({ system }) => system,
  actions: [deleteTicked],
  empty: [
    "A training with test data creates an evaluation; other models and rankings can be evaluated here.",
    "#evaluate",
    "Evaluate",
  ],
});
bindDialogs({ evaluate: offerChoices });
showSubject();

/** Show the model or ranking that the URL filters by. */
function showSubject() {
  const words = elementById("narrowed");
  words.hidden = !model && !ranking;
  const subject = model
    ? h("a", { href: modelPage(model) }, "one model")
    : h("a", { href: rankingPage(ranking ?? "") }, "one ranking");
  replace(words, "Only evaluations of ", subject, " · ", h("a", { href: "/evaluations" }, "All"));
}

async function offerChoices() {
  const input = find(form, "input[list]", HTMLInputElement);
  const wanted = urlParameters.get("dataset_id");
  const offer = offerEvaluationDatasets(find(form, 'select[data-list="ready"]', HTMLSelectElement), wanted);
  let datasetOffered = Promise.resolve();
  const chosen = (/** @type {string[]} */ references) => {
    datasetOffered = offer(references).catch((error) => showUnread(form, error));
  };
  const offered = Promise.all([offerSystems(input, { runs: true, chosen }), offerContracts(form)]);
  onSubmit(form, async () => {
    const [system] = await offered;
    await datasetOffered;
    const { model: typed, ...requested } = payloadOf(form);
    openResult(await create("/v1/jobs", { kind: "evaluate", ...requested, ...system() }));
  });
  await offered;
  await datasetOffered;
  form.removeAttribute("aria-busy");
}
