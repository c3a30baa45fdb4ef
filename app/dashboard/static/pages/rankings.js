/**
 * `/rankings`: what models and uploaded runs rank, narrowed by `?dataset_id=` and `?uploaded=`, and the forms that
 * make more.
 * @module
 */
import { creator } from "../parts/page/api.js";
import { chooseDataset, offerFilter, offerReady } from "../parts/forms/dataset_select.js";
import { emptyState } from "../parts/page/dom.js";
import { followFilters, isNarrowed } from "../parts/lists/filters.js";
import { onSubmit, payloadOf, showError } from "../parts/forms/forms.js";
import { pagedList } from "../parts/lists/paged_list.js";
import { onFirstPage } from "../parts/lists/pager.js";
import { rankingTable } from "../parts/measuring/ranking_table.js";
import { runForm } from "../parts/measuring/run_form.js";
import { offerSystems } from "../parts/forms/system_field.js";

const filters = /** @type {HTMLFormElement} */ (document.getElementById("filters"));
const form = /** @type {HTMLFormElement} */ (document.getElementById("rank"));
const create = creator();

const again = pagedList(document.getElementById("rankings"), "/v1/rankings", { limit: 50, filters: ["dataset_id", "uploaded"] }, (items) => (items.length ? [rankingTable(items)] : [nothing()]));
followFilters(filters, again);
onSubmit(form, async () => follow(await create("/v1/jobs", { kind: "rank", ...payloadOf(form) })));
runForm(/** @type {HTMLFormElement} */ (document.getElementById("run")), follow);
offerChoices().catch((error) => showError(form, error));

async function offerChoices() {
  const wanted = new URLSearchParams(location.search).get("dataset_id");
  const selects = document.querySelectorAll('select[data-list="ready"]');
  const [datasets] = await Promise.all([offerReady(selects, wanted), offerSystems(form.querySelector("input[list]"), { runs: false })]);
  offerFilter(filters, datasets);
  chooseDataset(selects, wanted);
}

/** The job's page tells how it goes, and leads on to the ranking as soon as there is one. */
function follow({ id }) {
  location.assign(`/jobs/${encodeURIComponent(id)}#result`);
}

function nothing() {
  if (isNarrowed(filters)) return emptyState("No such rankings", "Nothing ranks so yet.", "/rankings", "All rankings");
  if (!onFirstPage()) return emptyState("No older rankings", "This is the end of the list.", "/rankings", "Newest rankings");
  return emptyState("No rankings yet", "Let a model rank a dataset, or upload what another system ranks.", "#rank", "Rank a dataset");
}
