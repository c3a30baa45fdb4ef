/**
 * The estimated time and memory of a training, shown before it starts, from earlier trainings of the service.
 *
 * Time grows with documents × features × iterations, memory with documents × features: the work of a histogram of
 * gradients (LightGBM, Ke et al. 2017, section 2.1), and of a pass of a network over its inputs. @module
 */
import { trainsByEpochs } from "../jobs/labels.js";
import { jobApi } from "../page/paths.js";
import { get } from "../page/api.js";
import { counted, duration, size } from "../page/format.js";

/**
 * @typedef {object} Plan
 * @property {string} scorer kind
 * @property {number} documents number of documents to train on
 * @property {number} features
 * @property {number | null} iterations null if the service chooses them
 * @property {number} runs number of trainings on that many documents, such as one for each fold
 */
/**
 * @typedef {object} MeasuredTraining
 * @property {string} id of the job
 * @property {string} title
 * @property {string} scorer kind
 * @property {number} documents
 * @property {number} features
 * @property {number} iterations of one run
 * @property {number} runs
 * @property {number} seconds
 * @property {number | null} [bytes] peak memory; undefined until it has been read
 */

/** Number of recent trainings to compare with, newest first. */
const RECENT_TRAININGS = 100;
/** An estimate is rough if one training is larger than the other by more than this factor. */
const MAX_SIZE_RATIO = 10;
/** The statistics of a dataset list the values of a column up to this number. */
const MAX_LISTED_VALUES = 20;

/**
 * Return the training that is nearest in size, of the same kind of scorer.
 * @param {Plan} plan
 * @param {MeasuredTraining[]} measured newest first
 */
export function nearest(plan, measured) {
  const distance = (/** @type {MeasuredTraining} */ each) => Math.abs(Math.log(cells(plan) / cells(each)));
  const alike = measured.filter(({ scorer }) => scorer === plan.scorer);
  return alike.reduce(
    (best, each) => (best && distance(best) <= distance(each) ? best : each),
    /** @type {MeasuredTraining | null} */ (null),
  );
}

/**
 * Scale the time and memory of a measured training to a planned one. Memory is never less than measured, as part of it
 * does not depend on the size.
 * @param {Plan} plan @param {MeasuredTraining} measured
 */
export function scaled(plan, measured) {
  const ratio = cells(plan) / cells(measured);
  const steps = ((plan.iterations ?? measured.iterations) * plan.runs) / (measured.iterations * measured.runs);
  return {
    seconds: measured.seconds * ratio * steps,
    bytes: measured.bytes ? measured.bytes * Math.max(1, ratio) : null,
    isRough: ratio > MAX_SIZE_RATIO || ratio < 1 / MAX_SIZE_RATIO,
  };
}

/** @param {{documents: number, features: number}} data */
const cells = ({ documents, features }) => Math.max(1, documents) * Math.max(1, features);

/** @param {Plan} plan @param {MeasuredTraining | null} measured @param {number} trainings */
export function costLabel(plan, measured, trainings) {
  if (!measured) return "Time and memory are unknown until the service has finished a training with this scorer.";
  const { seconds, bytes, isRough } = scaled(plan, measured);
  const about = isRough ? "Very roughly" : "About";
  const memory = bytes ? ` and ${size(bytes)} of memory${trainings > 1 ? " each" : ""}` : "";
  const all = trainings > 1 ? ` for ${counted(trainings, "training")}` : "";
  const { title, scorer, documents, iterations } = measured;
  const steps = counted(iterations, trainsByEpochs(scorer) ? "epoch" : "iteration");
  return `${about} ${duration(Math.max(1, seconds * trainings))}${memory}${all}: ${title} with ${counted(documents, "document")} and ${steps} took ${duration(Math.max(1, measured.seconds))}.`;
}

/** Return the sentence about the cost of an automatic training. @param {string} budget minutes, as typed */
export function budgetLabel(budget) {
  const minutes = Number(budget || "5");
  if (!(minutes > 0)) return "";
  return `About ${duration(60 * minutes)} of search, or less if all candidates have been tried. Candidates that would exceed the memory limit are left out.`;
}

/** @returns {Promise<MeasuredTraining[]>} finished trainings, newest first */
export async function readMeasured() {
  const fields = "title,spec,started_at,finished_at,progress";
  const [{ items }, datasets] = await Promise.all([
    get(`/v1/jobs?kind=train&status=succeeded&limit=${RECENT_TRAININGS}&fields=${fields}`),
    get("/v1/datasets?status=ready&limit=200&fields=statistics.documents,statistics.features"),
  ]);
  const sizes = new Map(datasets.items.map(({ id, statistics }) => [id, statistics]));
  return items.flatMap((job) => measuredOf(job, sizes.get(job.spec.dataset_id ?? "")) ?? []);
}

/**
 * @param {Schemas["Job"]} job
 * @param {{documents: number, features: number} | null | undefined} statistics of its dataset
 * @returns {MeasuredTraining | null} null if its size or time is unknown, and for sums, trainings on clicks and
 *   distributed trainings
 */
export function measuredOf({ id, title, spec, progress, started_at: start, finished_at: end }, statistics) {
  const done = progress?.iteration;
  const scorer = spec.scorer?.kind ?? "trees";
  if (!statistics || !done || !start || !end || scorer === "sum" || spec.clicks || spec.distribution) return null;
  const isFolded = runsOf(spec.validation) !== 1;
  // A cross-validation counts the iterations of all its trainings, and folds that stopped early in full.
  const iterations = isFolded ? iterationsOf(spec) : done;
  if (!iterations) return null;
  return {
    id,
    title,
    scorer: String(scorer),
    documents: statistics.documents,
    features: statistics.features,
    iterations,
    runs: isFolded ? done / iterations - 1 : 1,
    seconds: (Date.parse(end) - Date.parse(start)) / 1000,
  };
}

/** Return the requested number of iterations or epochs, null if the service chooses it. @param {any} request */
export const iterationsOf = ({ scorer, hyperparameters }) =>
  Number(trainsByEpochs(scorer?.kind) ? scorer.epochs : hyperparameters?.num_iterations) || null;

/**
 * Return the cost of a training with its validation, as a number of trainings on all queries. k folds cost k: k
 * trainings on (k − 1) / k of the queries, and one training on all queries.
 * @param {any} validation
 * @param {Record<string, unknown[]> | null} [columns] values of the query columns, from the statistics of the dataset
 * @returns {number | null} null if the number of folds is unknown
 */
export function runsOf(validation, columns) {
  if (validation?.fold_column) {
    const values = columns?.[validation.fold_column]?.length ?? 0;
    return values > 0 && values < MAX_LISTED_VALUES ? values : null;
  }
  const folds = Number(validation?.folds);
  return folds > 1 && !validation.fold ? folds : 1;
}

/** Read the peak memory of a training. @param {string} id @returns {Promise<number | null>} */
export async function readMemory(id) {
  const { attempts } = await get(jobApi(id));
  const peaks = (attempts.at(-1)?.phases ?? []).flatMap(({ peak_memory_bytes: bytes }) => bytes ?? []);
  return peaks.length ? Math.max(...peaks) : null;
}
