/**
 * `/datasets`: what there is to train on, and the forms that add to it.
 * @module
 */
import { conditionalReader, creator, request } from "../parts/api.js";
import { datasetCard } from "../parts/dataset_card.js";
import { announce, emptyState, problemBox, replace, setText } from "../parts/dom.js";
import { size } from "../parts/format.js";
import { onSubmit, payloadOf } from "../parts/forms.js";
import { apiAddress, showPager } from "../parts/pager.js";
import { poll } from "../parts/poll.js";
import { upload } from "../parts/upload.js";

const list = document.getElementById("datasets");
const uploadForm = /** @type {HTMLFormElement} */ (document.getElementById("upload"));
const syntheticForm = /** @type {HTMLFormElement} */ (document.getElementById("synthetic"));
const dialog = /** @type {HTMLDialogElement} */ (document.getElementById("confirm"));
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
  if (page.items.length) replace(list, ...page.items.map((dataset) => datasetCard(dataset, remove)));
  else replace(list, emptyState("No datasets yet", "Upload judged query-document data below, or make some to try things out."));
  return busy;
}

function tellChanges(items) {
  const before = new Map((shown?.items || []).map((dataset) => [dataset.id, dataset.status]));
  for (const { id, name, status } of items) {
    if (before.has(id) && before.get(id) !== status) announce(`Dataset ${name} is ${status}.`);
  }
}

onSubmit(syntheticForm, async () => {
  const dataset = await create("/v1/datasets/synthetic", payloadOf(syntheticForm));
  announce(`Dataset ${dataset.name} is being made.`);
  await again();
  list.scrollIntoView({ block: "start", behavior: "smooth" });
});

onSubmit(uploadForm, async () => {
  const data = new FormData(uploadForm);
  if (!data.get("name")) data.delete("name");
  // An empty file input still sends a nameless part; without it the server says what is missing.
  if (!data.get("file").name) data.delete("file");
  const transfer = upload("/v1/datasets", data, showSent);
  const stop = uploadForm.querySelector('[data-action="abort"]');
  stop.onclick = transfer.abort;
  stop.hidden = false;
  try {
    const dataset = await transfer.done;
    if (dataset) {
      uploadForm.reset();
      announce(`${dataset.name} was uploaded and is being read.`);
    }
  } finally {
    stop.hidden = true;
    uploadForm.querySelector(".upload-progress").hidden = true;
  }
  again();
});

function showSent(sent, total) {
  const box = uploadForm.querySelector(".upload-progress");
  box.hidden = false;
  const bar = box.querySelector("progress");
  bar.max = total || 1;
  bar.value = sent;
  setText(box.querySelector("p"), sent < total ? `${size(sent)} of ${size(total)}` : "sent; waiting for the answer");
}

function remove(dataset) {
  setText(dialog.querySelector("h2"), `Delete ${dataset.name}?`);
  setText(dialog.querySelector("p"), "Its data cannot be brought back. Models trained on it stay.");
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener(
      "close",
      async () => {
        if (dialog.returnValue !== "yes") return resolve(null);
        try {
          await request(`/v1/datasets/${encodeURIComponent(dataset.id)}`, { method: "DELETE" });
          announce(`${dataset.name} was deleted.`);
          again();
          return resolve(null);
        } catch (error) {
          return resolve(error);
        }
      },
      { once: true },
    );
  });
}
