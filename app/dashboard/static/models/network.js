/** Structure of scorers other than trees: layers of networks, inputs and parameters, members of sums. @module */
import { h, svg } from "../page/dom.js";
import { factList, dataTable, hint, numberHeads } from "../page/parts.js";
import { count, counted, joined, short } from "../page/format.js";
import { modelPage } from "../page/paths.js";

/** @type {Record<string, string>} */
const KINDS = { trees: "trees", linear: "linear scorer", mlp: "network", sum: "sum of models" };
/** @type {Record<string, string>} */ const INPUTS = {
  standard: "scaled to mean 0 and deviation 1",
  "rank-gauss": "scaled by rank to a normal distribution",
  none: "unscaled",
};

/** Check whether a model consists of trees, which have views that other kinds lack. @param {{kind: string}} model */
export const isTrees = ({ kind }) => kind === "trees";

/** Return the label of a kind of scorer. @param {string} kind */
export const kindName = (kind) => KINDS[kind] ?? kind;

/** Return the units of the hidden layers. @param {Model} model @returns {number[]} */
function hiddenOf({ scorer }) {
  const hidden = scorer?.hidden;
  return Array.isArray(hidden) ? hidden.map(Number) : [];
}

/** Return "136 features → 128 → 64 → score, relu". @param {Model} model */
function layerLabel(model) {
  const { scorer, feature_names: features } = model;
  const hidden = hiddenOf(model);
  const steps = [counted(features.length, "feature"), ...hidden.map(count), "score"].join(" → ");
  const norm = scorer?.layer_norm ? " with layer norms" : "";
  return hidden.length ? `${steps}, ${scorer?.activation}${norm}` : steps;
}

/** Return the number of parameters, "at least" with inputs for missing values. @param {Model} model */
export function parameterCount(model) {
  const { scorer, feature_names: features } = model;
  const hidden = hiddenOf(model);
  const norms = scorer?.layer_norm ? 2 * hidden.reduce((sum, units) => sum + units, 0) : 0;
  const sizes = [features.length, ...hidden, 1];
  const weights = sizes.slice(1).reduce((sum, units, index) => sum + units * (sizes[index] + 1), 0);
  return `${scorer?.missing_indicators ? "at least " : ""}${count(weights + norms)}`;
}

/** Describe the input transform. @param {Model} model */
function inputLabel({ scorer }) {
  return joined(
    [
      INPUTS[String(scorer?.inputs)] ?? String(scorer?.inputs),
      scorer?.log1p && "after logarithms",
      scorer?.missing_indicators ? "with indicators of missing values" : "missing values as 0",
    ],
    ", ",
  );
}

/** @param {Model} model a linear scorer or a network */
export function networkPanel(model) {
  return h("section.panel", { "aria-labelledby": "network-title" }, [
    h("h2", { id: "network-title" }, hiddenOf(model).length ? "Layers" : "Weights"),
    picture([model.feature_names.length, ...hiddenOf(model), 1]),
    h("p.layer-words", layerLabel(model)),
    factList("facts", [
      ["inputs", inputLabel(model)],
      ["parameters", parameterCount(model)],
    ]),
  ]);
}

const WIDTH = 320;
const HEIGHT = 96;
const BAR = 14;

/** Draw each layer as a bar, whose height grows with its units, and bands between the bars. @param {number[]} sizes */
function picture(sizes) {
  const most = Math.log2(Math.max(...sizes) + 1);
  const bars = sizes.map((units, index) => {
    const height = Math.max(8, (HEIGHT * Math.log2(units + 1)) / most);
    return { x: (index * (WIDTH - BAR)) / (sizes.length - 1), top: (HEIGHT - height) / 2, height };
  });
  const bands = bars.slice(1).map((right, index) => {
    const left = bars[index];
    const corners = [
      [left.x + BAR, left.top],
      [right.x, right.top],
      [right.x, right.top + right.height],
      [left.x + BAR, left.top + left.height],
    ];
    return svg("polygon", { points: corners.map((corner) => corner.join(",")).join(" ") });
  });
  return svg("svg.layers", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true" }, [
    ...bands,
    ...bars.map(({ x, top, height }) => svg("rect", { x, y: top, width: BAR, height, rx: 3 })),
  ]);
}

/**
 * @typedef {{name: string, weight: number | null, id: string | null}} Member
 *   id: null for a model outside the registry
 */

/**
 * Return the members of a sum. Members that an automatic training made are not in the registry and have no id.
 * @param {Pick<Model, "scorer" | "lineage">} model @returns {Member[]}
 */
export function membersOf({ scorer, lineage }) {
  const names = Array.isArray(scorer?.models) ? scorer.models.map(String) : [];
  const weights = Array.isArray(scorer?.weights) ? scorer.weights : [];
  return names.map((name, index) => ({
    name,
    weight: typeof weights[index] === "number" ? weights[index] : null,
    id: lineage?.members?.[index]?.id ?? null,
  }));
}

/** @param {Model} model a sum */
export function membersPanel(model) {
  return h("section.panel.members", { "aria-labelledby": "members-title" }, [
    h("h2", { id: "members-title" }, "Members"),
    dataTable("Members", ["Model", numberHeads("Weight")], membersOf(model), ({ name, weight, id }) => [
      id ? h("a.name", { href: modelPage(id) }, name) : name,
      short(weight),
    ]),
    hint(
      "The score is the sum of the members' raw scores, each times its weight. Their scales differ, so weights are no shares.",
    ),
  ]);
}
