/** `/drift/{id}`: drift between the training data and scored samples, feature by feature. @module */
import { profiles } from "../figures/profiles.js";
import { VERDICTS } from "../models/drift.js";
import { driftReportApi, jobPage, modelPage, pageObjectId } from "../page/paths.js";
import { get } from "../page/api.js";
import { openObject } from "../page/content.js";
import { elementById, h, replace } from "../page/dom.js";
import { hint, metaLine, statusBadge } from "../page/parts.js";
import { counted, fixed, percent, timeElement } from "../page/format.js";
import { sortableTable, numberColumn } from "../tables/table.js";

/** @typedef {Schemas["DriftReport"]["comparisons"][number]} Compared */
/** @typedef {Compared["features"][number]} Feature */

const FIRST_ROWS = 25;
/** @type {Record<Feature["verdict"], [status: string, words: string]>} */
const FEATURE_VERDICTS = { ...VERDICTS, shift: ["running", "small shift"] };

const id = pageObjectId();
const container = elementById("report");
openObject(container, async () => show(await get(driftReportApi(id))), { noun: "drift report", id, list: "/models" });

/** @param {Schemas["DriftReport"]} report */
function show(report) {
  const { model, model_id: modelId, job_id: job, since, until, sentence, verdict, queries, documents } = report;
  const [status, words] = VERDICTS[verdict];
  document.title = `Drift of ${model} · Rankery`;
  replace(container, [
    h("div.page-head", [
      h("div.job-heading", [
        h("h1", h("span.kind", "Drift of "), h("a.quiet-link", { href: modelPage(modelId) }, model)),
        statusBadge(status, words),
      ]),
      job && h("div.actions", h("a.button.quiet", { href: jobPage(job) }, "Job")),
    ]),
    metaLine(
      ["Samples from ", timeElement(since), " to ", timeElement(until)],
      counts({ queries, documents }),
      h("code", id),
    ),
    h("p.verdict-line", { "data-verdict": { drift: "worse", none: "better", too_few: "same" }[verdict] }, sentence),
    ...report.comparisons.map(comparison),
  ]);
}

/** @param {{queries: number, documents: number}} of samples or of their reference */
const counts = ({ queries, documents }) =>
  `${counted(queries, "query", "queries")} and ${counted(documents, "document")}`;

/** @param {Compared} compared */
function comparison(compared) {
  const { with: other, reference, sentence, features, scores } = compared;
  const title = other === "training" ? "Compared with the training data" : "Compared with the days before";
  const picture = h("div");
  const rows = scores ? [{ ...scores, name: "the scores" }, ...features] : features;
  const table = sortableTable(columns(pick), {
    label: title,
    first: FIRST_ROWS,
    order: { by: "PSI", descending: true },
  });
  table.show(rows);

  /** @param {Feature} feature */
  function pick(feature) {
    replace(picture, profiles(feature, other === "training" ? "Training data" : "Before", "Now"));
  }

  const worst = [...rows].sort((one, two) => (two.psi ?? -1) - (one.psi ?? -1))[0];
  if (worst) pick(worst);
  return h("section.panel", [
    h("h2", title),
    hint(sentence, reference.queries > 0 && ` The reference has ${counts(reference)}.`),
    picture,
    rows.length > 0 && table.node,
  ]);
}

/** @param {(feature: Feature) => void} pick @returns {Column<Feature>[]} */
function columns(pick) {
  const number = (/** @type {number | null} */ value) => (value === null ? "–" : fixed(value, 3));
  const share = (/** @type {number | null} */ value) => (value === null ? "–" : percent(value, 1));
  return [
    {
      label: "Feature",
      value: ({ name }) => name,
      cell: (feature) =>
        h("button.link", { "aria-label": `Show ${feature.name}`, click: () => pick(feature) }, feature.name),
    },
    {
      label: "Verdict",
      value: ({ verdict }) => verdict,
      cell: ({ verdict, sentence }) => {
        const [status, words] = FEATURE_VERDICTS[verdict];
        return statusBadge(status, words, sentence);
      },
    },
    numberColumn("PSI", ({ psi }) => psi, number, { title: "Population stability index" }),
    numberColumn("Distance", ({ distance }) => distance, number, {
      title: "Kolmogorov–Smirnov distance of numbers, total variation of categories",
    }),
    numberColumn("p", ({ p }) => p, number, { title: "Test by queries, corrected for the number of features" }),
    numberColumn("Missing before", (row) => row.missing_before, share),
    { label: "Missing now", number: true, value: (row) => row.missing_after, cell: (row) => share(row.missing_after) },
  ];
}
