/** Choices among datasets, systems, metric contracts and label maps. @module */
import { field, textInput } from "./controls.js";
import { contractLabel, PRESET_WORDS } from "../evaluation/metrics.js";
import { datasetApi } from "../page/paths.js";
import { get, getOnce, Problem } from "../page/api.js";
import { elementById, find, findAll, h, replace, setText } from "../page/dom.js";
import { counted, joined, numberText } from "../page/format.js";
import { follow } from "../page/stream.js";

/** Offer the presets of metric contracts in a form, and describe the chosen one. @param {HTMLFormElement} form */
export async function offerContracts(form) {
  const { presets } = await getOnce("/v1/metrics");
  const select = find(form, '[data-pointer="/contract"]', HTMLSelectElement);
  const label = (/** @type {string} */ name) => (PRESET_WORDS[name] ? `${name}: ${PRESET_WORDS[name]}` : name);
  replace(
    select,
    Object.keys(presets).map((name) => h("option", { value: name === "default" ? "" : name }, label(name))),
  );
  const show = () => setText(elementById("contract-words"), contractLabel(presets[select.value || "default"]));
  select.addEventListener("change", show);
  show();
}

const MISSING = "nan";

/**
 * Show fields for the labels of the chosen datasets that no loss can use, below 0 or missing, and for other labels.
 * @param {HTMLFieldSetElement} container
 * @param {{statistics: Statistics | null}[]} datasets that the job will use
 * @param {string[]} [others] other labels to offer: those that an earlier job replaced
 */
export function offerLabelMap(container, datasets, others = []) {
  const offered = labelsToReplace(datasets, others);
  const grid = find(container, ".grid");
  // Keep existing fields: the user may be typing in them.
  const state = JSON.stringify([...offered]);
  if (state === container.dataset.state) return;
  container.dataset.state = state;
  const typed = new Map(findAll(grid, "input", HTMLInputElement).map((input) => [input.dataset.pointer, input.value]));
  container.hidden = offered.size === 0;
  container.disabled = offered.size === 0;
  replace(grid, ...[...offered].map(([label, documents]) => labelField(label, documents, typed)));
}

/**
 * @param {{statistics: Statistics | null}[]} datasets @param {string[]} others
 * @returns {Map<string, number>} numbers of documents by label, the smallest label first and missing labels last
 */
function labelsToReplace(datasets, others) {
  const documentsByLabel = new Map(others.map((label) => [label, 0]));
  /** @param {string} label @param {number} documents */
  const add = (label, documents) => documentsByLabel.set(label, (documentsByLabel.get(label) || 0) + documents);
  for (const { statistics } of datasets) {
    for (const { label, documents } of statistics?.labels || []) {
      if (typeof label === "number" && (label < 0 || others.includes(numberText(label))))
        add(numberText(label), documents);
    }
    if (statistics?.label_range?.missing) add(MISSING, statistics.label_range.missing);
  }
  const sortKey = (/** @type {[string, number]} */ [label]) => (label === MISSING ? Infinity : Number(label));
  return new Map([...documentsByLabel].sort((one, other) => sortKey(one) - sortKey(other)));
}

/** @param {string} label @param {number} documents @param {Map<string | undefined, string>} typed values by pointer */
function labelField(label, documents, typed) {
  const pointer = `/label_map/${label}`;
  return field(
    [label === MISSING ? "No label" : `Label ${label}`, h("small", counted(documents, "document"))],
    textInput({
      inputmode: "decimal",
      "data-pointer": pointer,
      "data-type": "number",
      value: typed.get(pointer) ?? "0",
    }),
  );
}

/**
 * Fill selects with the newest ready datasets, the requested one even if it is older, and those that become
 * ready later.
 * @param {Iterable<HTMLSelectElement>} selects
 * @param {string | null} requestedId ID of a dataset to include
 * @returns {Promise<Schemas["Dataset"][]>} the datasets; those that become ready later are appended
 */
export async function offerReadyDatasets(selects, requestedId) {
  const all = [...selects];
  const datasets = await readReadyDatasets(requestedId);
  const words = (/** @type {Schemas["Dataset"]} */ { name, statistics }) =>
    statistics ? `${name} (${counted(statistics.queries, "query", "queries")})` : name;
  /** @param {Schemas["Dataset"][]} some */
  const options = (some) => some.map((dataset) => h("option", { value: dataset.id }, words(dataset)));
  for (const select of all) replace(select, ...options(datasets));
  let isCurrent = false; // false until datasets that became ready before the stream was open are read
  follow((signal) => {
    const mayHaveMore = signal === "changed" ? !isCurrent : signal !== "lost";
    if (mayHaveMore) addLater().catch(() => {});
    isCurrent = signal !== "lost";
  });
  return datasets;

  async function addLater() {
    const ready = await readReadyDatasets(null);
    const later = ready.filter(({ id }) => !datasets.some((dataset) => dataset.id === id));
    datasets.push(...later);
    for (const select of all) select.append(...options(later));
  }
}

/**
 * Offer ready datasets below a placeholder, which is omitted if there is only one dataset.
 * @param {Iterable<HTMLSelectElement>} selects
 * @param {string | null} requestedId ID of a dataset to include
 * @returns {Promise<Schemas["Dataset"][]>} the datasets
 */
export async function offerDatasetsWithPlaceholder(selects, requestedId) {
  const all = [...selects];
  const datasets = await offerReadyDatasets(all, requestedId);
  if (datasets.length > 1) {
    for (const select of all) select.prepend(h("option", { value: "", selected: true }, "Choose a dataset"));
  }
  return datasets;
}

/** Return the newest ready datasets, and the requested one even if it is older. @param {string | null} requestedId */
async function readReadyDatasets(requestedId) {
  const { items } = await get("/v1/datasets?status=ready&limit=200");
  if (!requestedId || items.some(({ id }) => id === requestedId)) return items;
  try {
    const dataset = await get(datasetApi(requestedId));
    return dataset.status === "ready" ? [...items, dataset] : items;
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return items;
    throw error;
  }
}

const STATISTICS_FIELDS = ["queries", "documents", "features", "labels", "label_range"].map(
  (name) => `statistics.${name}`,
);
/** @type {Record<string, string>} */
const ROLE_LABELS = { test: "test data", validation: "validation data", train: "training data" };

/**
 * Offer the datasets to evaluate systems on: compatible ones first, the others disabled with the reason. The user's
 * choice stays selected, else `preferredId`, else the dataset on which most of the systems were tested.
 * @param {HTMLSelectElement} select in a form; the form may have a fieldset for the labels to replace
 * @param {string | null} [preferredId] ID of the dataset that the address or a stored setting names
 * @returns {(references: string[]) => Promise<void>} offers the datasets that are compatible with these models and rankings
 */
export function offerEvaluationDatasets(select, preferredId = null) {
  const note = h("small.below", { role: "status" });
  const labelMap = select.form?.querySelector("fieldset#label-map");
  select.after(note);
  /** @type {Schemas["Dataset"][]} */ let datasets = [];
  let byHand = false;
  let latestRequest = 0;
  select.addEventListener("change", () => {
    byHand = true;
    show();
  });

  /** @param {string[]} references */
  async function offer(references) {
    const requestNumber = ++latestRequest;
    const page = await readCompatible(references, preferredId);
    if (requestNumber !== latestRequest) return;
    datasets = page.datasets;
    const before = select.value;
    const fitting = datasets.filter(({ fit }) => fit?.fits ?? true);
    replace(select, [
      h("option", { value: "" }, "Choose a dataset"),
      ...fitting.sort((one, other) => compatibilityRank(one) - compatibilityRank(other)).map(compatibilityOption),
      ...datasets.filter((dataset) => !fitting.includes(dataset)).map(compatibilityOption),
    ]);
    const proposed = [byHand ? before : null, preferredId, page.proposed, before];
    select.value = proposed.find((id) => fitting.some((dataset) => dataset.id === id)) ?? "";
    show();
  }

  function show() {
    const dataset = datasets.find(({ id }) => id === select.value);
    setText(note, dataset ? compatibilityLabel(dataset) : "");
    if (labelMap instanceof HTMLFieldSetElement) offerLabelMap(labelMap, dataset ? [dataset] : []);
  }

  return offer;
}

/** @param {string[]} references @param {string | null} preferredId */
async function readCompatible(references, preferredId) {
  const query = new URLSearchParams({
    status: "ready",
    limit: "200",
    fields: ["name", "fit", ...STATISTICS_FIELDS].join(","),
  });
  for (const reference of references) query.append("for", reference);
  const read = () => get(`/v1/datasets?${query}`);
  const { items, default_id: proposed = null } = await read().catch((error) => {
    if (!references.length || !(error instanceof Problem) || ![404, 422].includes(error.status)) throw error;
    // The API reports an unknown reference when the form is sent.
    query.delete("for");
    return read();
  });
  const absent = [preferredId, proposed].filter((id) => id !== null && !items.some((dataset) => dataset.id === id));
  const older = await Promise.all(absent.map((id) => get(datasetApi(id ?? "")).catch(() => null)));
  const ready = /** @type {Schemas["Dataset"][]} */ (older.filter((dataset) => dataset?.status === "ready"));
  return { datasets: [...items, ...ready], proposed };
}

/** Rank datasets: those that the systems were tested on first, those that they were trained on last. @param {Schemas["Dataset"]} dataset */
const compatibilityRank = ({ fit }) => (fit?.part === "test" ? 0 : fit?.part === "train" ? 2 : 1);

/** @param {Schemas["Dataset"]} dataset */
function compatibilityOption({ id, name, statistics, fit }) {
  const words = joined([name, fit?.part && ROLE_LABELS[fit.part], fit?.reason || sizeLabel(statistics)], " · ");
  return h("option", { value: id, disabled: fit?.fits === false }, words);
}

/** "90 queries, 1,650 documents, 6 features". @param {Schemas["Dataset"]["statistics"]} statistics */
function sizeLabel(statistics) {
  if (!statistics) return "";
  const { queries, documents, features } = statistics;
  return `${counted(queries, "query", "queries")}, ${counted(documents, "document")}, ${counted(features, "feature")}`;
}

/** Describe the chosen dataset, as options may be too narrow to read. @param {Schemas["Dataset"]} dataset */
function compatibilityLabel({ statistics, fit }) {
  const absent = fit?.absent_features ?? [];
  const first = absent.slice(0, 3).join(", ") + (absent.length > 3 ? ", …" : "");
  const warnings = joined([
    fit?.part === "train" && "A model was trained on these queries: metrics on them are optimistic.",
    absent.length > 0 && `Absent: ${counted(absent.length, "feature")} (${first}), which count as missing values.`,
  ]);
  return joined([joined([fit?.part && ROLE_LABELS[fit.part], sizeLabel(statistics)], " · "), warnings], ". ");
}

/** Choose a dataset in the selects that offer it. @param {Iterable<HTMLSelectElement>} selects @param {string | null} id */
export function chooseDataset(selects, id) {
  for (const select of selects) {
    if (id && [...select.options].some(({ value }) => value === id)) select.value = id;
  }
}

const PAGE_SIZE = 200;
const RANKING = /^rnk_/;

/** Return the field of a request that names a model or ranking. @param {string} reference @returns {{model: string} | {ranking_id: string}} */
export const asSystem = (reference) => (RANKING.test(reference) ? { ranking_id: reference } : { model: reference });

/** Return the newest models and runs. @returns {Promise<{reference: string, name: string, detail: string}[]>} */
export async function readNewestSystems() {
  const [models, runs] = await Promise.all([
    get(`/v1/models?limit=${PAGE_SIZE}`),
    get(`/v1/rankings?uploaded=true&limit=${PAGE_SIZE}`),
  ]);
  return [
    ...models.items.map(({ name, version, aliases, loss }) => ({
      reference: `${name}:${version}`,
      name: `${name}:${version}`,
      detail: joined([loss?.name, ...aliases.map((alias) => `@${alias}`)]),
    })),
    ...runs.items.map(({ id, system }) => ({ reference: id, name: system, detail: "run" })),
  ];
}

/** @param {{reference: string, name: string, detail: string}} system */
export const systemOption = ({ reference, name, detail }) =>
  h("option", { value: reference }, reference === name ? detail : `${name}, ${detail}`);

/**
 * Offer the newest models and runs in a field for one system; any other reference can be typed.
 * @param {HTMLInputElement} input with a datalist
 * @param {{runs: boolean, chosen?: (references: string[]) => void}} options
 *   runs: whether uploaded rankings are offered, too; chosen: called with the choice at each change
 * @returns {Promise<() => {model?: string, ranking_id?: string}>} returns the chosen system as a field of a request
 */
export async function offerSystems(input, { runs, chosen = () => {} }) {
  const offered = (await readNewestSystems()).filter(({ reference, name }) => runs || reference === name);
  if (!input.list) throw new TypeError("The field has no list");
  replace(input.list, ...offered.map(systemOption));
  if (!input.value) input.value = new URLSearchParams(location.search).get("model") ?? "";
  const notify = () => chosen(input.value.trim() ? [input.value.trim()] : []);
  input.addEventListener("change", notify);
  notify();
  return () => {
    const reference = input.value.trim();
    return reference ? asSystem(reference) : {};
  };
}
