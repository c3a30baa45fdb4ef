/** `/models/{ref}`: one version of a model in several views, chosen by #view=. @module */
import { conclusionPanel } from "../autotrain/conclusion.js";
import { actionButton } from "../page/actions.js";
import { datasetName } from "../datasets/dataset.js";
import { resultFindings } from "../datasets/findings.js";
import { clickEstimates } from "../evaluation/click_estimates.js";
import { tileList } from "../figures/marks.js";
import { labelsPanel } from "../forms/labels.js";
import { succeededJob } from "../jobs/actions.js";
import { outcomeDetail, trainsByEpochs } from "../jobs/labels.js";
import { deleteButton } from "../lifecycle/deletion.js";
import { isTrees, kindName, networkPanel, parameterCount, membersOf, membersPanel } from "../models/network.js";
import { modelTicks, versionTable } from "../models/versions.js";
import {
  comparisonFormPage,
  datasetPage,
  hashValue,
  jobPage,
  modelApi,
  modelPage,
  pageObjectId,
} from "../page/paths.js";
import { creator, get } from "../page/api.js";
import { loadInto, openObject } from "../page/content.js";
import { elementById, find, findAll, h, replace, setAttribute } from "../page/dom.js";
import { disclosure, factList, hint, metaLine, notLoaded, problemBox, panel } from "../page/parts.js";
import { count, counted, metric, short, size, timeElement } from "../page/format.js";

/** @typedef {readonly [name: string, value: Children]} Fact */

/** @param {Model} model @returns {Node[]} */
function modelHead(model) {
  const { id, name, version, aliases, title, loss, source, metrics } = model;
  const { job_id: job, dataset_id: dataset, created_at: created } = model;
  const reference = `${name}:${version}`;
  /** @type {import("../figures/marks.js").Tile[]} */
  const tested = Object.entries(metrics || {}).map(([spelling, value]) => [
    spelling,
    metric(value),
    "on the test data",
  ]);
  return [
    h("div.page-head", [
      h("h1", title ?? reference, ...aliases.map((alias) => h("span.tag", `@${alias}`))),
      h("div.actions", [
        h("a.button", { href: comparisonFormPage([reference]) }, "Compare"),
        h("a.button.quiet", { href: `/evaluations?${new URLSearchParams({ model_id: id, model: reference })}` }, [
          "Evaluations",
        ]),
        h("a.button.quiet", { href: jobPage(job) }, "Job"),
        deleteButton("models", id),
      ]),
    ]),
    metaLine(
      title && reference,
      [
        loss?.name || source,
        ...(dataset ? [" on ", h("a", { href: datasetPage(dataset) }, datasetName(dataset))] : []),
      ],
      timeElement(created),
      version > 1 && ["after ", h("a", { href: modelPage(`${name}:${version - 1}`) }, `${name}:${version - 1}`)],
      h("code", id),
    ),
    tileList([
      ...kindTiles(model),
      ["Features", count(model.feature_names.length)],
      ["Size", size(model.size_bytes)],
      ...tested,
    ]),
    ...[resultFindings(model.findings)].filter((panel) => panel instanceof Node),
  ];
}

/** Return tiles of the trees, of the network and its training, or of the sum. @param {Model} model @returns {import("../figures/marks.js").Tile[]} */
function kindTiles(model) {
  const { kind, best_iteration: iteration } = model;
  if (isTrees(model)) return [["Trees", count(iteration)]];
  if (!trainsByEpochs(kind))
    return [
      ["Kind", kindName(kind)],
      ["Members", count(membersOf(model).length)],
    ];
  return [
    ["Kind", kindName(kind)],
    ["Parameters", parameterCount(model)],
    ["Epochs", count(iteration)],
  ];
}

/** @param {Model} model */
function descriptionPanel(model) {
  /** @param {Model} labelled @returns {import("../forms/labels.js").Labels} */
  const read = ({ title, description, tags, project }) => ({ name: title, notes: description, tags, project });
  return labelsPanel(read(model), {
    heading: "Description",
    path: modelApi(model.id),
    members: { name: "title", notes: "description" },
    list: "/models",
    read,
  });
}

/** Names that are not written in lower case. @type {Record<string, string>} */
const LIBRARIES = { lightgbm: "LightGBM", numpy: "NumPy", pytorch: "PyTorch", torch: "PyTorch" };

/** @param {Model} model */
function lineagePanel(model) {
  const { lineage, sha256, source } = model;
  const head = h("h2", "Lineage");
  const checksum = /** @type {Fact} */ (["SHA-256 of the model file", h("code.digest", sha256)]);
  const imported = source === "imported";
  const automatic = isAutomatic(model);
  if (!lineage)
    return h("section.panel", [
      head,
      hint("The model was created before the lineage was recorded."),
      factList("facts wide", [checksum]),
    ]);
  return h("section.panel.lineage", [
    h("div.panel-head", head, hint(lineageHint(imported, automatic))),
    factList("facts wide", [
      ...Object.entries(lineage.datasets).map(dataset),
      lineage.init_model && base(lineage.init_model),
      checksum,
      ...Object.entries(lineage.names_in_file ?? {}).map(
        ([name, written]) => /** @type {Fact} */ ([`${name} in the model file`, h("code", written)]),
      ),
    ]),
    factList("facts", [
      lineage.seed !== null && ["seed", short(lineage.seed)],
      ["rankery", lineage.rankery],
      ...Object.entries(lineage.libraries).map(
        ([name, version]) => /** @type {[string, string]} */ ([LIBRARIES[name] ?? name, version]),
      ),
      ["machine", lineage.machine],
      lineage.processor && ["processor", lineage.processor],
    ]),
    disclosure("Request as JSON", h("pre", { tabindex: "0" }, JSON.stringify(lineage.spec, null, 2))),
    !imported && !automatic && reproduction(model),
  ]);
}

/** @param {boolean} imported @param {boolean} automatic */
function lineageHint(imported, automatic) {
  if (imported) return "The model was imported, so its training data is unknown.";
  return automatic
    ? "Everything that determines the model file, except the number of candidates within the time budget."
    : "Everything that determines the model file.";
}

/** @param {[role: string, dataset: Schemas["LineageDataset"]]} entry @returns {Fact} */
function dataset([role, { id, digest }]) {
  const content = digest && h("small", "content ", h("code.digest", digest));
  return [role, [h("a", { href: datasetPage(id) }, datasetName(id)), content]];
}

/** @param {Schemas["LineageModel"]} model @returns {Fact} */
function base({ id, model, trees }) {
  return ["continued from", [h("a", { href: modelPage(id) }, model), h("small", counted(trees, "tree"))]];
}

/** @param {Model} model */
function reproduction({ id }) {
  const container = h("div.reproduction", { hidden: true });
  const create = creator();
  const reproduce = async () => {
    const job = await succeededJob(container, await create(modelApi(id, "/reproduce"), {}));
    container.hidden = false;
    if (job) replace(container, reproductionResult(job));
  };
  const button = actionButton("Train again and compare files", "", reproduce, container, { needs: "write" });
  return h("div.rows", h("div.actions", button), container);
}

/** @param {Job} job */
function reproductionResult(job) {
  const { equal, sha256 } = job.result ?? {};
  if (equal)
    return h("p.verdict-line", { "data-verdict": "better" }, [
      h("strong", "The model file is identical."),
      " ",
      h("code.digest", sha256),
    ]);
  return problemBox({ title: "Comparison of the files", detail: outcomeDetail(job) });
}

/** Return whether an automatic training made a model. @param {Model} model */
const isAutomatic = ({ lineage }) => lineage?.spec.kind === "auto-train";

/** @param {Model} model */
async function aboutView(model) {
  return [
    isAutomatic(model) && conclusionPanel(model.job_id),
    descriptionPanel(model),
    trainsByEpochs(model.kind) && networkPanel(model),
    model.kind === "sum" && membersPanel(model),
    settings(model),
    clickEstimates({ model_id: model.id }),
    lineagePanel(model),
  ];
}

/** @param {Model} model */
function settings({ loss, scorer, hyperparameters }) {
  if (!loss) return null;
  const facts = (/** @type {Record<string, Json> | null} */ values) => {
    const known = Object.entries(values || {}).filter(([, value]) => value !== null);
    return factList(
      "facts",
      known.map(([parameter, value]) => [parameter.replaceAll("_", " "), short(value)]),
    );
  };
  const { name, ...parameters } = loss;
  return panel(`Loss: ${name}`, facts(parameters), disclosure("Hyperparameters", facts(scorer ?? hyperparameters)));
}

/** @typedef {(model: Model, view: HTMLElement) => Promise<Child[]>} Fill reads and returns the content of a view */

/** Views, whose scripts and data are read when they are first shown. @type {Record<string, [label: string, script: () => Promise<Fill>]>} */
const VIEWS = {
  about: ["About", async () => aboutView],
  versions: ["Versions", async () => versionsView],
  aliases: ["Aliases", async () => (await import("../models/aliases.js")).aliasesView],
  inside: ["Feature importance", async () => (await import("../models/inspection.js")).insideView],
  exports: ["Exports", async () => (await import("../models/export.js")).exportView],
  drift: ["Drift", async () => (await import("../models/drift.js")).driftView],
  try: ["Try it", async () => (await import("../models/try.js")).tryView],
};
// Hash parameters that open the view of inspections without `view=inside`, as in links to results of jobs.
const INSPECTION_PARAMETERS = ["by", "inspection", "feature", "tree"];

const ref = pageObjectId();
const container = elementById("model");
const views = elementById("views");
/** @type {Set<string>} */ const filled = new Set();

openObject(container, open, { noun: "model", list: "/models", sentence: `No model has the id or name ${ref}.` });

async function open() {
  const model = await get(modelApi(ref));
  document.title = `${model.title ?? `${model.name}:${model.version}`} · Rankery`;
  replace(container, ...modelHead(model));
  const link = (/** @type {[string, [string, unknown]]} */ [name, [label]]) =>
    h("a", { href: `#view=${name}`, "data-view": name }, label);
  replace(views, Object.entries(VIEWS).map(link));
  views.hidden = false;
  addEventListener("hashchange", () => show(model));
  show(model);
}

/** Show a view, and fill it when it is first shown. @param {Model} model */
function show(model) {
  const requested = hashValue("view") || (INSPECTION_PARAMETERS.some(hashValue) ? "inside" : "");
  const current = Object.hasOwn(VIEWS, requested) ? requested : "about";
  for (const link of findAll(views, "a", HTMLAnchorElement))
    setAttribute(link, "aria-current", link.dataset.view === current && "page");
  find(views, "[aria-current]").scrollIntoView({ block: "nearest", inline: "nearest" });
  for (const name of Object.keys(VIEWS)) elementById(name).hidden = name !== current;
  if (filled.has(current)) return;
  filled.add(current);
  const view = elementById(current);
  /** @type {() => Promise<Child[]>} */
  const content = async () => (await VIEWS[current][1]().catch(() => notLoadedView))(model, view);
  if (view.hasChildNodes()) content().then((problems) => view.prepend(h("div", ...problems)));
  else loadInto(view, content);
}

/** Return the notice in place of a view whose script cannot be loaded. @type {Fill} */
const notLoadedView = async () => [notLoaded().node];

/** @param {Model} model */
async function versionsView({ id, name }) {
  const link = h("a.button", { role: "link", "aria-disabled": "true", title: "Tick two or more models" }, "Compare");
  const box = modelTicks(link);
  const tick = (/** @type {Model} */ model) => box(`${name}:${model.version}`, model.created_at);
  const head = h("div.panel-head", [
    h("h2", `Versions of ${name}`),
    h("div.actions", link, h("a.button.quiet", { href: modelPage(name) }, "Latest")),
  ]);
  return [h("section.panel", head, versionTable(name, { tick, current: id }))];
}
