/** Mean and spread of repeated trainings, which `repeats` of `POST /v1/jobs/batch` submits. @module */
import { dataTable, hint, numberHeads, panel } from "../page/parts.js";
import { count, metric } from "../page/format.js";

/** @typedef {Schemas["RankedTraining"]} Ranked */

const DATA = /** @type {const} */ (["validation", "test"]);
/** Tags that do not distinguish settings. */
const IGNORED_TAGS = new Set(["grid", "repeat"]);

/**
 * Return a panel with a row for each setting and part of the data, null where no setting was trained twice.
 * @param {Schemas["TrainingRanking"]} ranking
 */
export function repeatsPanel(ranking) {
  const rows = [...groups(ranking.items)].flatMap(([setting, trainings]) =>
    DATA.flatMap((data) => {
      const values = trainings.flatMap((ranked) => ranked[data]?.mean ?? []);
      return values.length > 1 ? [{ setting, data, values }] : [];
    }),
  );
  if (!rows.length) return null;
  const numbers = numberHeads("Trainings", "Mean", "Standard deviation", "Minimum", "Maximum");
  return panel(`Repeats: ${ranking.metric ?? ""}`, [
    hint("Each repeat has its own seed. Differences smaller than the spread of the repeats may be chance."),
    dataTable("Spread of the repeats", ["Setting", "Data", numbers], rows, ({ setting, data, values }) => [
      setting,
      data,
      count(values.length),
      ...spreadOf(values).map(metric),
    ]),
  ]);
}

/** Group repeated trainings by the tags of their settings. @param {Ranked[]} items @returns {Map<string, Ranked[]>} */
function groups(items) {
  /** @type {Map<string, Ranked[]>} */ const bySetting = new Map();
  for (const ranked of items) {
    const tags = /** @type {Record<string, string>} */ (ranked.job.spec.tags ?? {});
    if (!tags.repeat) continue;
    const varied = Object.entries(tags).filter(([tag]) => !IGNORED_TAGS.has(tag));
    const setting = [ranked.job.spec.model_name, ...varied.map(([tag, value]) => `${tag} ${value}`)].join(", ");
    bySetting.set(setting, [...(bySetting.get(setting) ?? []), ranked]);
  }
  return bySetting;
}

/** Return the mean, standard deviation, minimum and maximum. @param {number[]} values at least two */
function spreadOf(values) {
  const mean = values.reduce((total, value) => total + value, 0) / values.length;
  const squares = values.reduce((total, value) => total + (value - mean) ** 2, 0);
  return [mean, Math.sqrt(squares / (values.length - 1)), Math.min(...values), Math.max(...values)];
}
