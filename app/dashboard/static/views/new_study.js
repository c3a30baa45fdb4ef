/** `/studies/new`: the form that submits a study. @module */
import { chooseDataset, offerDatasetsWithPlaceholder } from "../forms/choices.js";
import { runsOf } from "../forms/cost.js";
import { bindChoices, onSubmit, payloadOf, showUnread } from "../forms/forms.js";
import { showKnownVersions } from "../forms/model_name.js";
import { openPage, studyPage } from "../page/paths.js";
import { creator, getOnce } from "../page/api.js";
import { elementById, find, findAll, h, replace, setAttribute, setText } from "../page/dom.js";
import { sizeLabel } from "../studies/labels.js";
import { searchSpace } from "../studies/search_space.js";

const form = elementById("new-study", HTMLFormElement);
const create = creator();
const requested = new URLSearchParams(location.search);
/** @type {ReturnType<typeof searchSpace> | null} */
let space = null;
/** @type {Record<string, unknown[]>} values of the query columns of the chosen dataset */
let foldColumns = {};

onSubmit(form, async () => {
  const { id } = await create("/v1/studies", requestOf());
  openPage(studyPage(id));
});
await prepare().catch((error) => showUnread(form, error));
for (const event of ["input", "change", "click"]) form.addEventListener(event, showSize);
form.removeAttribute("aria-busy");
showKnownVersions(form);
showSize();

async function prepare() {
  const [{ schemas }, { items }] = await Promise.all([
    getOnce("/v1/job-schemas"),
    getOnce("/v1/losses"),
    offerDatasets(),
  ]);
  bindChoices(form);
  const losses = [...items].sort((one, other) => one.name.localeCompare(other.name));
  replace(
    elementById("base-loss"),
    losses.map(({ name }) => h("option", { value: name, selected: name === "lambdarank" }, name)),
  );
  const scorer = elementById("base-scorer", HTMLSelectElement);
  const newSpace = searchSpace(
    elementById("search-space"),
    elementById("more-parameters", HTMLSelectElement),
    elementById("add-parameter"),
    schemas,
    losses,
  );
  space = newSpace;
  scorer.addEventListener("change", () => {
    // Trees are the service's default scorer.
    setAttribute(scorer, "data-pointer", scorer.value !== "trees" && "/base/scorer/kind");
    newSpace.offer(scorer.value);
  });
}

async function offerDatasets() {
  const datasets = await offerDatasetsWithPlaceholder(
    findAll(form, 'select[data-list="ready"]', HTMLSelectElement),
    requested.get("dataset"),
  );
  const select = find(form, '[data-pointer="/dataset_id"]', HTMLSelectElement);
  chooseDataset([select], requested.get("dataset"));
  const offerFoldColumns = () => {
    foldColumns = datasets.find(({ id }) => id === select.value)?.statistics?.query_columns ?? {};
    const columns = Object.keys(foldColumns);
    const choice = find(form, '[name="validation"][value="fold_column"]', HTMLInputElement);
    if (choice.parentElement) choice.parentElement.hidden = columns.length === 0;
    replace(elementById("fold-column"), ...columns.map((name) => h("option", { value: name }, name)));
  };
  select.addEventListener("change", offerFoldColumns);
  offerFoldColumns();
}

function requestOf() {
  return { ...payloadOf(form), search_space: space?.value() ?? {} };
}

/** Show the number of trainings of the study. */
function showSize() {
  const { budget, objective, search_space: searched } = /** @type {any} */ (requestOf());
  const trials = Number(budget?.trials);
  const folds = runsOf(objective?.validation, foldColumns);
  setText(
    elementById("study-words"),
    Number.isFinite(trials) ? sizeLabel(trials, Object.keys(searched).length, folds) : "",
  );
}
