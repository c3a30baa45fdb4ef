/**
 * The leaderboard of an automatic training: the ranked candidates on one scale, and the candidates that are not ranked.
 * @module
 */
import { jobApi } from "../page/paths.js";
import { conclusionPart } from "./conclusion.js";
import {
  baselineLines,
  countLabel,
  foldsLabel,
  unranked,
  unrankedLabel,
  lineLabel,
  ranked,
  reasonLabel,
  settingsLabel,
  SUM,
  positionLabel,
} from "./labels.js";
import { linearScale } from "../figures/scales.js";
import { whisker, whiskerAxis } from "../figures/whiskers.js";
import { isActive } from "../jobs/labels.js";
import { conditionalReader } from "../page/api.js";
import { helpLink } from "../page/content.js";
import { changeDetector, h, replace, setText, svg } from "../page/dom.js";
import { bodyRows, hint, numberHeads, scrollRegion, tableHead } from "../page/parts.js";
import { briefDuration, count, fixed, metric, size } from "../page/format.js";
import { intervalParts, sortableTable, numberColumn } from "../tables/table.js";

/** @typedef {import("./labels.js").Leaderboard} Leaderboard */
/** @typedef {import("./labels.js").Candidate} Candidate */

/** Return the conclusion and the candidates of a job; `update` reads them again. @param {Job} first */
export function leaderboard(first) {
  const name = String(first.spec.metric);
  const read = conditionalReader();
  const conclusionNode = h("div");
  const state = hint();
  const legend = h("ul.whisker-key");
  const unrankedSection = unrankedPart();
  /** Scale, reference lines and best candidate of the table's cells. @type {{best: Candidate | undefined, lines: number[], scale: Scale}} */
  let drawing = { best: undefined, lines: [], scale: linearScale([]) };
  const table = sortableTable(
    columns(name, () => drawing),
    {
      label: "Candidates",
      attributes: ({ weight, number }) => ({ class: weight > 0 && "main", "data-candidate": number }),
    },
  );
  const node = h("div.leaderboard", [
    conclusionNode,
    h("section", { "aria-label": "Candidates" }, [
      h("h3", "Candidates ", helpLink("how-to/best-model/#leaderboard", "Leaderboard")),
      state,
      legend,
      table.node,
      unrankedSection.node,
    ]),
  ]);
  const hasChanged = changeDetector();

  /** @param {Job} job */
  async function update(job) {
    const board = await read(jobApi(job.id, "/candidates"));
    if (!hasChanged([board, job.status, job.result])) return;
    const candidates = ranked(board);
    const lines = baselineLines(board.conclusion);
    const values = [
      ...candidates.flatMap(({ value, interval }) => [value, ...(interval ?? [])]),
      ...lines.map(({ value }) => value),
    ];
    drawing = {
      best: candidates.find(({ number, status }) => number !== SUM && status === "complete"),
      lines: lines.map(({ value }) => value),
      scale: linearScale(values, 4),
    };
    replace(conclusionNode, board.conclusion && conclusionPart(board.conclusion, job));
    setText(state, stateLabel(job, board));
    table.node.hidden = candidates.length === 0;
    table.show(candidates);
    replace(legend, ...lines.map(lineEntry));
    unrankedSection.update(board);
  }
  return { node, update };
}

/** @typedef {import("../figures/whiskers.js").Scale} Scale */

/**
 * @param {string} name of the metric
 * @param {() => {best: Candidate | undefined, lines: number[], scale: Scale}} drawing
 * @returns {Column<Candidate>[]}
 */
function columns(name, drawing) {
  return [
    {
      key: "name",
      label: "Candidate",
      value: (candidate) => candidate.name,
      cell: (candidate) => [
        h("span.name", { title: settingsLabel(candidate) }, candidate.name),
        h("small", { title: candidate.tied_with_best && "Not significantly worse than the best candidate" }, [
          positionLabel(candidate, drawing().best),
        ]),
      ],
    },
    {
      key: "interval",
      label: "95% interval",
      value: ({ interval }) => interval?.[0] ?? null,
      cell: ({ value, interval }) => {
        const [lower, upper] = interval ?? [null, null];
        return whisker({ mean: value, lower, upper }, drawing().scale, drawing().lines);
      },
      foot: () => whiskerAxis(drawing().scale),
      parts: [], // none in CSV: the next column has the interval
    },
    {
      key: "value",
      label: name,
      title: "Mean over the queries of the measured folds; no query is scored by a model that was trained on it",
      number: true,
      value: ({ value }) => value,
      cell: ({ value, interval }) => [
        h("strong", metric(value)),
        h("small", interval && interval.map(metric).join(" – ")),
      ],
      parts: intervalParts(name, ({ value, interval }) => [value, ...(interval ?? [])]),
    },
    {
      key: "weight",
      label: "Weight",
      title: "Weight of the candidate's scaled scores in the model",
      number: true,
      value: ({ weight }) => weight,
      cell: ({ weight }) => (weight > 0 ? h("strong", fixed(weight, 2)) : "–"),
    },
    numberColumn(
      "Time",
      ({ seconds }) => seconds,
      (seconds) => (seconds ? briefDuration(seconds) : "–"),
      { key: "seconds", title: "Total training time of the candidate" },
    ),
    numberColumn(
      "Size",
      ({ size_bytes: bytes }) => bytes,
      (bytes) => (bytes === null ? "–" : size(bytes)),
      { key: "size", title: "Size of the candidate within the model" },
    ),
    numberColumn("Iterations", ({ iterations }) => iterations, count, {
      key: "iterations",
      title: "Best number of trees or epochs over all folds",
    }),
    {
      key: "folds",
      label: "Folds",
      title: "Number of folds measured",
      number: true,
      value: ({ folds }) => folds,
      cell: foldsLabel,
    },
  ];
}

/** Describe the progress of the candidates, and report a job that ended without a model. @param {Job} job @param {Leaderboard} board */
function stateLabel(job, board) {
  const measured = board.items.some(({ status }) => status === "complete" || status === "running");
  if (!measured) {
    if (job.status === "queued") return "The candidates are listed here once a worker has started the job.";
    return isActive(job)
      ? "The candidates are listed here once the first training has begun."
      : "No candidate was measured.";
  }
  const state = `${countLabel(board)}.`;
  if (job.status === "failed" || job.status === "cancelled")
    return `${state} The job ended before a model was built from the candidates.`;
  if (job.status !== "succeeded") return state;
  return `${state} Those in bold are the model. The order of all documents chose it, so another value may be higher.`;
}

/** @param {{name: string, value: number}} line @param {number} index */
function lineEntry(line, index) {
  const mark = svg("svg.whisker", { "aria-hidden": "true" }, [
    svg("line.reference", { x1: "50%", x2: "50%", y1: 0, y2: "100%" }),
  ]);
  return h("li", { "data-line": index }, mark, lineLabel(line));
}

/** @returns {{node: HTMLElement, update: (board: Leaderboard) => void}} hidden while all candidates are ranked */
function unrankedPart() {
  const summary = h("summary");
  const rows = h("tbody");
  const heads = ["Candidate", "Reason", numberHeads("Value so far", "Folds")];
  const node = h("details.more", { hidden: true }, [
    summary,
    scrollRegion("Candidates that are not ranked", h("table", tableHead(...heads), rows)),
  ]);
  return {
    node,
    update(board) {
      const candidates = unranked(board);
      node.hidden = candidates.length === 0;
      setText(summary, `Not ranked: ${unrankedLabel(candidates)}`);
      replace(
        rows,
        bodyRows(heads, candidates, (candidate) => [
          h("span.name", { title: settingsLabel(candidate) }, candidate.name),
          h("span.wrap", reasonLabel(candidate)),
          metric(candidate.value),
          foldsLabel(candidate),
        ]),
      );
    },
  };
}
