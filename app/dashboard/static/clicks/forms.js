/** The forms on the page of a click log: click models, propensities, judgments, trainings and evaluations. @module */
import { estimatorOptions } from "./counterfactual.js";
import { asSystem, offerDatasetsWithPlaceholder, readNewestSystems, systemOption } from "../forms/choices.js";
import { bindChoices, bindDialogs, onSubmit, payloadOf } from "../forms/forms.js";
import { jobPage, openPage } from "../page/paths.js";
import { creator, get } from "../page/api.js";
import { elementById, find, findAll, h, replace } from "../page/dom.js";
import { counted } from "../page/format.js";

/** @typedef {Record<string, any>} Payload */

/** Job kind of each dialog, and a function that makes the job's request from the form's payload. */
/** @type {Record<string, [kind: string, request: (payload: Payload, logId: string) => Payload]>} */
const FORMS = {
  models: ["click-model", (payload, id) => ({ ...payload, click_log_id: id })],
  propensities: ["propensity", (payload, id) => ({ ...payload, click_log_id: id })],
  judge: ["judge", (payload, id) => ({ ...payload, click_log_id: id })],
  train: [
    "train",
    ({ clicks: { affine, ...clicks }, ...payload }, id) => ({ ...payload, clicks: { ...clicks, ...affine, log: id } }),
  ],
  estimate: [
    "counterfactual",
    (payload, id) => ({ ...payload, systems: (payload.systems ?? []).map(asSystem), click_log_id: id }),
  ],
};

/** Bind the forms of the page; the options of selects are read when a dialog is first opened. @param {string} logId */
export function bindForms(logId) {
  const create = creator();
  const estimator = find(elementById("estimate-form"), 'select[name="estimator"]');
  replace(estimator, ...estimatorOptions("examination"));
  /** @type {Record<string, () => Promise<void>>} */
  const prepare = {};
  for (const [name, [kind, request]] of Object.entries(FORMS)) {
    const form = elementById(`${name}-form`, HTMLFormElement);
    bindChoices(form);
    onSubmit(form, async () => {
      const { id } = await create("/v1/jobs", { kind, ...request(payloadOf(form), logId) });
      openPage(jobPage(id));
    });
    prepare[name] = () => offerChoices(form, logId);
  }
  bindDialogs(prepare);
}

/** @param {HTMLFormElement} form @param {string} logId */
async function offerChoices(form, logId) {
  form.setAttribute("aria-busy", "true");
  const list = form.querySelector("datalist");
  await Promise.all([
    offerDatasets(form),
    offerPropensities(form, logId),
    list && readNewestSystems().then((systems) => replace(list, ...systems.map(systemOption))),
  ]);
  form.removeAttribute("aria-busy");
}

/** @param {HTMLFormElement} form */
async function offerDatasets(form) {
  await offerDatasetsWithPlaceholder(findAll(form, 'select[data-list="ready"]', HTMLSelectElement), null);
  for (const select of findAll(form, 'select[data-list="optional"]', HTMLSelectElement)) {
    await offerDatasetsWithPlaceholder([select], null);
    if (select.options[0]?.value) select.prepend(h("option", { value: "" }));
    select.options[0].textContent = "None";
    select.value = "";
  }
}

/**
 * Offer the propensities that jobs on the log have estimated, and the true propensities of a simulated log. The affine
 * correction needs propensities with intercepts.
 * @param {HTMLFormElement} form @param {string} logId
 */
async function offerPropensities(form, logId) {
  const selects = findAll(form, "select[data-list]", HTMLSelectElement).filter(
    ({ dataset: { list = "" } }) => list in NO_PROPENSITIES,
  );
  if (!selects.length) return;
  const kinds = ["propensity", "simulate-clicks"];
  const values = ["propensities", "lower", "intercepts", "truth"].map((name) => `result.${name}`);
  const fields = ["id", "created_at", "result.method", ...values].join();
  const pages = await Promise.all(
    kinds.map((kind) => get(`/v1/jobs?kind=${kind}&object=${logId}&status=succeeded&limit=200&fields=${fields}`)),
  );
  const jobs = pages.flatMap((page) => /** @type {any[]} */ (page.items));
  for (const select of selects) {
    const { list = "" } = select.dataset;
    const options = jobs.flatMap((job) => propensityOption(job, list));
    replace(select, ...(options.length ? options : [h("option", { value: "" }, NO_PROPENSITIES[list])]));
  }
}

/** @type {Record<string, string>} */ const NO_PROPENSITIES = {
  propensities: "Estimate propensities first",
  affine: "Estimate propensities with trust-em first",
  examination: "Estimate propensities with intervals first",
};

/** @param {any} job with some of its fields @param {string} list */
function propensityOption({ id, result, created_at: time }, list) {
  const { propensities, slopes, intercepts } = result.truth ?? { ...result, slopes: result.propensities };
  if (list === "affine" && !intercepts) return [];
  // Estimates by trust-em are for the affine correction only.
  if (list !== "affine" && result.intercepts) return [];
  if (list === "examination" && !result.truth && !result.lower) return [];
  const value = list === "affine" ? { propensities: slopes, intercepts } : propensities;
  const words = result.method
    ? `${result.method}, ${counted(propensities.length, "rank")}, ${new Date(time).toLocaleString("en")}`
    : "true propensities (simulation)";
  return [h("option", { value: list === "examination" ? id : JSON.stringify(value) }, words)];
}
