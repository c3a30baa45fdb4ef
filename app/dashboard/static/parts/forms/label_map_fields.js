/**
 * Fields for the labels that no loss can use, as the chosen datasets have them: below 0, or missing.
 * @module
 */
import { h, replace } from "../page/dom.js";
import { counted, short } from "../page/format.js";

const MISSING = "nan";

/**
 * @param {HTMLFieldSetElement} place
 * @param {any[]} datasets those that the job will use
 */
export function offerLabelMap(place, datasets) {
  const unusable = unusableLabels(datasets);
  const grid = place.querySelector(".grid");
  // Fields that stay must not be made anew under the user's hands.
  const state = JSON.stringify([...unusable]);
  if (state === place.dataset.state) return;
  place.dataset.state = state;
  const typed = new Map([...grid.querySelectorAll("input")].map((input) => [input.dataset.pointer, input.value]));
  place.hidden = unusable.size === 0;
  place.disabled = unusable.size === 0;
  replace(grid, ...[...unusable].map(([label, documents]) => field(label, documents, typed)));
}

/** @returns {Map<string, number>} documents by label, the smallest label first and the missing last */
function unusableLabels(datasets) {
  const found = new Map();
  const add = (label, documents) => found.set(label, (found.get(label) || 0) + documents);
  for (const { statistics } of datasets) {
    for (const { label, documents } of statistics?.labels || []) {
      if (typeof label === "number" && label < 0) add(short(label), documents);
    }
    if (statistics?.label_range?.missing) add(MISSING, statistics.label_range.missing);
  }
  const place = ([label]) => (label === MISSING ? Infinity : Number(label));
  return new Map([...found].sort((one, other) => place(one) - place(other)));
}

function field(label, documents, typed) {
  const pointer = `/label_map/${label}`;
  return h(
    "label",
    { class: "field" },
    label === MISSING ? "No label" : `Label ${label}`,
    h("small", {}, counted(documents, "document")),
    h("input", { type: "text", inputmode: "decimal", autocomplete: "off", "data-pointer": pointer, "data-type": "number", value: typed.get(pointer) ?? "0" }),
  );
}
