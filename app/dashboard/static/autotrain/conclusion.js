/** The conclusion of an automatic training: its sentence, the baselines, and links to actions on the model. @module */
import { timesLabel } from "./labels.js";
import { signed, verdictChip } from "../evaluation/verdict.js";
import { evaluationPage, jobApi, modelPage } from "../page/paths.js";
import { get } from "../page/api.js";
import { failureBox } from "../page/content.js";
import { h, replace } from "../page/dom.js";
import { dataTable, hint, numberHeads } from "../page/parts.js";
import { briefDuration, metric, pValue } from "../page/format.js";

/** @typedef {import("./labels.js").Conclusion} Conclusion */

/** @param {Conclusion} conclusion @param {Job} job */
export function conclusionPart(conclusion, { result, spec }) {
  const { sentence, baselines } = conclusion;
  const times = timesLabel(conclusion, briefDuration);
  return h("section.conclusion", { "aria-label": "Conclusion" }, [
    h("p.sentence", sentence),
    result?.model_id && actions(result.model_id, result.evaluation_id),
    baselines.length > 0 && baselineTable(conclusion, String(spec.metric)),
    times && hint(times),
  ]);
}

/**
 * Return a panel with the conclusion of an automatic training, hidden until it is read and if there is none.
 * @param {string} job id of the training
 */
export function conclusionPanel(job) {
  const node = h("section.panel.conclusion", { "aria-labelledby": "conclusion-title", hidden: true });
  const heading = h("h2", { id: "conclusion-title" }, "Conclusion of the training");
  show();
  return node;

  async function show() {
    try {
      const { conclusion } = await get(jobApi(job, "/candidates"));
      node.hidden = !conclusion;
      if (conclusion) replace(node, heading, h("p.sentence", conclusion.sentence));
    } catch (error) {
      replace(node, heading, failureBox(error, show));
      node.hidden = false;
    }
  }
}

/** @param {string} model @param {string | null | undefined} evaluation */
function actions(model, evaluation) {
  const page = modelPage(model);
  /** @param {string} href @param {string} words label */
  const link = (href, words) => h("a.button.quiet", { href }, words);
  return h("div.actions", [
    h("a.button.primary", { href: page }, "Model"),
    evaluation && link(evaluationPage(evaluation), "Test evaluation"),
    link(`${page}#view=aliases`, "Promote"),
    link(`${page}#view=exports`, "Export"),
  ]);
}

/** Compare the model with the baselines. @param {Conclusion} conclusion @param {string} name of the metric */
function baselineTable({ value, interval, data, baselines }, name) {
  const heads = [numberHeads(name), "", numberHeads("difference", "p")];
  const model = ["This model", interval && h("small", interval.map(metric).join(" – "))];
  return dataTable(
    "Baselines",
    [data === "test" ? "On the test data" : "On held-out queries", ...heads],
    [null, ...baselines],
    (baseline) =>
      baseline
        ? [
            baseline.name,
            metric(baseline.value),
            verdictChip(baseline.verdict),
            signed(baseline.difference),
            pValue(baseline.p_value),
          ]
        : [{ class: "main" }, model, h("strong", metric(value)), "", "", ""],
    { class: "against" },
  );
}
