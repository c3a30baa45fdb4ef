/**
 * Names of datasets, read from the list: a result may outlive its dataset, so asking for one by id may fail.
 * @module
 */
import { get } from "./api.js";
import { h, setText } from "./dom.js";

const PAGE = 200;
const MOST_PAGES = 5;

/** @type {Map<string, string | null>} null: not among the datasets there are */
const names = new Map();
/** @type {Promise<void> | null} */
let reading = null;

/** A text that shows the id until the name is known. @param {string} id */
export function datasetName(id) {
  const node = h("span", { title: id }, names.get(id) ?? id);
  if (!names.has(id)) {
    // Away: the id stays, and whoever is drawn next asks again.
    find(id).then((name) => setText(node, name ?? id), () => {});
  }
  return node;
}

async function find(id) {
  await reading?.catch(() => {});
  if (!names.has(id)) {
    reading ??= readNames(id).finally(() => {
      reading = null;
    });
    await reading;
  }
  if (!names.has(id)) names.set(id, null);
  return names.get(id);
}

/** Reads pages until the dataset is found; that of a result is usually a recent one. */
async function readNames(wanted) {
  let cursor = "";
  for (let page = 0; page < MOST_PAGES && !names.has(wanted); page += 1) {
    const { items, next_cursor: next } = await get(`/v1/datasets?limit=${PAGE}${cursor}`);
    for (const { id, name } of items) names.set(id, name);
    if (!next) return;
    cursor = `&cursor=${encodeURIComponent(next)}`;
  }
}
