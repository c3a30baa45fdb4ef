/**
 * The conclusion of an automatic training: its sentence, the baselines, and links to actions on the model.
 * @module
 */
import { timesLabel } from "./labels.js";
import { signed, verdictChip } from "../evaluation/verdict.js";
import { evaluationPage, modelPage } from "../page/addresses.js";
import { h, scrollRegion, tableHead } from "../page/dom.js";
import { briefDuration, metric, pValue } from "../page/format.js";

/** @typedef {import("./labels.js").Conclusion} Conclusion */

/**
 * @param {Conclusion} conclusion
 * @param {import("../jobs/labels.js").Job} job
 */
export function conclusionPart(conclusion, { result, spec }) {
  const { sentence, baselines } = conclusion;
  const times = timesLabel(conclusion, briefDuration);
  return h(
    "section",
    { class: "conclusion", "aria-label": "Conclusion" },
    h("p", { class: "sentence" }, sentence),
    result?.model_id && actions(result.model_id, result.evaluation_id),
    baselines.length > 0 && baselineTable(conclusion, String(spec.metric)),
    times && h("p", { class: "hint" }, times),
  );
}

/** @param {string} model @param {string | null | undefined} evaluation */
function actions(model, evaluation) {
  const page = modelPage(model);
  /** @param {string} href @param {string} words label */
  const link = (href, words) => h("a", { class: "button quiet", href }, words);
  return h(
    "div",
    { class: "actions" },
    h("a", { class: "button primary", href: page }, "Model"),
    evaluation && link(evaluationPage(evaluation), "Test evaluation"),
    link(`${page}#view=aliases`, "Promote"),
    link(`${page}#view=exports`, "Export"),
  );
}

/** Compare the model with the baselines. @param {Conclusion} conclusion @param {string} name of the metric */
function baselineTable({ value, interval, data, baselines }, name) {
  /** @param {string} words */
  const head = (words) => h("th", { scope: "col", class: "number" }, words);
  /** @param {Child[]} words */
  const number = (...words) => h("td", { class: "number" }, ...words);
  return scrollRegion(
    "Baselines",
    h(
      "table",
      { class: "against" },
      tableHead(
        h("th", { scope: "col" }, data === "test" ? "On the test data" : "On held-out queries"),
        head(name),
        h("td", {}),
        ...["difference", "p"].map(head),
      ),
      h(
        "tbody",
        {},
        h(
          "tr",
          { class: "main" },
          h("th", { scope: "row" }, "This model", interval && h("small", {}, interval.map(metric).join(" – "))),
          number(h("strong", {}, metric(value))),
          h("td", {}),
          number(),
          number(),
        ),
        ...baselines.map((baseline) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, baseline.name),
            number(metric(baseline.value)),
            h("td", {}, verdictChip(baseline.verdict)),
            number(signed(baseline.difference)),
            number(pValue(baseline.p_value)),
          ),
        ),
      ),
    ),
  );
}
