/**
 * `/datasets`: what there is to train on, and the forms that add to it.
 * @module
 */
import { conditionalReader, creator } from "../parts/page/api.js";
import { datasetPage } from "../parts/page/addresses.js";
import { datasetCard } from "../parts/datasets/dataset_card.js";
import { announce, emptyState, problemBox, replace } from "../parts/page/dom.js";
import { followChoices, onSubmit, payloadOf } from "../parts/forms/forms.js";
import { apiAddress, showPager } from "../parts/lists/pager.js";
import { poll } from "../parts/page/poll.js";
import { uploadForm } from "../parts/datasets/upload_form.js";

const list = document.getElementById("datasets");
const judged = /** @type {HTMLFormElement} */ (document.getElementById("upload"));
const synthetic = /** @type {HTMLFormElement} */ (document.getElementById("synthetic"));
const read = conditionalReader();
const create = creator();
let shown = null;

const again = poll(refresh, (problem) => replace(list, problemBox(problem)));

async function refresh() {
  const page = await read(apiAddress("/v1/datasets", 50, ["status"]));
  const busy = page.items.some((dataset) => dataset.status === "pending");
  if (page === shown) return busy;
  tellChanges(page.items);
  shown = page;
  list.removeAttribute("aria-busy");
  showPager(page.next_cursor);
  if (page.items.length) replace(list, ...page.items.map((dataset) => datasetCard(dataset, again)));
  else replace(list, emptyState("No datasets yet", "Upload judged query-document data below, or make some to try things out."));
  return busy;
}

function tellChanges(items) {
  const before = new Map((shown?.items || []).map((dataset) => [dataset.id, dataset.status]));
  for (const { id, name, status } of items) {
    if (before.has(id) && before.get(id) !== status) announce(`Dataset ${name} is ${status}.`);
  }
}

onSubmit(synthetic, async () => {
  const dataset = await create("/v1/datasets/synthetic", payloadOf(synthetic));
  announce(`Dataset ${dataset.name} is being made.`);
  await again();
  list.scrollIntoView({ block: "start", behavior: "smooth" });
});

followChoices(judged);
uploadForm(judged, ({ id }) => location.assign(datasetPage(id)));
