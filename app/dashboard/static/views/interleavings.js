/** `/interleavings`: the list of interleavings, and the form that creates one. @module */
import { readNewestSystems } from "../forms/choices.js";
import { bindChoices, bindDialogs, onSubmit, payloadOf } from "../forms/forms.js";
import { sampleSize } from "../interleavings/verdict.js";
import { interleavingPage, openPage } from "../page/paths.js";
import { creator } from "../page/api.js";
import { elementById, findAll, h, replace, setText } from "../page/dom.js";
import { count, percent } from "../page/format.js";
import { CREATED, projectColumn, fieldColumn, nameColumn } from "../tables/columns.js";
import { showList } from "../tables/list.js";

const COLUMNS = [
  nameColumn("Name", interleavingPage),
  fieldColumn("rankers", "Rankers", (names) => names.join(", ")),
  fieldColumn("method", "Method", (method) => method.replaceAll("_", " "), { sort: "method" }),
  fieldColumn("difference", "Difference", (share) => percent(share, 1), { number: true }),
  fieldColumn("sample_size", "Sample size", count, { key: "size", number: true }),
  CREATED,
  projectColumn("/interleavings"),
];

const form = elementById("create-form", HTMLFormElement);
const create = creator();

showList({
  kind: "interleavings",
  noun: "interleaving",
  filters: [],
  fields: ["name"],
  columns: COLUMNS,
  name: ({ name }) => name,
  empty: ["Show users lists that combine two rankers, and let their clicks decide.", "#create", "Interleave rankers"],
});
bindChoices(form);
bindDialogs({ create: offerModels });
form.addEventListener("input", showSampleSize);
onSubmit(form, async () => {
  const { id } = await create("/v1/interleavings", payloadOf(form));
  openPage(interleavingPage(id));
});
fillModels();
showSampleSize();

/** Fill in the models of the URL. */
function fillModels() {
  const wanted = new URLSearchParams(location.search).getAll("model");
  const [field] = findAll(form, '[data-pointer="/models"]', HTMLInputElement);
  if (wanted.length) field.value = wanted.join(", ");
}

async function offerModels() {
  const models = (await readNewestSystems()).filter(({ reference, name }) => reference === name);
  replace(elementById("offered"), ...models.map(({ reference, detail }) => h("option", { value: reference }, detail)));
}

/** Show the sample size of a fixed test before the interleaving is created. */
function showSampleSize() {
  const payload = /** @type {Record<string, any>} */ (payloadOf(form));
  const { error = 0.05, miss = 0.2, difference, unit = "user", models = [], rankings = [] } = payload;
  const numbers = [error, miss, difference].map(Number);
  const fits = numbers.every((number) => number > 0 && number < 0.5);
  const rankers = Math.max(2, models.length, rankings.length);
  const size = fits ? count(sampleSize(numbers[0], numbers[1], numbers[2], rankers)) : "";
  const each = rankers > 2 ? " for each pair of rankers" : "";
  const words = `A test with a fixed sample needs ${size} decided ${unit}s${each}; this test can be checked at any time. Plan for several times as many lists, since most lists get no click.`;
  setText(elementById("sample-size"), fits ? words : "");
}
