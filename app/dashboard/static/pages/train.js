/**
 * `/train`: the form that submits a training job. Losses and their hyperparameters come from the API.
 * @module
 */
import { creator, get } from "../parts/api.js";
import { offerContracts } from "../parts/contract_field.js";
import { setText } from "../parts/dom.js";
import { followChoices, onSubmit, payloadOf, showError } from "../parts/forms.js";
import { offerLosses } from "../parts/loss_fields.js";
import { offerDatasets } from "../parts/training_data.js";

const form = /** @type {HTMLFormElement} */ (document.getElementById("train"));
const create = creator();

followChoices(form);
onSubmit(form, async () => {
  const job = await create("/v1/jobs", { kind: "train", ...payloadOf(form) });
  location.assign(`/jobs/${encodeURIComponent(job.id)}`);
});
await Promise.all([offerDatasets(form), get("/v1/losses").then(({ items }) => offerLosses(items)), offerMetrics()]).catch((error) => showError(form, error));
form.removeAttribute("aria-busy");

async function offerMetrics() {
  const { items, presets } = await get("/v1/metrics");
  const names = items.map((each) => (typeof each === "string" ? each : each.name));
  setText(document.getElementById("known-metrics"), `Known: ${names.join(", ")}; a cutoff follows an @.`);
  offerContracts(form.querySelector('[data-pointer="/contract"]'), document.getElementById("contract-words"), presets);
}
