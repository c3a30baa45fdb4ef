/**
 * `/evaluations`: what was measured before, narrowed by `?dataset_id=`, `?model_id=` and `?ranking_id=`, and the
 * form that measures.
 * @module
 */
import { creator, get } from "../parts/page/api.js";
import { modelPage } from "../parts/page/addresses.js";
import { offerContracts } from "../parts/forms/contract_field.js";
import { chooseDataset, offerFilter, offerReady } from "../parts/forms/dataset_select.js";
import { emptyState, h, replace } from "../parts/page/dom.js";
import { evaluationTable } from "../parts/measuring/evaluation_table.js";
import { followFilters, isNarrowed } from "../parts/lists/filters.js";
import { onSubmit, payloadOf, showError } from "../parts/forms/forms.js";
import { offerLabelMap } from "../parts/forms/label_map_fields.js";
import { pagedList } from "../parts/lists/paged_list.js";
import { onFirstPage } from "../parts/lists/pager.js";
import { offerSystems } from "../parts/forms/system_field.js";

const filters = /** @type {HTMLFormElement} */ (document.getElementById("filters"));
const form = /** @type {HTMLFormElement} */ (document.getElementById("evaluate-form"));
const here = new URLSearchParams(location.search);
const [model, ranking] = [here.get("model_id"), here.get("ranking_id")];
const create = creator();

const again = pagedList(document.getElementById("evaluations"), "/v1/evaluations", { limit: 50, filters: ["dataset_id", "model_id", "ranking_id"] }, (items) => (items.length ? [evaluationTable(items)] : [nothing()]));
followFilters(filters, again);
tellSubject();
offerChoices().catch((error) => showError(form, error));

/** One comes from a model or a ranking to its evaluations. */
function tellSubject() {
  const words = document.getElementById("narrowed");
  words.hidden = !model && !ranking;
  const subject = model ? h("a", { href: modelPage(model) }, "one model") : h("a", { href: `/rankings/${encodeURIComponent(ranking)}` }, "one ranking");
  replace(words, "Only those of ", subject, " · ", h("a", { href: "/evaluations" }, "All"));
}

async function offerChoices() {
  const [input] = form.querySelectorAll("input[list]");
  const selects = form.querySelectorAll('select[data-list="ready"]');
  const wanted = here.get("dataset_id");
  const [system, { presets }, datasets] = await Promise.all([offerSystems(input, { runs: true }), get("/v1/metrics"), offerReady(selects, wanted)]);
  offerFilter(filters, datasets);
  chooseDataset(selects, wanted);
  const [select] = selects;
  const followLabels = () => offerLabelMap(document.getElementById("label-map"), datasets.filter(({ id }) => id === select.value));
  select.addEventListener("change", followLabels);
  followLabels();
  offerContracts(form.querySelector('[data-pointer="/contract"]'), document.getElementById("contract-words"), presets);
  onSubmit(form, async () => {
    const { model: typed, ...asked } = payloadOf(form);
    const { id } = await create("/v1/jobs", { kind: "evaluate", ...asked, ...system() });
    location.assign(`/jobs/${encodeURIComponent(id)}#result`);
  });
  form.removeAttribute("aria-busy");
  if (location.hash) document.querySelector(location.hash)?.scrollIntoView();
}

function nothing() {
  if (isNarrowed(filters) || model || ranking) return emptyState("No such evaluations", "Nothing was measured so yet.", "/evaluations", "All evaluations");
  if (!onFirstPage()) return emptyState("No older evaluations", "This is the end of the list.", "/evaluations", "Newest evaluations");
  return emptyState("No evaluations yet", "A training with test data is measured on it; anything else that ranks is measured below.", "#evaluate", "Evaluate");
}
