/** Inspections of a model: the form that starts one, and feature importance. @module */
import { datasetName } from "../datasets/dataset.js";
import { metricTabs } from "../evaluation/metrics.js";
import { bars } from "../figures/marks.js";
import { whiskers } from "../figures/whiskers.js";
import { offerEvaluationDatasets, offerContracts } from "../forms/choices.js";
import { onSubmit, payloadOf, showUnread } from "../forms/forms.js";
import { succeededJob } from "../jobs/actions.js";
import { isActive } from "../jobs/labels.js";
import { dependencePanel } from "./dependence.js";
import { isTrees } from "./network.js";
import { treePanel } from "./trees.js";
import { datasetPage, setHashValues, hashValue, modelApi } from "../page/paths.js";
import { creator, get } from "../page/api.js";
import { failureBox, latestReader } from "../page/content.js";
import { elementById, find, h, replace } from "../page/dom.js";
import { hint } from "../page/parts.js";
import { count, counted, lossValue, metric, percent, joined } from "../page/format.js";

/** @typedef {Schemas["InspectionEntry"]} Entry */

const FIRST_ROWS = 20;
const KINDS = ["gain", "split", "permutation"];
/** @type {Record<string, string>} */ const WORDS = {
  gain: "Sum of the gains of a feature's splits in the training loss. It favours features with many values and is measured on training data only.",
  split: "Number of splits that use a feature.",
};

/**
 * Show the importance of features by gain, splits or permutation, the most important first. Features after the
 * first `FIRST_ROWS` are shown on request.
 * @param {HTMLElement} node
 * @param {{features: Schemas["FeatureImportance"][]} | null} importance by gain and splits; null where there are no
 *   trees
 * @param {{by: string | null, choose: (inspection: string) => void, remember: (changed: Record<string, string>) =>
 *   void}} options by: the kind that is shown first; choose: called with the id of the inspection that the user
 *   selects; remember: called with the kind of importance that is shown
 * @returns {{show: (inspection: Schemas["Inspection"], inspections: Entry[], isNew: boolean) => void}}
 */
function importancePanel(node, importance, { by, choose, remember }) {
  const features = importance?.features ?? [];
  const tabs = metricTabs(KINDS, pick, "Importance by");
  const picker = h("div.inspection-choice");
  const body = h("div.importance");
  let current = importance ? (by && KINDS.includes(by) ? by : "gain") : "permutation";
  /** @type {Schemas["Inspection"] | null} */ let inspection = null;
  let all = false;

  /** @param {string} kind */
  function pick(kind) {
    current = kind;
    remember({ by: kind });
    draw();
  }

  function draw() {
    tabs.show(current);
    picker.hidden = current !== "permutation" || !inspection;
    replace(body, ...(current === "permutation" ? byPermutation() : byTrees(current === "gain" ? "gain" : "split")));
  }

  /** @param {"gain" | "split"} kind */
  function byTrees(kind) {
    const ordered = features.filter((each) => each[kind] > 0).sort((one, other) => other[kind] - one[kind]);
    const share = kind === "gain" ? "gain_share" : "split_share";
    /** @param {Schemas["FeatureImportance"]} each */
    const value = (each) => (kind === "gain" ? lossValue(each.gain) : count(each.split));
    /** @type {[Child, number][]} */
    const rows = shown(ordered).map((each) => [name(each.feature, `${each.feature}: ${value(each)}`), each[share]]);
    const words = [WORDS[kind], unusedLabel(features.length - ordered.length)];
    if (!ordered.length) return [hint("The trees use no feature: all documents get the same score.")];
    return [
      bars(`Share of the ${kind === "gain" ? "gain" : "splits"}`, rows, (part) => percent(part, 1)),
      folded(ordered.map((each) => each[share])),
      hint(joined(words)),
    ];
  }

  function byPermutation() {
    if (!inspection)
      return [
        h("p.hint.nothing", [
          "Not measured yet. Inspect the model on a dataset below: each feature is shuffled alone, and the drop of the metric is its importance.",
        ]),
      ];
    const { importance: all, metric: spelling, baseline, repeats, within } = inspection;
    const inTheTrees = new Set(features.filter(({ split }) => split > 0).map(({ feature }) => feature));
    const used = importance ? all.filter(({ feature }) => inTheTrees.has(feature)) : all;
    const rows = shown(used).map((each) => ({ name: name(each.feature), interval: each, main: (each.lower ?? 0) > 0 }));
    const order = within === "query" ? "within each query" : "over the whole dataset";
    const words = [
      `Drop of ${spelling}, ${metric(baseline.mean)} without shuffling, when a feature is shuffled ${order}: means of ${counted(repeats, "shuffle")}, with 95% intervals over ${counted(baseline.queries, "query", "queries")}.`,
      "If two features are redundant, neither may seem important.",
      unusedLabel(all.length - used.length),
    ];
    if (!used.length) return [hint("The trees use no feature, so shuffling changes nothing.")];
    return [
      whiskers(`Drop of ${spelling} when a feature is shuffled, with 95% intervals`, [{ rows }], { reference: 0 }),
      folded(used.map(() => null)),
      hint(joined(words)),
    ];
  }

  /** @template Feature @param {Feature[]} ordered */
  function shown(ordered) {
    return all ? ordered : ordered.slice(0, FIRST_ROWS);
  }

  /** Count the features that are not shown, with a button that shows them. @param {(number | null)[]} shares */
  function folded(shares) {
    const rest = shares.slice(FIRST_ROWS);
    if (!rest.length || all) return null;
    const total = rest.reduce((sum, share) => (sum ?? 0) + (share ?? 0), 0);
    const together = total ? `, together ${percent(total, 1)}` : "";
    const open = () => {
      all = true;
      draw();
    };
    return h("p.folded", [
      `${counted(rest.length, "more feature")}${together} `,
      h("button.quiet.small", { click: open }, `Show all ${count(shares.length)}`),
    ]);
  }

  if (importance) node.firstElementChild?.append(tabs.node);
  node.append(picker, body);
  draw();
  return {
    show(shownInspection, inspections, isNew) {
      inspection = shownInspection;
      replace(picker, [
        inspections.length > 1
          ? chooser(inspections, inspection, choose)
          : hint("On ", h("a", { href: datasetPage(inspection.dataset_id) }, datasetName(inspection.dataset_id))),
      ]);
      if (isNew) current = "permutation";
      draw();
    },
  };
}

/** @param {number} number */
const unusedLabel = (number) =>
  number > 0 && `${counted(number, "feature")} ${number === 1 ? "is" : "are"} not used at all.`;

/** @param {string} feature @param {string} [title] */
const name = (feature, title = feature) => h("span.name", { title }, feature);

/** @param {Entry[]} inspections @param {{id: string}} shown @param {(inspection: string) => void} choose */
function chooser(inspections, { id }, choose) {
  const words = (/** @type {Entry} */ { metric: spelling, within, repeats }) =>
    `${spelling}, ${within === "query" ? "within queries" : "over the dataset"}, ${counted(repeats, "shuffle")}`;
  const option = (/** @type {Entry} */ each) =>
    h("option", { value: each.id, selected: each.id === id }, [
      `${new Date(each.created_at).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" })} · ${words(each)} · `,
      datasetName(each.dataset_id),
    ]);
  const select = h(
    "select",
    { "aria-label": "Inspection", change: () => void choose(select.value) },
    inspections.map(option),
  );
  return select;
}

/**
 * Bind the form that inspects a model, and show the progress of its job until the result exists.
 * @param {Schemas["Model"]} model
 * @param {(inspection: string) => void} found called with the id of each inspection that the form makes
 */
async function inspectionForm(model, found) {
  const form = elementById("inspect", HTMLFormElement);
  const container = elementById("inspecting");
  const create = creator();

  onSubmit(
    form,
    async () => void follow(await create("/v1/jobs", { kind: "inspect", model: model.id, ...payloadOf(form) })),
  );
  try {
    await offerChoices(form, model.id);
    const { items } = await get(`/v1/jobs?kind=inspect&object=${model.id}&limit=50`);
    const waiting = items.find(isActive);
    if (waiting) follow(waiting);
  } catch (error) {
    showUnread(form, error);
  }

  /** Follow a job until it ends, and hide the form meanwhile. @param {Job} job */
  async function follow(job) {
    form.hidden = true;
    const succeeded = await succeededJob(container, job);
    form.hidden = false;
    if (succeeded) found(succeeded.result?.inspection_id ?? "");
  }
}

/**
 * Offer the datasets and the metric conventions. The model's test data comes first, because importance is
 * best measured on unseen data.
 * @param {HTMLFormElement} form @param {string} reference
 */
async function offerChoices(form, reference) {
  const offer = offerEvaluationDatasets(find(form, 'select[data-list="ready"]', HTMLSelectElement));
  await Promise.all([offerContracts(form), offer([reference])]);
  form.removeAttribute("aria-busy");
}

/**
 * Fill the panels of the view.
 * @param {Schemas["Model"]} model @param {HTMLElement} view element with the empty panels
 * @returns {Promise<Child[]>} the problem if the panels cannot be filled
 */
export async function insideView(model, view) {
  /** @param {Record<string, string | number>} changed */
  const remember = (changed) => setHashValues({ view: "inside", ...changed });
  /** @type {Schemas["ModelImportance"] | null} */ let importance;
  /** @type {Entry[]} */ let items;
  view.setAttribute("aria-busy", "true");
  try {
    [importance, { items }] = await Promise.all([
      isTrees(model) ? get(modelApi(model.id, "/importance")) : null,
      get(modelApi(model.id, "/inspections")),
    ]);
  } catch (error) {
    return [failureBox(error, () => location.reload())];
  } finally {
    view.removeAttribute("aria-busy");
  }
  const importances = importancePanel(elementById("importance"), importance, { by: hashValue("by"), choose, remember });
  const dependence = dependencePanel(elementById("dependence"), hashValue("feature"), remember);
  elementById("trees").hidden = importance === null;
  if (importance) treePanel(elementById("trees"), model.id, importance.trees, hashValue("tree"), remember);
  inspectionForm(model, (id) => show(id, true));
  const requested = hashValue("inspection");
  const read = latestReader(view, dependence.fail);
  if (items.length) await show(items.find(({ id }) => id === requested)?.id ?? items[0].id, false);
  return [];

  /** Show another inspection. @param {string} id */
  function choose(id) {
    remember({ inspection: id });
    show(id, false);
  }

  /** @param {string} id @param {boolean} fresh whether the inspection has just been made */
  function show(id, fresh) {
    return read(
      () => Promise.all([get(`/v1/inspections/${encodeURIComponent(id)}`), get(modelApi(model.id, "/inspections"))]),
      ([inspection, page]) => {
        if (fresh) remember({ by: "permutation", inspection: id });
        importances.show(inspection, page.items, fresh);
        dependence.show(inspection);
      },
    );
  }
}
