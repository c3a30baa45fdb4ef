/**
 * The datasets of the training form, and what follows from the one trained on: its own validation and test parts,
 * its columns, and labels to be replaced.
 * @module
 */
import { get, Problem } from "./api.js";
import { datasetApi } from "./addresses.js";
import { h, replace, setText } from "./dom.js";
import { counted } from "./format.js";
import { choose, offerColumns } from "./hold_out_fields.js";
import { offerLabelMap } from "./label_map_fields.js";

const PLACES = { validation: '[data-pointer="/validation/dataset_id"]', test: '[data-pointer="/test_dataset_id"]' };

/** @param {HTMLFormElement} form */
export async function offerDatasets(form) {
  const asked = new URLSearchParams(location.search).get("dataset");
  const datasets = await readReady(asked);
  document.getElementById("no-datasets").hidden = datasets.length > 0;
  form.hidden = datasets.length === 0;
  const words = ({ name, statistics }) => (statistics ? `${name} (${counted(statistics.queries, "query", "queries")})` : name);
  for (const select of form.querySelectorAll('select[data-list="ready"]')) {
    replace(select, ...datasets.map((dataset) => h("option", { value: dataset.id }, words(dataset))));
  }
  const trained = form.querySelector('[data-pointer="/dataset_id"]');
  if (datasets.some(({ id }) => id === asked)) trained.value = asked;

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

/** The newest, and the one asked for however old it is. */
async function readReady(asked) {
  const { items } = await get("/v1/datasets?status=ready&limit=200");
  if (!asked || items.some(({ id }) => id === asked)) return items;
  try {
    const dataset = await get(datasetApi(asked));
    return dataset.status === "ready" ? [...items, dataset] : items;
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return items;
    throw error;
  }
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
