/**
 * `/models`: names of models with their latest version, the newest first; narrowed by `?contains=` and `?tag=`.
 * @module
 */
import { modelPage } from "../parts/page/addresses.js";
import { emptyState } from "../parts/page/dom.js";
import { followFilters, isNarrowed } from "../parts/lists/filters.js";
import { importForm } from "../parts/models/import_form.js";
import { modelRow } from "../parts/models/model_row.js";
import { modelTicks } from "../parts/models/model_ticks.js";
import { pagedList } from "../parts/lists/paged_list.js";
import { onFirstPage } from "../parts/lists/pager.js";

const filters = /** @type {HTMLFormElement} */ (document.getElementById("filters"));
const tick = modelTicks(/** @type {HTMLAnchorElement} */ (document.getElementById("compare")));

const again = pagedList(document.getElementById("models"), "/v1/model-names", { limit: 25, filters: ["contains", "tag"] }, (names) => {
  filters.hidden = !names.length && !isNarrowed(filters);
  return names.length ? names.map((named) => modelRow(named, tick)) : [nothing()];
});
followFilters(filters, again);
importForm(/** @type {HTMLFormElement} */ (document.getElementById("import-form")), document.getElementById("importing"), (id) => location.assign(modelPage(id)));

function nothing() {
  if (isNarrowed(filters)) return emptyState("No such models", "No name and tag is like that.", "/models", "All models");
  if (!onFirstPage()) return emptyState("No older models", "This is the end of the list.", "/models", "Newest models");
  return emptyState("No models yet", "A training job that succeeds leaves its model here; a LightGBM model can be imported below.", "/train", "New training");
}
