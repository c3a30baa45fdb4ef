/** The form of a gate: a comparison on judgments, an estimate from a click log, an interleaving. @module */
import { estimatorOptions } from "../clicks/estimators.js";
import { offerReadyUnselected } from "../forms/choices.js";
import { fillControls } from "../forms/earlier.js";
import { bindChoices, payloadOf } from "../forms/forms.js";
import { get } from "../page/api.js";
import { clickLogApi } from "../page/paths.js";
import { elementById, find, h, replace } from "../page/dom.js";

/** Return the form of the page's template with the values of a gate. @param {Schemas["Gate"] | null} gate @param {() => void} cancel */
export function gateForm(gate, cancel) {
  const template = elementById("gate-form", HTMLTemplateElement);
  const form = document.importNode(find(template.content, "form", HTMLFormElement), true);
  const select = (/** @type {string} */ pointer) => find(form, `[data-pointer="${pointer}"]`, HTMLSelectElement);
  const log = select("/counterfactual/click_log_id");
  const rule = gate?.counterfactual ?? null;
  const estimation = find(form, "fieldset", HTMLFieldSetElement);
  const showEstimation = () => {
    estimation.hidden = estimation.disabled = !log.value;
  };
  log.addEventListener("change", showEstimation);
  showEstimation();
  replace(select("/counterfactual/estimator"), ...estimatorOptions("item_position"));
  // Fields that are null in the gate keep the values of the template.
  if (gate) fillControls(form, JSON.parse(JSON.stringify(gate, (_, value) => value ?? undefined)));
  find(form, "details", HTMLDetailsElement).open = Boolean(rule || gate?.interleaving);
  find(form, "button.quiet").addEventListener("click", cancel);
  bindChoices(form);
  return { form, dataset: select("/dataset_id"), offerClicks };

  async function offerClicks() {
    const { items } = await get("/v1/click-logs?status=ready&limit=200");
    if (rule && !items.some(({ id }) => id === rule.click_log_id))
      items.push(await get(clickLogApi(rule.click_log_id)));
    replace(log, [
      h("option", { value: "" }, items.length ? "None" : "There is no click log yet"),
      ...items.map(({ id, name }) => h("option", { value: id, selected: id === rule?.click_log_id }, name)),
    ]);
    const features = select("/counterfactual/dataset_id");
    await offerReadyUnselected([features], rule?.dataset_id ?? null);
    if (rule) features.value = rule.dataset_id;
    log.dispatchEvent(new Event("change", { bubbles: true })); // shows the fields of the estimator, too
  }
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
