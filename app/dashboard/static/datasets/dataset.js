/** Names, labels and actions of datasets. @module */
import { datasetApi, datasetPage, jobPage } from "../page/paths.js";
import { confirmedDeleteButton } from "../lifecycle/confirmed_deletion.js";
import { trashLabel } from "../lifecycle/undo.js";
import { get } from "../page/api.js";
import { h, setText } from "../page/dom.js";
import { counted, filesLabel, short } from "../page/format.js";
import { downloadMenu, fileLink } from "../page/parts.js";

export const DATASET_ROLES = ["train", "validation", "test"];
/** @type {Record<string, string>} */
const FORMATS = { letor: "LETOR text", lightgbm: "LightGBM data", csv: "delimited table", parquet: "Parquet" };

/** Return the source of a dataset: "train.txt.gz, 1.2 GB, LETOR text". @param {Schemas["Dataset"]} dataset */
export function sourceLabel({ source, size_bytes: bytes }) {
  if (source?.kind === "synthetic") {
    const kind = source.generator === "sparse" ? "sparse" : "synthetic";
    return `${kind}, seed ${source.seed}, polynomial seed ${source.polynomial_seed}`;
  }
  if (source?.kind === "clicks") return "judgments of a click log";
  return filesLabel(source, bytes, FORMATS);
}

/**
 * Return "0 – 4", or a single number if both ends are equal.
 * @param {number | null | undefined} minimum @param {number | null | undefined} maximum
 */
export function rangeLabel(minimum, maximum) {
  if (minimum === null || minimum === undefined) return "none";
  return minimum === maximum ? short(minimum) : `${short(minimum)} – ${short(maximum)}`;
}

/** Severities of findings, most severe first. */
export const SEVERITIES = ["error", "warning", "info"];

/**
 * Count the findings of each severity, most severe first; severities without findings are left out.
 * @param {{severity: string}[]} findings @returns {[severity: string, number: number][]}
 */
export function countsBySeverity(findings) {
  const count = (/** @type {string} */ severity) => findings.filter((finding) => finding.severity === severity).length;
  /** @type {[string, number][]} */ const counts = SEVERITIES.map((severity) => [severity, count(severity)]);
  return counts.filter(([, number]) => number > 0);
}

/** Return the name of a severity; "info" is called a note. @param {string} severity */
export const severityWord = (severity) => (severity === "info" ? "note" : severity);

/** Return "2 warnings". @param {string} severity @param {number} number */
export const severityLabel = (severity, number) => counted(number, severityWord(severity));

const PAGE_SIZE = 200;
const MAX_PAGES = 5;

/** Names of datasets by id; null if the dataset was not found. @type {Map<string, string | null>} */
const names = new Map();
/** @type {Promise<void> | null} */ let pendingRead = null;

/** Return an element that shows a dataset's name once it has been read, or its id if it cannot be read. @param {string} id */
export function datasetName(id) {
  const isKnown = names.has(id);
  const node = h("span", { title: id, "data-unread": !isKnown }, isKnown ? (names.get(id) ?? id) : "…");
  /** @param {string | null} [name] */
  const show = (name) => {
    node.removeAttribute("data-unread");
    setText(node, name ?? id);
  };
  // API unreachable: the next call reads the name again.
  if (!isKnown) findName(id).then(show, () => show());
  return node;
}

/** @param {string} id */
async function findName(id) {
  await pendingRead?.catch(() => {});
  if (!names.has(id)) {
    pendingRead ??= readNames(id).finally(() => {
      pendingRead = null;
    });
    await pendingRead;
  }
  if (!names.has(id)) names.set(id, null);
  return names.get(id);
}

/** Read pages of datasets, the newest first, until the dataset is found; it is usually recent. @param {string} datasetId */
async function readNames(datasetId) {
  let cursor = "";
  for (let page = 0; page < MAX_PAGES && !names.has(datasetId); page += 1) {
    const { items, next_cursor: next } = await get(`/v1/datasets?limit=${PAGE_SIZE}${cursor}`);
    for (const { id, name } of items) names.set(id, name);
    if (!next) return;
    cursor = `&cursor=${encodeURIComponent(next)}`;
  }
}

/** Return a heading such as "web:3 on MSLR". @param {string} words @param {string} connective @param {string} id */
export function headingOn(words, connective, id) {
  const link = h("a.quiet-link", { href: datasetPage(id) }, datasetName(id));
  return h("h1", words, h("span.kind", ` ${connective} `), link);
}

/** Return the links and buttons of a dataset. @param {Schemas["Dataset"]} dataset */
export function datasetActions(dataset) {
  const { id, status, statistics, job_id: job } = dataset;
  const isJudgedOnly = statistics?.features === 0;
  return h("div.actions", [
    status === "ready" &&
      (isJudgedOnly
        ? h("a.button", { href: `/rankings?${new URLSearchParams({ dataset_id: id })}` }, "Rankings of this dataset")
        : h("a.button", { href: `/train?dataset=${encodeURIComponent(id)}`, needs: "write" }, "Train on this dataset")),
    job && h("a.button.quiet", { href: jobPage(job) }, "Job"),
    status === "ready" && downloads(id, isJudgedOnly),
    status !== "pending" &&
      confirmedDeleteButton("datasets", dataset, `${trashLabel()} Models trained on it are kept.`),
  ]);
}

/** @param {string} id @param {boolean} isJudgedOnly */
function downloads(id, isJudgedOnly) {
  const files = h("div.menu-items", [
    fileLink(datasetApi(id, "/download?format=parquet"), "Parquet"),
    !isJudgedOnly && fileLink(datasetApi(id, "/download?format=letor"), "LETOR"),
    fileLink(datasetApi(id, "/qrels"), "Judgments (TREC qrels)"),
  ]);
  return downloadMenu(files);
}
