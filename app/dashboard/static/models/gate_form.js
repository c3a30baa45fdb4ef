/** The form of a gate: a comparison on judgments, an estimate from a click log, an interleaving. @module */
import { checkBox, field, textInput } from "../forms/controls.js";
import { estimatorOptions, NORMALISED_WHEN } from "../clicks/estimators.js";
import { offerReadyUnselected } from "../forms/choices.js";
import { bindChoices, payloadOf } from "../forms/forms.js";
import { get } from "../page/api.js";
import { clickLogApi } from "../page/paths.js";
import { h, replace } from "../page/dom.js";

/** @param {Schemas["Gate"] | null} gate @param {() => void} cancel */
export function gateForm(gate, cancel) {
  const dataset = h("select", { "data-pointer": "/dataset_id" });
  const clicks = clickRules(gate);
  const form = h("form.form", { novalidate: true }, [
    h("div.summary", { hidden: true }),
    ...judgmentRules(gate, dataset),
    clicks.node,
    h("div.actions", [
      h("button.primary.small", { type: "submit" }, "Set gate"),
      h("button.quiet.small", { click: cancel }, "Cancel"),
    ]),
  ]);
  bindChoices(form);
  return { form, dataset, offerClicks: clicks.offer };
}

/**
 * Return the request of a form; without a dataset, it has no metric, segment limit and baselines, and without standard
 * errors, the examination is exact.
 * @param {HTMLFormElement} form
 */
export function gatePayload(form) {
  const { counterfactual, ...payload } = /** @type {Record<string, any>} */ (payloadOf(form));
  if (counterfactual) {
    const { examination_errors: errors, ...rule } = counterfactual;
    payload.counterfactual = errors?.length ? counterfactual : rule;
  }
  if (payload.dataset_id) return payload;
  const { metric, max_slice_drop, better_than_baselines, ...rest } = payload;
  return rest;
}

/** @param {Schemas["Gate"] | null} gate @param {HTMLSelectElement} dataset */
function judgmentRules(gate, dataset) {
  return [
    h("div.grid", [
      field("Compared on the queries of", dataset),
      field("Metric", text("/metric", gate?.metric ?? "ndcg@10")),
      field(
        "A version must be",
        select("/require", gate?.require, [
          ["not_worse", "not significantly worse"],
          ["better", "significantly better"],
        ]),
      ),
      field("p-value below", text("/p", gate?.p ?? 0.05, "number"), "shows a difference"),
      field(
        "Largest drop in a segment",
        text("/max_slice_drop", gate?.max_slice_drop ?? "", "number"),
        "no limit unless given",
      ),
    ]),
    check("/better_than_baselines", gate?.better_than_baselines, "Also significantly better than the baselines"),
  ];
}

/** Return the rules on clicks, and a function that offers their data. @param {Schemas["Gate"] | null} gate */
function clickRules(gate) {
  const rule = gate?.counterfactual ?? null;
  const log = h("select", { "data-pointer": "/counterfactual/click_log_id" });
  const features = h("select", { "data-pointer": "/counterfactual/dataset_id" });
  const normalised = check("/counterfactual/normalised", rule?.normalised, "Divide by the mean weight");
  normalised.dataset.when = NORMALISED_WHEN;
  const estimation = h("fieldset.inner", [
    h("legend", "Estimate from the click log"),
    ...estimationFields(rule, features),
    normalised,
  ]);
  const showEstimation = () => {
    estimation.hidden = estimation.disabled = !log.value;
  };
  log.addEventListener("change", showEstimation);
  showEstimation();
  const node = h("details.more", { open: Boolean(rule || gate?.interleaving) }, [
    h("summary", "Clicks of users"),
    h("div.grid", [
      field(
        "Interleaving",
        select("/interleaving", gate?.interleaving ?? "", [
          ["", "no condition"],
          ["better", "must show that users prefer the new version"],
          ["not_worse", "must not show that users prefer the current version"],
        ]),
      ),
      field("Estimated on the click log", log),
    ]),
    estimation,
  ]);
  return { node, offer };

  async function offer() {
    const { items } = await get("/v1/click-logs?status=ready&limit=200");
    if (rule && !items.some(({ id }) => id === rule.click_log_id))
      items.push(await get(clickLogApi(rule.click_log_id)));
    replace(log, [
      h("option", { value: "" }, items.length ? "None" : "There is no click log yet"),
      ...items.map(({ id, name }) => h("option", { value: id, selected: id === rule?.click_log_id }, name)),
    ]);
    await offerReadyUnselected([features], rule?.dataset_id ?? null);
    if (rule) features.value = rule.dataset_id;
    log.dispatchEvent(new Event("change", { bubbles: true })); // shows the fields of the estimator, too
  }
}

/** @param {NonNullable<Schemas["Gate"]["counterfactual"]> | null} rule @param {HTMLSelectElement} features */
function estimationFields(rule, features) {
  const examination = field(
    "Examination by rank",
    text("/counterfactual/examination", rule?.examination?.join(" ") ?? "", "numbers"),
    "probabilities from rank 1, such as 1 0.6 0.5",
  );
  const errors = field(
    "Standard errors",
    text("/counterfactual/examination_errors", rule?.examination_errors?.join(" ") ?? "", "numbers"),
    "of ln examination, from rank 1; empty if it is exact",
  );
  for (const each of [examination, errors]) each.dataset.when = "estimator=examination";
  const estimator = h(
    "select",
    { name: "estimator", "data-pointer": "/counterfactual/estimator" },
    estimatorOptions(rule?.estimator ?? "item_position"),
  );
  return [
    h("div.row", field("Dataset with the features", features), field("Estimator", estimator)),
    h("div.grid", [
      field(
        "Metric",
        text("/counterfactual/metric", rule?.metric ?? "dcg@10"),
        "dcg@k, precision@k, rbp@k or clicks@k",
      ),
      examination,
      errors,
      field("Largest weight", text("/counterfactual/clip", rule?.clip ?? "", "number"), "no limit unless given"),
      field(
        "Non-inferiority margin",
        text("/counterfactual/margin", rule?.margin ?? 0, "number"),
        "0: must be significantly better",
      ),
    ]),
  ];
}

/** @param {string} pointer @param {string | number} value @param {string} [type] */
const text = (pointer, value, type) => textInput({ "data-pointer": pointer, "data-type": type, value: value ?? "" });

/** @param {string} pointer @param {string | undefined} chosen @param {string[][]} options */
function select(pointer, chosen, options) {
  const all = options.map(([value, words]) => h("option", { value, selected: value === chosen }, words));
  return h("select", { "data-pointer": pointer }, ...all);
}

/** @param {string} pointer @param {boolean | undefined} checked @param {string} words */
const check = (pointer, checked, words) => checkBox({ "data-pointer": pointer, checked: checked ?? false }, words);
