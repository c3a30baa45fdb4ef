/** Table of a study's trials, and the learning curve of the selected trial. @module */
import { historyReader, learningCurve } from "../jobs/curves.js";
import { iterationsHeading } from "../jobs/labels.js";
import { jobApi, jobPage } from "../page/paths.js";
import { get } from "../page/api.js";
import { loadInto } from "../page/content.js";
import { h, replace } from "../page/dom.js";
import { hint, livePart, statusBadge } from "../page/parts.js";
import { briefDuration, count, metric } from "../page/format.js";
import { intervalParts, sortableTable, numberColumn } from "../tables/table.js";
import { dimensionsOf, isNumeric, metricOf, parameterName, validationLabel, valueAt, valueLabel } from "./labels.js";

const FIRST_ROWS = 25;

/** @param {Study} study */
export function trialsPanel(study) {
  const name = metricOf(study);
  const chosen = h("div.trial-curve");
  let open = -1;
  let current = study;
  const table = sortableTable(columns(study, name, choose), {
    label: "Trials",
    first: FIRST_ROWS,
    order: { by: "value", descending: study.higher_is_better },
    attributes: ({ number }) => ({ "data-trial": number, "data-best": current.best?.number === number }),
  });
  const node = h("section.panel.trials", { "aria-labelledby": "trials-title" }, [
    h("h2", { id: "trials-title" }, "Trials"),
    table.node,
    hint(
      `The value is the mean ${name} by ${validationLabel(study)}. The value of a pruned trial is that of its finished folds, or of its first fold so far.`,
    ),
    chosen,
  ]);

  /** @param {Trial} trial */
  async function choose(trial) {
    open = open === trial.number ? -1 : trial.number;
    if (open < 0) return replace(chosen);
    const body = h("div");
    replace(chosen, [
      h("div.panel-head", [
        h("h3", `Trial ${trial.number}: learning curve`),
        h("a.quiet-link", { href: jobPage(trial.job_id) }, "Job"),
      ]),
      body,
    ]);
    await loadInto(body, async () => {
      const curve = learningCurve();
      const job = await get(jobApi(trial.job_id));
      curve.update(job, await historyReader(trial.job_id)(job));
      return [curve.node];
    });
    chosen.scrollIntoView({ block: "nearest" });
  }

  /** @param {Study} newStudy @param {Trial[]} trials */
  const stateOf = ({ best }, trials) => [best, trials];
  return livePart(node, stateOf, (_, newStudy, trials) => {
    current = newStudy;
    table.show(trials);
  });
}

/** @param {Study} study @param {string} name @param {(trial: Trial) => void} choose @returns {Column<Trial>[]} */
function columns(study, name, choose) {
  return [
    {
      key: "number",
      label: "Trial",
      value: ({ number }) => number,
      cell: (trial) => [
        h("a", { href: jobPage(trial.job_id) }, trial.number),
        trial.source !== "sampler" && h("small.tag.plain", trial.source === "hand" ? "by hand" : "default"),
      ],
    },
    { label: "Status", value: ({ status }) => status, cell: ({ status, error }) => statusBadge(status, status, error) },
    {
      key: "value",
      label: name,
      title: "With its 95% interval over queries",
      number: true,
      value: ({ value }) => value,
      cell: ({ value, interval }) => [
        h("strong", metric(value)),
        interval && h("small", ` ${interval.map(metric).join(" – ")}`),
      ],
      parts: intervalParts(name, ({ value, interval }) => [value, ...(interval ?? [])]),
    },
    ...dimensionsOf(study).map(([pointer, dimension]) => ({
      key: pointer,
      label: parameterName(pointer),
      number: isNumeric(dimension),
      value: (/** @type {Trial} */ trial) => {
        const value = valueAt(trial, pointer);
        return typeof value === "number" ? value : value === undefined ? null : valueLabel(value);
      },
      cell: (/** @type {Trial} */ trial) => {
        const value = valueAt(trial, pointer);
        return value === undefined ? "–" : valueLabel(value);
      },
    })),
    {
      label: "Folds",
      title: "Finished folds",
      number: true,
      value: ({ folds }) => folds.length,
      cell: ({ folds }) => h("span", { title: folds.map(({ value }) => metric(value)).join(", ") }, folds.length),
    },
    numberColumn(iterationsHeading({ spec: study.base }), ({ best_iteration: iteration }) => iteration, count),
    numberColumn(
      "Time",
      ({ seconds }) => seconds ?? null,
      (seconds) => (seconds === null ? "–" : briefDuration(seconds)),
    ),
    {
      key: "curve",
      label: "Curve",
      value: () => null,
      cell: (trial) =>
        h(
          "button.quiet.small",
          { "aria-label": `Learning curve of trial ${trial.number}`, click: () => choose(trial) },
          "Curve",
        ),
    },
  ];
}
