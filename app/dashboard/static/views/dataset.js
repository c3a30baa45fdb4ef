/**
 * `/datasets/{id}`: one dataset in three views, or the progress of its ingestion, or the problems of its file. @module
 */
import { DATASET_ROLES, datasetActions, sourceLabel } from "../datasets/dataset.js";
import { distributions, featureTable, readFeatures } from "../datasets/features.js";
import { findingsPanel } from "../datasets/findings.js";
import { correctedFileForm, correctedSourceForm } from "../datasets/corrected_file.js";
import { queryList } from "../datasets/queries.js";
import { bars, progressBar, tiles } from "../figures/marks.js";
import { datasetApi, datasetPage, decoded, jobApi, pageObjectId } from "../page/paths.js";
import { actionButton } from "../page/actions.js";
import { conditionalReader, creator } from "../page/api.js";
import { loadInto, showMissing } from "../page/content.js";
import { announce, elementById, h, missingScope, replace, setAttribute, setText } from "../page/dom.js";
import { columnHead, dataTable, hint, metaLine, numberHeads, problemBox, statusBadge, panel } from "../page/parts.js";
import { count, counted, timeElement } from "../page/format.js";
import { poll } from "../page/poll.js";

/**
 * @typedef {object} Fault
 * @property {string | null} file
 * @property {number | null} line
 * @property {"line" | "row"} [unit] unit of `line`; errors of earlier releases count lines
 * @property {string | number | null} column
 * @property {string | null} text
 * @property {string} detail
 */
/** @typedef {Dataset & {statistics: Statistics}} ReadDataset */
/** @typedef {{title: string, errors: Fault[], more?: boolean}} FaultyFile */

/** Return the heading of the numbers of lines. @param {Fault[]} errors */
const lineHead = (errors) => (errors.some(({ unit }) => unit === "row") ? "Row" : "Line");

/** Columns of the table of problems. Columns without values are hidden; a single file is named above the table. */
/** @type {{name: keyof Fault, label: string, class: string, cell: (fault: Fault) => Child}[]} */
const COLUMNS = [
  { name: "file", label: "File", class: "fault-file", cell: ({ file }) => file },
  { name: "line", label: "Line", class: "number", cell: ({ line }) => count(line) },
  {
    name: "column",
    label: "Column",
    class: "fault-column",
    cell: ({ column }) => (typeof column === "string" ? h("code", column) : count(column)),
  },
  { name: "detail", label: "Problem", class: "fault-detail", cell: ({ detail }) => detail },
  { name: "text", label: "Found", class: "fault-found", cell: ({ text }) => text && h("code.fault-text", text) },
];

/**
 * Show all problems of a table by cause and column, with a button that reads the upload again without ignored columns.
 * @param {FaultyFile} problem @param {Schemas["ProblemCause"][]} causes
 * @param {() => unknown} onReadAgain called when the upload is being read again
 */
function problemCauses(problem, causes, onReadAgain) {
  const { title, errors } = problem;
  // A single problem has one row with its detail; a list by location would show it again.
  const [only] = errors.length === 1 && causes.length === 1 ? errors : [];
  /** @type {Set<string>} */ const ignored = new Set();
  const refused = h("div");
  const button = actionButton("Ignore and read again", "primary", readAgain, refused, { needs: "write" });

  async function readAgain() {
    await create(datasetApi(id, "/read-again"), { ignore: [...ignored] });
    await onReadAgain();
  }

  /** @param {string} column @param {boolean} isIgnored */
  function choose(column, isIgnored) {
    if (isIgnored) ignored.add(column);
    else ignored.delete(column);
    button.disabled = !ignored.size || missingScope("write") !== null;
    setText(
      button,
      ignored.size > 1 ? `Ignore ${count(ignored.size)} columns and read again` : "Ignore and read again",
    );
  }

  /** @param {Schemas["ProblemCause"]} cause */
  function cells({ title, column, count: number, at_least: atLeast, lines = [], texts = [], can_ignore: canIgnore }) {
    const box = h("input", { type: "checkbox" });
    if (column) box.addEventListener("change", () => choose(column, box.checked));
    const shownLines = `${lines.map(count).join(", ")}${number > lines.length ? ", …" : ""}`;
    return [
      column ? h("code", column) : h("span.missing", "rows"),
      h("td.fault-detail", only?.detail ?? title),
      h("td.number", { "data-name": "count" }, `${atLeast ? "at least " : ""}${count(number)}`),
      h("td.fault-lines", { "data-name": "lines" }, shownLines),
      h("td.fault-found", ...texts.map((text) => h("code.fault-text", text))),
      canIgnore && h("label.check", box, "Ignore", h("span.visually-hidden", ` ${column}`)),
    ];
  }

  const canIgnore = causes.some((cause) => cause.can_ignore);
  choose("", false);
  return h("section.panel.faults.rows", { "aria-label": "Problems by cause" }, [
    h("h2", title, " ", h("span.severity", { "data-severity": "error" }, totalLabel(causes))),
    only?.file && hint("In ", h("code", only.file), "."),
    canIgnore && hint("The file can be read again without the columns that you ignore."),
    dataTable(
      "Problems by cause and column",
      ["Column", "Cause", numberHeads("Count"), `${lineHead(errors)}s`, "Found", ""],
      causes,
      cells,
    ),
    canIgnore && [h("div.actions", button), refused],
    errors.length > 0 &&
      !only &&
      h("details.more", { open: errors.length <= MAX_OPEN_ERRORS }, [
        h("summary", "Problems by location"),
        ...locationTable(problem),
      ]),
  ]);
}

/** The list of problems by location is open up to this number. */
const MAX_OPEN_ERRORS = 10;

/** @param {Schemas["ProblemCause"][]} causes */
function totalLabel(causes) {
  const total = causes.reduce((sum, { count: number }) => sum + number, 0);
  return `${causes.some((cause) => cause.at_least) ? "at least " : ""}${counted(total, "problem")}`;
}

/** @param {FaultyFile} problem */
function problemTable(problem) {
  const { title, errors, more } = problem;
  return h("section.panel.faults", { "aria-label": "Problems" }, [
    h("h2", [
      title,
      " ",
      h("span.severity", { "data-severity": "error" }, [
        `${counted(errors.length, "problem")}${more ? " and more" : ""}`,
      ]),
    ]),
    ...locationTable(problem),
  ]);
}

/** @param {FaultyFile} problem @returns {Child[]} */
function locationTable({ errors, more }) {
  const file = new Set(errors.map((fault) => fault.file)).size === 1 && errors[0].file;
  const columns = COLUMNS.filter(
    ({ name }) => !(file && name === "file") && errors.some((fault) => (fault[name] ?? "") !== ""),
  );
  return [
    file && hint("In ", h("code", file), "."),
    dataTable(
      "Problems by location",
      columns.map(({ name, label, class: style }) =>
        columnHead(name === "line" ? lineHead(errors) : label, { class: style }),
      ),
      errors,
      (fault) =>
        columns.map(({ name, class: style, cell }) => h("td", { class: style, "data-name": name }, cell(fault))),
    ),
    more && h("p.hint.more-faults", `Only the first ${count(errors.length)} problems are listed; there are more.`),
  ];
}

const MAX_VALUES = 20;

/** @typedef {{value: string, queries: number}[]} Values */

/** @param {Record<string, Values>} columns */
function queryColumns(columns) {
  const entries = Object.entries(columns);
  /** @param {string} name @param {Values} values */
  const caption = (name, values) =>
    values.length < MAX_VALUES ? name : `${name}, the ${MAX_VALUES} most common values`;
  /** @param {Values[number]} entry @returns {[Child, number]} */
  const entry = ({ value, queries }) => [h("span.name", { title: value }, value || "(empty)"), queries];
  /** @param {[string, Values]} column */
  const column = ([name, values]) => bars(caption(name, values), values.map(entry));
  return panel("Queries by column", h("div.column-values", ...entries.map(column)));
}

/** @param {ReadDataset} dataset @returns {Node[]} */
function datasetViews(dataset) {
  const { id, statistics } = dataset;
  const views = [
    { name: "", label: "Overview", number: 0, fill: overview },
    { name: "features", label: "Features", number: statistics.features, fill: features },
    { name: "queries", label: "Queries", number: statistics.queries, fill: queries },
  ].map((view) => ({
    ...view,
    link: h("a", { href: datasetPage(id, view.name) }, [
      view.label,
      !!view.number && h("small", " ", count(view.number)),
    ]),
    node: h("div.view", { "data-view": view.name || "overview", hidden: true }),
  }));

  function show() {
    const { name, value } = requestedView();
    const current = views.find((view) => view.name === name) || views[0];
    for (const view of views) {
      setAttribute(view.link, "aria-current", view === current && "page");
      view.node.hidden = view !== current;
    }
    if (!current.node.hasChildNodes() || value) current.fill(current.node, dataset, value);
  }

  // The link to the overview has no #, so following it would reload the page.
  views[0].link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    history.pushState(null, "", location.pathname);
    show();
  });
  showView = show;
  show();
  return [
    h("nav.views", { "aria-label": "Views of the dataset" }, ...views.map((view) => view.link)),
    ...views.map((view) => view.node),
  ];
}

/** Return the view of the URL: "#features=f12" is the view of features, filtered by f12. */
function requestedView() {
  const [name, value = ""] = location.hash.slice(1).split("=", 2);
  return { name, value: decoded(value) };
}

/** Keep the search text in the URL, without a history entry. @param {string} view @param {string} value */
function remember(view, value) {
  history.replaceState(null, "", value ? `#${view}=${encodeURIComponent(value)}` : `#${view}`);
}

/** @param {HTMLElement} container @param {ReadDataset} dataset */
function overview(container, { id, statistics, findings }) {
  const columns = statistics.query_columns || {};
  container.append(
    tiles(statistics),
    ...(findings ? [findingsPanel(findings, () => id)] : []),
    distributions(statistics),
    ...(Object.keys(columns).length ? [queryColumns(columns)] : []),
  );
}

/** @param {HTMLElement} container @param {ReadDataset} dataset @param {string} wanted */
function features(container, { id, statistics }, wanted) {
  const search = (/** @type {string} */ name) => remember("features", name);
  loadInto(container, async () => [featureTable(await readFeatures(id), statistics.documents, wanted, search)]);
}

/** @param {HTMLElement} container @param {ReadDataset} dataset @param {string} wanted */
function queries(container, dataset, wanted) {
  container.replaceChildren(queryList(dataset, wanted, (prefix) => remember("queries", prefix)));
}

const id = pageObjectId();
const container = elementById("dataset");
const read = conditionalReader();
const readJob = conditionalReader();
const create = creator();
/** @type {Dataset | null} */ let shown = null;
/** Shows the view of the URL, once the dataset is ready. */
let showView = () => {};
const bar = progressBar();
for (const event of ["hashchange", "popstate"]) addEventListener(event, () => showView());

const pollNow = poll(refresh, (problem) => showMissing(container, problem, { noun: "dataset", id, list: "/datasets" }));

async function refresh() {
  const dataset = await read(datasetApi(id));
  if (dataset !== shown) draw(dataset);
  if (dataset.status === "pending" && dataset.job_id) bar.update(await readJob(jobApi(dataset.job_id)));
  return dataset.status === "pending";
}

/** @param {Dataset} dataset */
function draw(dataset) {
  const { name, status, parts } = dataset;
  if (shown && shown.status !== status) announce(`Dataset ${name} is ${status}.`);
  shown = dataset;
  document.title = `${name} · Rankery`;
  container.removeAttribute("aria-busy");
  container.dataset.status = status;
  replace(container, [
    h("div.page-head", h("div.job-heading", h("h1", name), statusBadge(status)), datasetActions(dataset)),
    metaLine(
      sourceLabel(dataset),
      timeElement(dataset.created_at),
      ...(status === "ready" ? resultLinks() : []),
      h("code", id),
    ),
    parts && siblings(parts),
    ...contents(dataset),
  ]);
}

/** @param {Dataset} dataset @returns {Child[]} */
function contents(dataset) {
  const { problem, statistics } = dataset;
  if (dataset.status === "ready" && statistics) return datasetViews({ ...dataset, statistics });
  if (dataset.status === "pending") {
    return [bar.node, hint("Findings and statistics appear here after the dataset has been read.")];
  }
  if (!problem) return [];
  const faulty = /** @type {FaultyFile} */ ({ ...problem, errors: problem.errors ?? [] });
  const shown = problem.causes?.length
    ? problemCauses(faulty, problem.causes, pollNow)
    : faulty.errors.length
      ? problemTable(faulty)
      : problemBox(problem);
  const usualNames = JSON.parse(container.dataset.usualNames ?? "{}");
  return [shown, correctedFileForm(dataset, usualNames), correctedSourceForm(dataset, pollNow)];
}

/** Return links to the evaluations and rankings of the dataset. */
function resultLinks() {
  const query = new URLSearchParams({ dataset_id: id });
  return [h("a", { href: `/evaluations?${query}` }, "Evaluations"), h("a", { href: `/rankings?${query}` }, "Rankings")];
}

/** Return links to the datasets of the same upload. @param {Record<string, string>} parts */
function siblings(parts) {
  /** @param {string} part */
  const link = (part) => h("a", { href: datasetPage(parts[part]), "aria-current": parts[part] === id && "page" }, part);
  return h("nav.tabs.small.siblings", { "aria-label": "Datasets of this upload" }, [
    h("span", "Same upload:"),
    ...DATASET_ROLES.filter((part) => parts[part]).map(link),
  ]);
}
