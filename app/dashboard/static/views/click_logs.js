/** `/click-logs`: the list of click logs, and the forms that upload and simulate one. @module */
import { logSource } from "../clicks/log.js";
import { offerDatasetsWithPlaceholder } from "../forms/choices.js";
import { bindChoices, bindDialogs, onSubmit, payloadOf } from "../forms/forms.js";
import { readStart, firstRecords } from "../forms/text_file.js";
import { acceptDrop, contentsOf, sendUpload } from "../forms/upload.js";
import { clickLogPage, datasetApi, jobPage, openPage } from "../page/paths.js";
import { creator, get } from "../page/api.js";
import { latestReader } from "../page/content.js";
import { elementById, find, h, replace, findAll } from "../page/dom.js";
import { percent } from "../page/format.js";
import {
  DATA_FIELDS,
  dataColumns,
  fieldColumn,
  FINDINGS,
  projectColumn,
  sourceColumn,
  timeColumn,
} from "../tables/columns.js";
import { showList } from "../tables/list.js";
import { dataTable } from "../page/parts.js";

const PREVIEW_ROWS = 5;

/**
 * Offer the columns of a table in the selects of the roles, with a preview of its first rows. Hide `container` if the file is
 * not a table.
 * @param {HTMLElement} container with a select for each role, whose `data-usual` lists the usual names of the column
 * @param {string} text the beginning of the file
 */
function offerColumns(container, text) {
  const isTable = !/^\s*[[{]/.test(text);
  const [names = [], ...rows] = isTable ? firstRecords(text, PREVIEW_ROWS + 1) : [];
  container.hidden = names.length < 2;
  const detected = new Set();
  for (const select of findAll(container, "select", HTMLSelectElement)) {
    const usualNames = (select.dataset.usual ?? "").split(" ");
    const matches = usualNames.flatMap((each) => names.find((column) => column.toLowerCase() === each) ?? []);
    const column = matches.find((each) => !detected.has(each)) ?? "";
    detected.add(column);
    replace(select, h("option", { value: "" }, "none"), ...names.map((each) => h("option", { value: each }, each)));
    select.value = column;
  }
  const table = dataTable("First rows of the file", names, rows, (row) => row.map((cell) => h("td", cell)));
  replace(find(container, ".preview"), table);
}

/** Bytes that are read from a file for its header and first rows. */
const HEADER_BYTES = 65_536;

/** @type {ListColumn[]} */ const COLUMNS = [
  ...dataColumns(clickLogPage, ["lists", "impressions", "clicks"]),
  fieldColumn("statistics", "Clicked", (all) => all?.impressions > 0 && percent(all.clicks, all.impressions), {
    key: "rate",
    number: true,
    fields: ["statistics.impressions", "statistics.clicks"],
  }),
  FINDINGS,
  sourceColumn(logSource),
  timeColumn("created", "Added"),
  projectColumn("/click-logs"),
];

const form = elementById("upload", HTMLFormElement);
const simulation = elementById("simulate-form", HTMLFormElement);
const featureNames = elementById("feature-names");
const readNames = latestReader(featureNames, () => replace(featureNames));
const create = creator();

showList({
  kind: "click-logs",
  noun: "click log",
  filters: ["status"],
  fields: DATA_FIELDS,
  columns: COLUMNS,
  name: ({ name }) => name,
  isActive: ({ status }) => status === "pending",
  announcement: ({ name, status }) => `Click log ${name} is ${status}.`,
  empty: ["Upload the click log of a search engine, or simulate clicks.", "#add", "Upload a click log"],
});
bindDialogs({ simulate: offerSimulation });
bindChoices(form);
acceptDrop(form);
watchHeader();
onSubmit(form, send);

/** Offer the columns of the chosen file. */
function watchHeader() {
  const file = find(form, 'input[name="file"]', HTMLInputElement);
  const columns = elementById("columns");
  const read = latestReader(columns);
  file.addEventListener("change", () => {
    const [chosen] = file.files ?? [];
    read(
      async () => chosen && (await readStart(chosen, HEADER_BYTES).catch(() => null)),
      (text) => offerColumns(columns, text ?? ""),
    );
  });
}

async function send() {
  const log =
    new FormData(form).get("source") === "file"
      ? await sendUpload(form, "/v1/click-logs", contentsOf(form, payload()))
      : await create("/v1/click-logs", payload());
  if (log) openPage(clickLogPage(log.id));
}

/** Return the payload with weights as numbers, without the fields of the other source. */
function payload() {
  const { actions, columns, ...rest } = payloadOf(form);
  const weights = Object.entries(/** @type {Record<string, string>} */ (actions ?? {}));
  return {
    ...rest,
    ...(weights.length && { actions: Object.fromEntries(weights.map(([name, weight]) => [name, Number(weight)])) }),
    ...(!elementById("columns").hidden && columns && { columns }),
  };
}

async function offerSimulation() {
  const select = find(simulation, "select[data-list]", HTMLSelectElement);
  select.addEventListener("change", () => offerFeatures(select.value));
  onSubmit(simulation, async () => {
    const { id } = await create("/v1/jobs", { kind: "simulate-clicks", ...payloadOf(simulation) });
    openPage(jobPage(id));
  });
  await offerDatasetsWithPlaceholder([select], new URLSearchParams(location.search).get("dataset"));
  simulation.removeAttribute("aria-busy");
  await offerFeatures(select.value);
}

/** Offer the features of the chosen dataset; none if they cannot be read. @param {string} id empty for no dataset */
function offerFeatures(id) {
  return readNames(
    async () => (id ? (await get(datasetApi(id, "/features"))).items : []),
    (features) => replace(featureNames, ...features.map(({ name }) => h("option", { value: name }))),
  );
}
