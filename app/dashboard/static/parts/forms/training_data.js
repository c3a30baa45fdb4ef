/**
 * The datasets of the training form, and what follows from the one trained on: its own validation and test parts,
 * its columns, and labels to be replaced.
 * @module
 */
import { chooseDataset, offerReady } from "./dataset_select.js";
import { setText } from "../page/dom.js";
import { choose, offerColumns } from "./hold_out_fields.js";
import { offerLabelMap } from "./label_map_fields.js";

const PLACES = { validation: '[data-pointer="/validation/dataset_id"]', test: '[data-pointer="/test_dataset_id"]' };

/** @param {HTMLFormElement} form @param {string | null} asked the dataset to train on */
export async function offerDatasets(form, asked) {
  const datasets = await offerReady(form.querySelectorAll('select[data-list="ready"]'), asked);
  document.getElementById("no-datasets").hidden = datasets.length > 0;
  form.hidden = datasets.length === 0;
  const trained = form.querySelector('[data-pointer="/dataset_id"]');
  chooseDataset([trained], asked);

  const byId = new Map(datasets.map((dataset) => [dataset.id, dataset]));
  const follow = () => {
    offerColumns(form, byId.get(trained.value));
    takeSiblings(form, byId, byId.get(trained.value));
  };
  trained.addEventListener("change", follow);
  form.addEventListener("change", () => offerLabelMap(document.getElementById("label-map"), chosen(form, byId, trained)));
  follow();
  offerLabelMap(document.getElementById("label-map"), chosen(form, byId, trained));
}

/** Chooses what came in the same upload; what was chosen so for another dataset is undone. */
function takeSiblings(form, byId, dataset) {
  const taken = [];
  for (const [part, place] of Object.entries(PLACES)) {
    const sibling = byId.get(dataset?.parts?.[part]);
    if (sibling && sibling !== dataset) {
      choose(form, part, "dataset");
      form.querySelector(place).value = sibling.id;
      taken.push(sibling.name);
    } else if (form.dataset.siblings) choose(form, part, part === "test" ? "none" : "fraction");
  }
  form.dataset.siblings = taken.length ? "taken" : "";
  const words = document.getElementById("siblings");
  words.hidden = taken.length === 0;
  setText(words, taken.length ? `Came in the same upload: ${taken.join(", ")}.` : "");
}

/** The datasets that the job would use. */
function chosen(form, byId, trained) {
  const selects = [trained, ...Object.values(PLACES).map((place) => form.querySelector(place))];
  const ids = new Set(selects.filter((select) => !select.matches(":disabled")).map((select) => select.value));
  return [...ids].map((id) => byId.get(id)).filter(Boolean);
}
