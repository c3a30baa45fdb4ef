/**
 * What a newcomer does first, each step ticked once it is done.
 * @module
 */
import { h } from "../page/dom.js";

/** @param {{datasets: number, models: number, comparisons: number}} counts */
export function firstSteps({ datasets, models, comparisons }) {
  const steps = [
    [datasets > 0, "Add data", "Upload judged queries, or have some made up to try things out.", "/datasets#add", "Add a dataset"],
    [models > 0, "Train a model", "Choose a loss, or several: their learning curves appear as they train.", "/train", "New training"],
    [comparisons > 0, "Compare two models", "Query by query, with a test of whether the difference is real.", "/comparisons#compare", "Compare"],
  ];
  const next = steps.findIndex(([done]) => !done);
  const item = ([done, name, words, href, action], index) =>
    h(
      "li",
      { class: "step", "data-done": done && "" },
      h("h3", {}, name, done && h("span", { class: "tag" }, "done")),
      h("p", { class: "hint" }, words),
      !done && h("a", { class: index === next ? "button primary" : "button quiet", href }, action),
    );
  return h("section", { class: "panel", "aria-labelledby": "steps-title" }, h("h2", { id: "steps-title" }, "First steps"), h("ol", { class: "steps" }, ...steps.map(item)));
}
