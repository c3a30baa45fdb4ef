/**
 * The numbers of an evaluation: mean, interval, quantiles, and the contract behind each.
 * @module
 */
import { h } from "../page/dom.js";
import { contractWords, presetWords } from "../forms/contract_labels.js";
import { count, metric } from "../page/format.js";
import { intervalWords } from "../figures/whiskers.js";

const QUANTILES = [
  ["p05", "5%"],
  ["p25", "25%"],
  ["p50", "Median"],
  ["p75", "75%"],
  ["p95", "95%"],
];

/** @param {any} evaluation */
export function metricNumbers({ metrics, contract }) {
  const names = Object.keys(metrics);
  return h(
    "section",
    { class: "panel numbers" },
    h("h2", {}, "Numbers"),
    h("div", { class: "scroll", role: "region", "aria-label": "Numbers", tabindex: "0" }, table(names, metrics)),
    h("h3", {}, "What they mean ", contract && h("small", {}, presetWords(contract))),
    h("dl", { class: "conventions" }, ...meanings(names, metrics)),
  );
}

function table(names, metrics) {
  const heads = ["Metric", "Mean", "95% interval", ...QUANTILES.map(([, words]) => words), "Queries", "Left out"];
  const head = (words, index) => h("th", { scope: "col", class: index && "number" }, words);
  return h("table", {}, h("thead", {}, h("tr", {}, ...heads.map(head))), h("tbody", {}, ...names.map((name) => row(name, metrics[name]))));
}

function row(name, summary) {
  const number = (value) => h("td", { class: "number" }, value);
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, name, !summary.higher_is_better && h("span", { class: "tag plain" }, "lower is better")),
    number(h("strong", {}, metric(summary.mean))),
    number(intervalWords(summary)),
    ...QUANTILES.map(([key]) => number(metric(summary.quantiles?.[key]))),
    number(count(summary.queries)),
    number(count(summary.skipped)),
  );
}

/** Metrics that mean the same, as one with several cutoffs, are told together. */
function meanings(names, metrics) {
  const together = new Map();
  for (const name of names) {
    const words = contractWords(metrics[name].contract) || "needs no convention";
    together.set(words, [...(together.get(words) || []), name]);
  }
  return [...together].map(([words, same]) => h("div", {}, h("dt", {}, same.join(", ")), h("dd", {}, words)));
}
