/** Tables of several trainings: the settings that differ, their metrics, and the spread of repeats. @module */
import { jobStatus } from "../figures/marks.js";
import { intervalLabel } from "../figures/whiskers.js";
import { jobPage, modelPage } from "../page/paths.js";
import { changeDetector, h, replace } from "../page/dom.js";
import { hint, dataTable, numberHeads, panel } from "../page/parts.js";
import { counted, fixed, metric, pValue, count } from "../page/format.js";
import { intervalParts, sortableTable, numberColumn } from "../tables/table.js";
import { lineStyle, swatch } from "../figures/legend.js";
import { LOSS } from "./labels.js";
import { flatten, plainName, shown } from "./specification.js";

// Settings that do not change the result, and seeds, which change it only by chance.
const IGNORED_SETTINGS = /^(kind|model_name|priority|automatic\b.*|tags\b.*|limits\b.*|(.* )?(\w+_)?seed)$/;

const SCORER = "scorer kind";

/** @typedef {{losses: Schemas["LossDescription"][], scorers: Schemas["ScorerDescription"][], schemas: SchemasByName}} Catalogue */
/** @typedef {{name: string, values: Map<string, unknown>}} Setting values by the job's id, undefined in jobs without the setting */

/**
 * Return the settings that are not the same in all jobs. A hyperparameter, or a parameter of a loss or scorer, at its
 * default equals an absent one.
 * @param {Job[]} jobs @param {Catalogue} catalogue @returns {Setting[]}
 */
export function differingSettings(jobs, catalogue) {
  // The specification of trees names no scorer.
  const specs = jobs.map(({ id, spec }) => ({
    id,
    spec: new Map([[SCORER, spec.scorer?.kind ?? "trees"], ...flatten(spec)]),
  }));
  const names = new Set(specs.flatMap(({ spec }) => [...spec.keys()]));
  const differs = (/** @type {string} */ name) => {
    // An absent field means its default.
    const values = specs.map(({ spec }) => !isDefault(spec, name, catalogue) && JSON.stringify(spec.get(name)));
    return new Set(values.map((value) => value || "")).size > 1;
  };
  return [...names]
    .filter((name) => !IGNORED_SETTINGS.test(name) && differs(name))
    .map((name) => ({ name, values: new Map(specs.map(({ id, spec }) => [id, spec.get(name)])) }));
}

/**
 * Check whether a training lacks a setting of another one. The absent setting has its default, so
 * `differingSettings` then needs the schemas.
 * @param {Job[]} jobs
 */
export function lacksSettings(jobs) {
  const names = jobs.map(({ spec }) =>
    flatten(spec).flatMap(([name]) => (name.includes(" ") || IGNORED_SETTINGS.test(name) ? [] : name)),
  );
  const allNames = new Set(names.flat());
  return names.some(({ length }) => length < allNames.size);
}

/** @param {Map<string, unknown>} spec @param {string} name @param {Catalogue} catalogue */
function isDefault(spec, name, { losses, scorers, schemas }) {
  const value = JSON.stringify(spec.get(name));
  const [part, field] = name.split(" ");
  if (field === undefined) return JSON.stringify(schemas.Hyperparameters?.properties?.[name]?.default) === value;
  const owners = {
    loss: losses.find((loss) => loss.name === spec.get("loss name")),
    scorer: scorers.find(({ kind }) => kind === spec.get(SCORER)),
  };
  const owner = part === "loss" || part === "scorer" ? owners[part] : undefined;
  const parameter = owner?.parameters.find((each) => each.name === field);
  return parameter !== undefined && JSON.stringify(parameter.default) === value;
}

/** Numbers of settings in labels: the larger one where the smaller one leaves equal labels. */
const LABELLED_SETTINGS = [3, 5];

/**
 * Return a label for each training: the job's name, else the model name. Where model names repeat, the label includes
 * the settings that differ, "web: ndcg-loss2++, 0.05". Equal labels are distinguished by the seed or a number.
 * @param {Job[]} jobs @param {Setting[]} differing
 * @returns {Map<string, string>} by id
 */
export function trainingLabels(jobs, differing) {
  const isNameRepeated = new Set(jobs.map(({ spec }) => spec.model_name)).size < jobs.length;
  const kinds = differing.find(({ name }) => name === SCORER)?.values ?? new Map();
  const isKindEnough = new Set(kinds.values()).size === jobs.length;
  /** @param {Job} job @param {number} number of settings in the label */
  const words = (job, number) => {
    if (job.name) return job.name;
    const base = job.spec.model_name ?? "";
    const settings = differing
      .map(({ values }) => values.get(job.id))
      .filter((value) => ["string", "number"].includes(typeof value))
      .map((value) => job.dataset_names[String(value)] ?? value);
    const suffix = settings.slice(0, isKindEnough ? 1 : number).join(", ");
    return isNameRepeated && suffix ? `${base}: ${suffix}` : base;
  };
  const choices = LABELLED_SETTINGS.map((number) => jobs.map((job) => words(job, number)));
  const labels = choices.find((each) => new Set(each).size === jobs.length) ?? choices[0];
  return new Map(
    jobs.map((job, index) => {
      const group = jobs.filter((_, other) => labels[other] === labels[index]);
      return [job.id, labels[index] + distinguishingSuffix(group, job)];
    }),
  );
}

/** Return a suffix that distinguishes a training from others with the same label. @param {Job[]} group @param {Job} job */
function distinguishingSuffix(group, job) {
  const seeds = new Set(group.map(({ spec }) => spec.seed));
  if (group.length > 1 && seeds.size === group.length) return `, seed ${job.spec.seed}`;
  const index = group.indexOf(job);
  return index > 0 ? ` (${index + 1})` : "";
}

/**
 * Return names without their common prefix, which ends at a word boundary: "shop: 0.05, 31" and "shop: 0.1, 31" lose "shop: ".
 * @param {Map<string, string>} names by id
 * @returns {Map<string, string>} by id
 */
export function withoutPrefix(names) {
  const all = [...names.values()];
  if (all.length < 2) return names;
  let common = all.reduce((one, other) => {
    let length = 0;
    while (length < one.length && one[length] === other[length]) length += 1;
    return one.slice(0, length);
  });
  common = common.replace(/[^\s:,_/-]*$/, "");
  // The hyphen of -1 or of 1e-7 belongs to the number.
  common = common.replace(/(^|\s)-?(\d+(\.\d+)?e)?-$/, "$1");
  common = common.replace(/seed $/, "");
  return new Map([...names].map(([id, name]) => [id, name.slice(common.length) || name]));
}

// Parts of the data by preference: the metric columns show the first one that any training was measured on.
const PARTS = ["validation", "test", "train"];

/**
 * @typedef {object} Row
 * @property {Job} job
 * @property {string} name
 * @property {string} title
 * @property {number | null} slot index of the line's colour, null if the line is not drawn
 * @property {Schemas["RankedTraining"]} ranked
 * @property {boolean} isBest
 * @property {Metrics} metrics
 */

/** @type {Column<Row>} */ const TRAINING = {
  label: "Training",
  value: ({ name }) => name,
  cell: ({ job, name, title, slot, ranked }) => [
    slot === null ? h("span.swatch") : swatch(lineStyle(slot)),
    h("a.name", { href: jobPage(job.id), title }, name),
    ranked.model && h("small", " ", h("a.name", { href: modelPage(ranked.model), title: ranked.model }, ranked.model)),
  ],
};
/** @type {Column<Row>} */
const STATUS = { label: "Status", value: ({ job }) => job.status, cell: ({ job }) => jobStatus(job) };

/**
 * Show a table of trainings, the best by validation first: metrics, and settings that differ.
 * @param {import("../tables/table.js").Order | null} order
 * @param {{sorted: (order: import("../tables/table.js").Order) => void, pointed: (id: string | null) => void}}
 *   callbacks
 */
export function comparedTable(order, { sorted, pointed }) {
  const node = h("section.panel.compared", { "aria-labelledby": "compared-title" });
  const foot = hint();
  /** @type {ReturnType<typeof sortableTable<Row>> | null} */
  let table = null;
  const hasChanged = changeDetector();
  for (const event of ["pointerover", "focusin"])
    node.addEventListener(event, ({ target }) => {
      const row = target instanceof Element ? target.closest("tr[data-job]") : null;
      pointed((row instanceof HTMLElement && row.dataset.job) || null);
    });
  for (const event of ["pointerleave", "focusout"]) node.addEventListener(event, () => pointed(null));

  /** @param {Schemas["TrainingRanking"]} ranking @param {Row[]} rows @param {Setting[]} settings */
  function update(ranking, rows, settings) {
    const part = PARTS.find((each) => rows.some(({ job }) => job.metrics?.[each])) ?? "";
    const measured = finalMetrics(rows, part);
    const tested = rows.some(({ ranked }) => ranked.test);
    if (hasChanged([part, ranking.metric, measured, tested, settings.map(({ name }) => name)])) {
      const columns = [
        TRAINING,
        ...(ranking.metric ? rankedColumns(ranking, tested) : []),
        ...measured.filter((name) => name !== ranking.metric).map((name) => metricColumn(name, part)),
        ...settings.map(settingColumn),
        STATUS,
      ].map((column) => ({ ...column, label: column.label.replace(/^./, (letter) => letter.toUpperCase()) }));
      const attributes = (/** @type {Row} */ { job, ranked, isBest }) => ({
        "data-job": job.id,
        "data-tied": ranked.tied === true && !isBest,
        "data-best": isBest,
      });
      const newTable = sortableTable(columns, {
        label: "Trainings compared",
        order: table?.order() ?? order,
        attributes,
      });
      newTable.node.addEventListener("click", () => {
        const now = newTable.order();
        if (now) sorted(now);
      });
      table = newTable;
      replace(node, h("h2", { id: "compared-title" }, "Results and settings"), newTable.node, foot);
    }
    table?.show(rows.map((row) => ({ ...row, metrics: row.job.metrics?.[part] || {} })));
    replace(foot, ...footnote(ranking, rows, settings, part));
  }
  return { node, update };
}

/** @param {Schemas["TrainingRanking"]} ranking @param {boolean} tested @returns {Column<Row>[]} */
function rankedColumns({ metric: name }, tested) {
  return [
    {
      key: "validation",
      label: `validation ${name}`,
      number: true,
      value: ({ ranked }) => ranked.validation?.mean ?? null,
      cell: ({ ranked, isBest }) => [
        h(isBest ? "strong" : "span", { class: isBest && "best" }, metric(ranked.validation?.mean)),
        isBest && h("span.visually-hidden", " (best)"),
        ranked.tied && !isBest && h("span.visually-hidden", " (not significantly worse than the best)"),
        interval(ranked.validation),
      ],
      parts: intervalParts(`validation ${name}`, ({ ranked }) => intervalValues(ranked.validation)),
    },
    {
      key: "difference",
      label: "difference to the best",
      title: "Mean difference over the same validation queries, with the adjusted p-value",
      number: true,
      value: ({ ranked }) => ranked.difference,
      cell: ({ ranked, isBest }) =>
        isBest || ranked.difference === null
          ? "–"
          : [fixed(ranked.difference, 4), h("small", ` p ${pValue(ranked.p)}`)],
      parts: [
        { label: "difference to the best", value: ({ ranked }) => ranked.difference },
        { label: "p, adjusted", value: ({ ranked }) => ranked.p },
      ],
    },
    ...(tested ? [testColumn(name)] : []),
  ];
}

/** @param {string | null} name @returns {Column<Row>} */
function testColumn(name) {
  return {
    key: "test",
    label: `test ${name}`,
    title: "Do not select by this column: the test data would no longer be independent",
    number: true,
    value: ({ ranked }) => ranked.test?.mean ?? null,
    cell: ({ ranked }) => h("span.test-value", metric(ranked.test?.mean), interval(ranked.test)),
    parts: intervalParts(`test ${name}`, ({ ranked }) => intervalValues(ranked.test)),
  };
}

/** @param {Schemas["RankedTraining"]["validation"]} summary */
const intervalValues = (summary) => [summary?.mean, summary?.lower, summary?.upper];

/** @param {Schemas["RankedTraining"]["validation"]} summary */
const interval = (summary) => typeof summary?.lower === "number" && h("small", " ", intervalLabel(summary));

/** @param {Setting} setting @returns {Column<Row>} */
function settingColumn({ name, values }) {
  const known = [...values.values()].filter((value) => value !== undefined);
  const number = known.every((value) => typeof value === "number");
  const value = (/** @type {Row} */ { job }) => values.get(job.id) ?? null;
  return {
    key: name,
    label: plainName(name),
    number,
    value: (row) => {
      const setting = value(row);
      return typeof setting === "number" ? setting : setting && String(setting);
    },
    cell: (row) => (value(row) === null ? "–" : shown(name, value(row), row.job)),
  };
}

/** @param {string} name @param {string} part @returns {Column<Row>} */
const metricColumn = (name, part) =>
  numberColumn(`${part} ${name}`, ({ metrics }) => metrics[name] ?? null, metric, { key: name });

/** @param {Row[]} rows @param {string} part */
function finalMetrics(rows, part) {
  return [...new Set(rows.flatMap(({ job }) => Object.keys(job.metrics?.[part] || {})))].filter(
    (name) => name !== LOSS,
  );
}

/** @param {Schemas["TrainingRanking"]} ranking @param {Row[]} rows @param {Setting[]} settings @param {string} part */
function footnote(ranking, rows, settings, part) {
  const tied = rows.filter(({ ranked, isBest }) => ranked.tied && !isBest).length;
  return [
    tied > 0 && [
      h("strong", [
        `${counted(tied, "grey row")} ${tied === 1 ? "is" : "are"} not significantly worse than the best one. `,
      ]),
    ],
    part && rows.length > 1 && `${ranking.sentence} `,
    rows.some(({ ranked }) => ranked.test) && "Select by the validation metric, not by the test metric. ",
    settings.length ? "All other settings are equal" : rows.length > 1 && "The settings are equal",
    rows.length > 1 && (new Set(rows.map(({ job }) => job.spec.seed)).size > 1 ? ", except the seeds." : "."),
  ].flat();
}

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
