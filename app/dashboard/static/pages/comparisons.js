/**
 * `/comparisons`: what was found before, and the forms that compare and that bring runs from elsewhere.
 * @module
 */
import { conditionalReader, creator, get } from "../parts/page/api.js";
import { comparisonCard } from "../parts/measuring/comparison_card.js";
import { offerContracts } from "../parts/forms/contract_field.js";
import { chooseDataset, offerReady } from "../parts/forms/dataset_select.js";
import { emptyState, problemBox, replace } from "../parts/page/dom.js";
import { onSubmit, payloadOf, showError } from "../parts/forms/forms.js";
import { offerLabelMap } from "../parts/forms/label_map_fields.js";
import { apiAddress, onFirstPage, showPager } from "../parts/lists/pager.js";
import { poll } from "../parts/page/poll.js";
import { runForm } from "../parts/measuring/run_form.js";
import { systemPicker } from "../parts/measuring/system_picker.js";

const list = document.getElementById("comparisons");
const form = /** @type {HTMLFormElement} */ (document.getElementById("compare-form"));
const run = /** @type {HTMLFormElement} */ (document.getElementById("run"));
const read = conditionalReader();
const create = creator();
let shown = null;

poll(refresh, (problem) => replace(list, problemBox(problem)));
offerChoices().catch((error) => showError(form, error));
runForm(run, follow);

async function refresh() {
  const page = await read(apiAddress("/v1/comparisons", 20));
  if (page === shown) return false;
  shown = page;
  list.removeAttribute("aria-busy");
  showPager(page.next_cursor);
  if (page.items.length) replace(list, ...page.items.map(comparisonCard));
  else replace(list, onFirstPage() ? emptyState("No comparisons yet", "Choose two models or runs below to see which one is better, and how sure that is.") : emptyState("No older comparisons", "This is the end of the list.", "/comparisons", "Newest comparisons"));
  return false;
}

async function offerChoices() {
  const wanted = new URLSearchParams(location.search).get("dataset");
  const selects = document.querySelectorAll('select[data-list="ready"]');
  const [picker, { presets }, datasets] = await Promise.all([systemPicker(document.getElementById("systems")), get("/v1/metrics"), offerReady(selects, wanted)]);
  chooseDataset(selects, wanted);
  followLabels(form.querySelector('[data-pointer="/dataset_id"]'), datasets);
  offerContracts(form.querySelector('[data-pointer="/contract"]'), document.getElementById("contract-words"), presets);
  onSubmit(form, async () => follow(await create("/v1/jobs", { kind: "compare", ...payloadOf(form), systems: picker.systems() })));
  form.removeAttribute("aria-busy");
  // The choices have moved what the address points at.
  if (location.hash) document.querySelector(location.hash)?.scrollIntoView();
}

/** Labels that no metric can use are to be replaced. */
function followLabels(select, datasets) {
  const show = () => offerLabelMap(document.getElementById("label-map"), datasets.filter(({ id }) => id === select.value));
  select.addEventListener("change", show);
  show();
}

/** The job's page tells how it goes, and leads on to the result as soon as there is one. */
function follow({ id }) {
  location.assign(`/jobs/${encodeURIComponent(id)}#result`);
}
