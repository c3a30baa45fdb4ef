/**
 * `/train`: the form that submits trainings. Its fields come from the OpenAPI document and the catalogue of losses.
 * `?dataset=` chooses the data, `?from=` fills it as a job was asked for; several values make a grid.
 * @module
 */
import { compareJobs, jobPage } from "../parts/page/addresses.js";
import { get, Problem } from "../parts/page/api.js";
import { offerContracts } from "../parts/forms/contract_field.js";
import { h, replace, setText } from "../parts/page/dom.js";
import { fillForm } from "../parts/forms/fill_form.js";
import { count } from "../parts/page/format.js";
import { followChoices, onSubmit, showError } from "../parts/forms/forms.js";
import { gridOf, MOST } from "../parts/forms/grid.js";
import { offerLosses } from "../parts/forms/loss_fields.js";
import { requestOf } from "../parts/jobs/request_of.js";
import { fillFields } from "../parts/forms/schema_fields.js";
import { manyCreator } from "../parts/forms/submit_many.js";
import { MOST_COMPARED } from "../parts/jobs/ticked_jobs.js";
import { offerDatasets } from "../parts/forms/training_data.js";

const form = /** @type {HTMLFormElement} */ (document.getElementById("train"));
const button = form.querySelector('button[type="submit"]');
const words = document.getElementById("grid");
const createAll = manyCreator();
const asked = new URLSearchParams(location.search);

onSubmit(form, send);
await prepare().catch((error) => showError(form, error));
for (const event of ["input", "change"]) form.addEventListener(event, showGrid);
form.removeAttribute("aria-busy");
showGrid();

async function prepare() {
  const [document, { items }, earlier] = await Promise.all([get("/openapi.json"), get("/v1/losses"), readEarlier()]);
  fillFields(form, document);
  followChoices(form);
  await Promise.all([offerDatasets(form, earlier?.spec.dataset_id || asked.get("dataset")), offerMetrics()]);
  offerLosses(items);
  if (earlier) fillForm(form, await requestOf(earlier));
}

/** The training to begin from, null where there is none to be had. */
async function readEarlier() {
  const id = asked.get("from");
  if (!id) return null;
  const place = document.getElementById("from");
  place.hidden = false;
  try {
    const job = await get(`/v1/jobs/${encodeURIComponent(id)}`);
    if (job.kind !== "train") throw new Problem(404, {});
    replace(place, "As ", h("a", { href: jobPage(id) }, job.spec.model_name), " was trained; change what you like.");
    return job;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    setText(place, `There is no training ${id} to begin from.`);
    return null;
  }
}

async function send() {
  const { size, requests } = gridOf(form);
  if (size > MOST) throw new Problem(422, { title: "Too many trainings", detail: `The grid has ${count(size)} points; at most ${MOST} trainings are submitted at once.` });
  const jobs = await createAll(requests().map((request) => ({ kind: "train", ...request })));
  if (jobs.length === 1) location.assign(jobPage(jobs[0].id));
  else if (jobs.length <= MOST_COMPARED) location.assign(compareJobs(jobs.map(({ id }) => id)));
  else location.assign(`/jobs?kind=train&text=${encodeURIComponent(`${form.querySelector('[data-pointer="/model_name"]').value}-`)}`);
}

/** Says how many trainings there will be, and of what. */
function showGrid() {
  const { size, axes } = gridOf(form);
  words.hidden = size < 2;
  const product = axes.map(([name, number]) => `${number} of ${name}`).join(" × ");
  setText(words, size < 2 ? "" : `${count(size)} trainings will be submitted: ${product}. The name of each tells its values.${size > MOST ? ` That is more than the ${MOST} that are submitted at once.` : ""}`);
  setText(button, size < 2 ? "Start training" : `Start ${count(size)} trainings`);
}

async function offerMetrics() {
  const { items, presets } = await get("/v1/metrics");
  const names = items.map((each) => (typeof each === "string" ? each : each.name));
  setText(document.getElementById("known-metrics"), `Known: ${names.join(", ")}; a cutoff follows an @.`);
  offerContracts(form.querySelector('[data-pointer="/contract"]'), document.getElementById("contract-words"), presets);
}
