/**
 * Choices among the datasets that are ready.
 * @module
 */
import { datasetApi } from "../page/addresses.js";
import { get, Problem } from "../page/api.js";
import { h, replace } from "../page/dom.js";
import { showFilters } from "../lists/filters.js";
import { counted } from "../page/format.js";

/**
 * Fills selects with the newest datasets, and the one asked for however old it is.
 * @param {Iterable<HTMLSelectElement>} selects
 * @param {string | null} asked id
 * @returns {Promise<any[]>} the datasets
 */
export async function offerReady(selects, asked) {
  const datasets = await readReady(asked);
  const words = ({ name, statistics }) => (statistics ? `${name} (${counted(statistics.queries, "query", "queries")})` : name);
  for (const select of selects) {
    replace(select, ...datasets.map((dataset) => h("option", { value: dataset.id }, words(dataset))));
  }
  return datasets;
}

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

/** Offers datasets to narrow a list by. @param {HTMLFormElement} form @param {any[]} datasets */
export function offerFilter(form, datasets) {
  const select = form.querySelector('select[data-filter="dataset_id"]');
  replace(select, h("option", { value: "" }, "All datasets"), ...datasets.map(({ id, name }) => h("option", { value: id }, name)));
  showFilters(form);
}

/** Chooses a dataset where it is offered. @param {Iterable<HTMLSelectElement>} selects @param {string | null} id */
export function chooseDataset(selects, id) {
  for (const select of selects) {
    if ([...select.options].some(({ value }) => value === id)) select.value = id;
  }
}
