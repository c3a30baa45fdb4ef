/**
 * Features by what they do in the trees and by what is lost without them, the most important first, the rest folded.
 * @module
 */
import { bars } from "../figures/bars.js";
import { datasetPage } from "../page/addresses.js";
import { h, replace } from "../page/dom.js";
import { count, counted, lossValue, metric, percent } from "../page/format.js";
import { metricTabs } from "../measuring/metric_tabs.js";
import { datasetName } from "../page/names.js";
import { whiskers } from "../figures/whiskers.js";

const FIRST = 20;
const KINDS = ["gain", "split", "permutation"];
const WORDS = {
  gain: "Sum of what the splits by a feature gained in the training loss. It favours features with many values, and says nothing of other data.",
  split: "How many splits ask for a feature.",
};

/**
 * @param {HTMLElement} node
 * @param {{features: any[]}} importance
 * @param {{by: string | null, choose: (inspection: string) => void, told: (changed: Record<string, string>) => void}} options
 *   by: what is shown first; choose: asks for another inspection; told: hears what is looked at
 * @returns {{show: (inspection: any, inspections: any[], atOnce: boolean) => void}}
 */
export function importancePanel(node, { features }, { by, choose, told }) {
  const tabs = metricTabs(KINDS, pick, "Importance by");
  const picker = h("div", { class: "inspection-choice" });
  const body = h("div", { class: "importance" });
  let current = KINDS.includes(by) ? by : "gain";
  let inspection = null;
  let all = false;

  function pick(kind) {
    current = kind;
    told({ by: kind });
    draw();
  }

  function draw() {
    tabs.show(current);
    picker.hidden = current !== "permutation" || !inspection;
    replace(body, ...(current === "permutation" ? byPermutation() : inTrees(current)));
  }

  function inTrees(kind) {
    const ordered = features.filter((each) => each[kind] > 0).sort((one, other) => other[kind] - one[kind]);
    const share = `${kind}_share`;
    const value = (each) => (kind === "gain" ? lossValue(each.gain) : count(each.split));
    const rows = shown(ordered).map((each) => [name(each.feature, `${each.feature}: ${value(each)}`), each[share]]);
    const words = [WORDS[kind], unusedWords(features.length - ordered.length)];
    if (!ordered.length) return [h("p", { class: "hint" }, "Its trees ask for no feature: all documents score alike.")];
    return [bars(`Share of the ${kind === "gain" ? "gain" : "splits"}`, rows, (part) => percent(part, 1)), folded(ordered, share), h("p", { class: "hint" }, words.filter(Boolean).join(" "))];
  }

  function byPermutation() {
    if (!inspection) return [h("p", { class: "hint nothing" }, "Not measured yet. Inspect the model on a dataset below: each feature is shuffled in turn, and what the metric loses is what it is worth.")];
    const { importance, metric: spelling, baseline, repeats, within } = inspection;
    const inTheTrees = new Set(features.filter(({ split }) => split > 0).map(({ feature }) => feature));
    const used = importance.filter(({ feature }) => inTheTrees.has(feature));
    const rows = shown(used).map((each) => ({ name: name(each.feature), interval: each, main: each.lower > 0 }));
    const order = within === "query" ? "within each query" : "over the whole dataset";
    const words = [
      `What ${spelling}, ${metric(baseline.mean)} as it is, loses when a feature is shuffled ${order}: means of ${counted(repeats, "shuffle")}, with 95% intervals over ${counted(baseline.queries, "query", "queries")}.`,
      "Where features tell the same, neither seems important.",
      unusedWords(importance.length - used.length),
    ];
    if (!used.length) return [h("p", { class: "hint" }, "Its trees ask for no feature: nothing is lost by shuffling.")];
    return [whiskers(`Loss of ${spelling} without each feature, with 95% intervals`, [{ rows }], { reference: 0 }), folded(used), h("p", { class: "hint" }, words.filter(Boolean).join(" "))];
  }

  function shown(ordered) {
    return all ? ordered : ordered.slice(0, FIRST);
  }

  /** What is not shown, and the way to see it. */
  function folded(ordered, share) {
    const rest = ordered.slice(FIRST);
    if (!rest.length || all) return null;
    const together = share && `, together ${percent(rest.reduce((sum, each) => sum + each[share], 0), 1)}`;
    const open = () => {
      all = true;
      draw();
    };
    return h("p", { class: "folded" }, `${counted(rest.length, "more feature")}${together || ""} `, h("button", { type: "button", class: "quiet small", click: open }, `Show all ${count(ordered.length)}`));
  }

  node.firstElementChild.append(tabs.node);
  node.append(picker, body);
  draw();
  return {
    show(shownInspection, inspections, atOnce) {
      inspection = shownInspection;
      replace(picker, inspections.length > 1 ? chooser(inspections, inspection, choose) : h("p", { class: "hint" }, "On ", h("a", { href: datasetPage(inspection.dataset_id) }, datasetName(inspection.dataset_id))));
      if (atOnce) current = "permutation";
      draw();
    },
  };
}

function unusedWords(number) {
  return number > 0 && `${counted(number, "feature")} ${number === 1 ? "is" : "are"} not used at all.`;
}

function name(feature, title = feature) {
  return h("span", { class: "name", title }, feature);
}

function chooser(inspections, { id }, choose) {
  const words = ({ metric: spelling, within, repeats }) => `${spelling}, ${within === "query" ? "within queries" : "over the dataset"}, ${counted(repeats, "shuffle")}`;
  const option = (each) => h("option", { value: each.id, selected: each.id === id }, `${new Date(each.created_at).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" })} · ${words(each)} · `, datasetName(each.dataset_id));
  const select = h("select", { "aria-label": "Inspection", change: () => choose(select.value) }, ...inspections.map(option));
  return select;
}
