/** `/jobs/compare?job=…&job=…`: trainings side by side, kept current while they run. @module */
import { actionButton } from "../page/actions.js";
import { showOnly } from "../page/content.js";
import { cutoffPanel } from "../evaluation/cutoffs.js";
import { comparedCurves } from "../jobs/compared_curves.js";
import {
  comparedTable,
  differingSettings,
  lacksSettings,
  trainingLabels,
  withoutPrefix,
  repeatsPanel,
} from "../jobs/compared_table.js";
import { historiesReader } from "../jobs/curves.js";
import { isActive, iterationWord, MAX_BANDS, MAX_COMPARED } from "../jobs/labels.js";
import { diagnosticsOf, overlay, timesOf } from "../jobs/overlays.js";
import { requestOf } from "../jobs/specification.js";
import {
  comparisonFormPage,
  hashValue,
  modelApi,
  modelPage,
  openPage,
  openResult,
  setHashValues,
} from "../page/paths.js";
import { conditionalReader, creator, get, getOnce, readOnce, apiError } from "../page/api.js";
import { elementById, find, h, replace } from "../page/dom.js";
import { emptyState, hint, problemBox } from "../page/parts.js";
import { count } from "../page/format.js";
import { poll } from "../page/poll.js";

const container = elementById("compared");
const ids = [...new Set(new URLSearchParams(location.search).getAll("job"))];
const read = conditionalReader();
const readHistories = historiesReader();
const create = creator();
const sort = hashValue("sort");
let wantedMetric = hashValue("metric");
const curves = comparedCurves(
  { metric: wantedMetric, smoothing: Number(hashValue("smoothing") ?? 0) },
  {
    /** @param {string} name */
    chosen(name) {
      wantedMetric = name;
      setHashValues({ metric: name });
      pollNow();
    },
    smoothed: (/** @type {number} */ share) => setHashValues({ smoothing: share }),
  },
);
const table = comparedTable(sort ? { by: sort.replace(/^-/, ""), descending: sort.startsWith("-") } : null, {
  sorted: ({ by, descending }) => setHashValues({ sort: `${descending ? "-" : ""}${by}` }),
  pointed: curves.highlight,
});
const diagnostics = overlay("Diagnostics", { help: ["concepts/losses/", "Losses"], find: diagnosticsOf });
const times = overlay("Time of an iteration", { help: ["benchmarks/", "Benchmarks"], find: timesOf });
const cutoffs = cutoffPanel(
  "Test data: bands are the 95% intervals of each training. Overlapping bands prove nothing: compare query by query.",
);
const actions = h("div.actions");
const missing = h("div");
const repeats = h("div");
/** Indices of colours by job, so that a line keeps its colour when the order of the trainings changes. @type {Map<string, number>} */
const slots = new Map();
let shownState = "";
let pollNow = () => {};

if (ids.length) pollNow = poll(refresh, (problem) => showOnly(container, problemBox(problem)));
else showEmpty();

async function refresh() {
  const query = new URLSearchParams(ids.map((id) => ["job", id]));
  if (wantedMetric) query.set("metric", wantedMetric);
  const ranking = await read(`/v1/trainings?${query}`);
  if (!ranking.items.length) return showEmpty();
  const drawn = ranking.items.slice(0, MAX_COMPARED).map(({ job }) => job);
  const histories = await readHistories(drawn);
  if (!container.contains(table.node))
    replace(container, missing, curves.node, table.node, repeats, diagnostics.node, cutoffs.node, times.node);
  const state = JSON.stringify([
    ranking.metric,
    ranking.items.map(({ job, tied }) => [job.id, job.status, job.metrics, tied]),
    [...histories.values()].map(({ iterations }) => iterations.length),
  ]);
  try {
    if (state !== shownState) await show(ranking, drawn, histories);
    shownState = state;
  } finally {
    container.removeAttribute("aria-busy");
  }
  return ranking.items.some(({ job }) => isActive(job));
}

/** @param {Schemas["TrainingRanking"]} ranking @param {Job[]} drawn @param {Map<string, LearningCurves>} histories */
async function show(ranking, drawn, histories) {
  const [{ items: losses }, { items: scorers }] = await Promise.all([getOnce("/v1/losses"), getOnce("/v1/scorers")]);
  const jobs = ranking.items.map(({ job }) => job);
  const schemas = lacksSettings(jobs) ? (await getOnce("/v1/job-schemas")).schemas : {};
  const settings = differingSettings(jobs, { losses, scorers, schemas });
  const fullNames = trainingLabels(jobs, settings);
  const shortNames = withoutPrefix(fullNames);
  assignSlots(drawn);
  const lines = drawn.flatMap((job) => {
    const { id } = job;
    const history = histories.get(id);
    const line = {
      id,
      name: shortNames.get(id) ?? id,
      title: fullNames.get(id) ?? id,
      slot: slots.get(id) ?? 0,
      word: iterationWord(job),
    };
    return history ? [{ ...line, history }] : [];
  });
  curves.update(lines, jobs.length, ranking.metric);
  const rows = ranking.items.map((ranked, index) => ({
    job: ranked.job,
    name: shortNames.get(ranked.job.id) ?? ranked.job.id,
    title: fullNames.get(ranked.job.id) ?? ranked.job.id,
    slot: slots.get(ranked.job.id) ?? null,
    ranked,
    isBest: index === 0 && jobs.length > 1 && ranked.validation !== null,
    metrics: {},
  }));
  table.update(ranking, rows, settings);
  replace(missing, absentLabel(ranking.missing.length));
  replace(repeats, repeatsPanel(ranking));
  await Promise.all([
    diagnostics.update(lines),
    times.update(lines),
    showCutoffs(drawn.slice(0, MAX_BANDS), shortNames),
  ]);
  await showActions(ranking);
}

/** Keep the colours of lines that stay, and give the lowest free ones to new lines. @param {Job[]} drawn */
function assignSlots(drawn) {
  const ids = new Set(drawn.map(({ id }) => id));
  for (const id of [...slots.keys()]) if (!ids.has(id)) slots.delete(id);
  for (const { id } of drawn) {
    if (slots.has(id)) continue;
    const taken = new Set(slots.values());
    let slot = 0;
    while (taken.has(slot)) slot += 1;
    slots.set(id, slot);
  }
}

/** Query of the evaluations that are drawn. */
let drawnEvaluations = "";

/** Draw the tests of trainings against the cutoffs of their metrics. @param {Job[]} drawn @param {Map<string, string>} names of jobs */
async function showCutoffs(drawn, names) {
  const jobs = new Map(drawn.flatMap(({ id, result }) => (result?.evaluation_id ? [[result.evaluation_id, id]] : [])));
  const query = new URLSearchParams([...jobs.keys()].map((id) => ["evaluation", id]));
  if (!jobs.size || drawnEvaluations === String(query)) return;
  const { items } = await get(`/v1/evaluations/metrics?${query}`);
  drawnEvaluations = String(query);
  cutoffs.update(
    items.map(({ id, metrics }) => {
      const job = jobs.get(id) ?? "";
      return { name: names.get(job) ?? job, slot: slots.get(job), metrics };
    }),
  );
}

/** @param {number} absent */
function absentLabel(absent) {
  return (
    absent > 0 &&
    hint(
      `${count(absent)} of the jobs in the URL ${absent > 1 ? "do not exist or are not trainings" : "does not exist or is not a training"}.`,
    )
  );
}

/**
 * Offer comparisons: the best training by validation against the champion, and all models if there are at least two.
 * @param {Schemas["TrainingRanking"]} ranking
 */
async function showActions(ranking) {
  const trained = ranking.items.filter(({ model }) => model);
  const models = trained.slice(0, MAX_COMPARED).flatMap(({ model }) => model ?? []);
  const tests = new Set(trained.map(({ job }) => job.spec.test_dataset_id || ""));
  const dataset = tests.size === 1 ? [...tests][0] : "";
  const [best] = trained;
  const champion = best?.validation && (await championOf(best.job.spec.model_name ?? ""));
  const active = ranking.items.some(({ job }) => isActive(job));
  replace(actions, [
    best?.validation && againstChampion(best, champion || null, active, ranking.metric ?? ""),
    models.length > 1 &&
      h("a.button", { href: comparisonFormPage(models, dataset) }, [
        trained.length > models.length
          ? `Compare the ${best?.validation ? "best" : "first"} ${models.length} query by query`
          : "Compare query by query",
      ]),
  ]);
  if (!actions.isConnected) find(document, ".page-head").append(actions);
}

/** @type {Map<string, () => Promise<string | null>>} */
const champions = new Map();

/** Return the champion of a model name, such as "web:3", or null; it is read once. @param {string} name */
function championOf(name) {
  const ask = async () => {
    const { items } = await get(modelApi(name, "/aliases"));
    const champion = items.find(({ alias }) => alias === "champion");
    return champion ? `${name}:${champion.version}` : null;
  };
  const reader = champions.get(name) ?? readOnce(ask);
  champions.set(name, reader);
  return reader();
}

/**
 * Return the button that compares the best training with the champion; without a champion, the link that promotes it.
 * @param {Schemas["RankedTraining"]} best @param {string | null} champion
 * @param {boolean} active whether a training is still active
 * @param {string} name of the metric
 */
function againstChampion(best, champion, active, name) {
  if (!champion)
    return [
      h("span.hint", `${best.job.spec.model_name} has no champion yet`),
      h(
        "a.button.primary",
        { href: `${modelPage(best.model ?? "")}#view=aliases`, title: best.model, needs: "write" },
        "Promote the best",
      ),
    ];
  if (champion === best.model) return h("span.hint", "The best one is the champion");
  const words = active ? "Best so far against champion" : "Best against champion";
  const title = `${best.model} against ${champion}`;
  const compare = () => compareWithChampion(best, champion, name);
  return actionButton(words, "primary", compare, (error) => replace(missing, problemBox(apiError(error))), {
    title,
    needs: "write",
  });
}

/**
 * Submit the comparison on the dataset that both models were tested on, or open the form if there is none.
 * @param {Schemas["RankedTraining"]} best @param {string} champion
 * @param {string} name of the metric
 */
async function compareWithChampion({ job, model }, champion, name) {
  const systems = [champion, model ?? ""];
  const query = new URLSearchParams([...systems.map((system) => ["for", system]), ["limit", "1"], ["fields", "name"]]);
  const { default_id: dataset } = await get(`/v1/datasets?${query}`);
  if (!dataset) return openPage(comparisonFormPage(systems));
  const { contract, label_map: labels } = await requestOf(job);
  const created = await create("/v1/jobs", {
    kind: "compare",
    dataset_id: dataset,
    systems: systems.map((system) => ({ model: system })),
    metrics: [...new Set([name, ...(job.spec.metrics ?? [])])],
    ...(contract && { contract }),
    ...(labels && { label_map: labels }),
  });
  return openResult(created);
}

function showEmpty() {
  showOnly(container, [
    emptyState(
      "Nothing to compare",
      "Tick two or more trainings in the list of jobs.",
      "/jobs?kind=train",
      "Trainings",
    ),
  ]);
  return false;
}
