/** Gates of aliases: their form, and promotion through them. @module */
import { datasetName } from "../datasets/dataset.js";
import { offerEvaluationDatasets, offerDatasetsWithPlaceholder } from "../forms/choices.js";
import { onSubmit, bindChoices, payloadOf } from "../forms/forms.js";
import { succeededJob } from "../jobs/actions.js";
import { offerUndo } from "../lifecycle/undo.js";
import { clickLogPage, datasetPage, modelApi, clickLogApi } from "../page/paths.js";
import { get, request } from "../page/api.js";
import { actionButton } from "../page/actions.js";
import { failureBox, loadInto } from "../page/content.js";
import { announce, find, h, replace, elementById } from "../page/dom.js";
import { confirmed } from "../page/parts.js";
import { short } from "../page/format.js";
import { estimatorOptions } from "../clicks/counterfactual.js";
import { fillControls } from "../forms/earlier.js";

/**
 * @template {string} [Below=""] @param {string} name @param {string} alias
 * @param {Below} [below] the rest of the path, such as `/gate`
 */
export function aliasApi(name, alias, below) {
  const path = `/aliases/${encodeURIComponent(alias)}${below ?? ""}`;
  return modelApi(name, /** @type {`/aliases/${string}${Below}`} */ (path));
}

/**
 * Point an alias at a version. Where the alias has a gate, follow the job that checks the version first.
 * @param {{name: string, version: number}} model @param {string} alias
 * @param {HTMLElement} container shows the job, and the reason where the gate refuses
 * @returns {Promise<boolean>} whether the alias has moved
 */
export async function setAlias({ name, version }, alias, container) {
  const { status, body } = await request(aliasApi(name, alias), { method: "PUT", json: { version } });
  if (status === 202 && !(await succeededJob(container, body))) return false;
  announce(`${name}@${alias} is version ${version}.`);
  return true;
}

/** Show the gate of an alias, with the form that changes it. @param {string} name @param {{alias: string, gated: boolean}} assignment */
export function gatePanel(name, { alias, gated }) {
  const path = aliasApi(name, alias, "/gate");
  const node = h("div.gate");
  /** @param {string} words @param {() => void} click */
  const button = (words, click) => h("button.quiet.small", { click, needs: "write" }, words);
  if (gated) loadInto(node, async () => gateContents(await get(path)));
  else show(null);
  return node;

  /** @param {Schemas["Gate"] | null} gate */
  function show(gate) {
    replace(node, ...gateContents(gate));
  }

  /** @param {Schemas["Gate"] | null} gate */
  function gateContents(gate) {
    if (!gate)
      return [
        h("p", h("strong", "No gate: "), "the alias moves to any version immediately."),
        h("div.actions", [button("Set a gate", () => edit(null))]),
      ];
    return [
      h("p", h("strong", "Gate: "), ...ruleLabel(gate)),
      h("div.actions", [
        button("Edit gate", () => edit(gate)),
        actionButton("Delete gate", "quiet small danger", () => remove(gate), showRefusal, { needs: "write" }),
      ]),
    ];
  }

  /** @param {unknown} error @param {() => void} retry */
  function showRefusal(error, retry) {
    node.querySelector(":scope > .problem")?.remove();
    node.append(failureBox(error, retry));
  }

  /** @param {Schemas["Gate"]} gate */
  async function remove(gate) {
    const sure = await confirmed(`Delete the gate of ${name}@${alias}?`, "Delete", [
      "The alias then moves to any version immediately.",
    ]);
    if (!sure) return;
    await request(path, { method: "DELETE" });
    const { name: _name, alias: _alias, key_id: _key, updated_at: _at, contract, ...rule } = gate;
    offerUndo({
      words: "The gate was deleted.",
      ids: [],
      create: () => recreate({ ...rule, contract: conventions(contract) }),
    });
    show(null);
  }

  /** @param {object} rule of the deleted gate */
  async function recreate(rule) {
    show((await request(path, { method: "PUT", json: rule })).body);
    return "Restored.";
  }

  /** @param {Schemas["Gate"] | null} gate */
  async function edit(gate) {
    const { form, dataset, offerClicks } = gateForm(gate, () => show(gate));
    replace(node, form);
    const offered = offerDatasets();
    onSubmit(form, async () => {
      // Before the datasets and click logs are offered, or if they cannot be read, the form has none to send.
      await offered;
      // Keep the settings that the form does not show.
      const hiddenSettings = gate
        ? {
            min_slice_queries: gate.min_slice_queries,
            contract: conventions(gate.contract),
            label_map: gate.label_map,
            permutations: gate.permutations,
            seed: gate.seed,
          }
        : {};
      show((await request(path, { method: "PUT", json: { ...hiddenSettings, ...gatePayload(form) } })).body);
      announce("The gate was set.");
    });
    try {
      await offered;
      dataset.focus();
    } catch (error) {
      form.prepend(failureBox(error, () => edit(gate)));
      find(form, 'button[type="submit"]', HTMLButtonElement).disabled = true;
    }

    async function offerDatasets() {
      const offer = offerEvaluationDatasets(dataset, gate?.dataset_id);
      // If the alias does not exist yet, offer the datasets that suit the latest version.
      await offer([(await aliasExists(name, alias)) ? `${name}@${alias}` : name]);
      // Keep the dataset of the gate even if it does not suit the version; propose none for a gate without judgments.
      if (gate) dataset.value = gate.dataset_id ?? "";
      await offerClicks();
    }
  }
}

/** @param {string} name @param {string} alias */
async function aliasExists(name, alias) {
  const { items } = await get(modelApi(name, "/aliases"));
  return items.some((each) => each.alias === alias);
}

/** Return the name of the preset that a contract equals, else its conventions. @param {Contract} contract */
const conventions = ({ preset, ...all }) => preset || all;

/** @param {Schemas["Gate"]} gate */
function ruleLabel(gate) {
  const { require, metric, dataset_id: dataset, p, max_slice_drop: drop, min_slice_queries: fewest } = gate;
  const clicks = [...estimateLabel(gate), gate.interleaving && usersLabel(gate.interleaving)].filter(Boolean);
  if (!dataset) return clicks;
  return [
    `a new version must be ${require === "better" ? "significantly better" : "not significantly worse"} by ${metric} than the current version, on `,
    h("a", { href: datasetPage(dataset) }, datasetName(dataset)),
    `, at p < ${short(p)}`,
    drop === null ? "." : `; no segment of ${short(fewest)} queries or more may lose more than ${short(drop)}.`,
    gate.better_than_baselines && " It must also be significantly better than the baselines.",
    ...clicks,
  ];
}

/** @param {"better" | "not_worse"} wanted */
function usersLabel(wanted) {
  const condition = wanted === "better" ? "show that users prefer" : "not show that users prefer";
  return ` An interleaving must ${condition} the ${wanted === "better" ? "new version" : "current version"}.`;
}

/** @param {Schemas["Gate"]} gate @returns {Child[]} */
function estimateLabel({ counterfactual: rule }) {
  if (!rule) return [];
  return [
    ` By ${rule.metric}, estimated from `,
    h("a", { href: clickLogPage(rule.click_log_id) }, "a click log"),
    rule.margin ? `, it must not lose ${short(rule.margin)} or more.` : ", it must be significantly better.",
  ];
}

/** Return the form of the page's template with the values of a gate. @param {Schemas["Gate"] | null} gate @param {() => void} cancel */
function gateForm(gate, cancel) {
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
    await offerDatasetsWithPlaceholder([features], rule?.dataset_id ?? null);
    if (rule) features.value = rule.dataset_id;
    log.dispatchEvent(new Event("change", { bubbles: true })); // shows the fields of the estimator, too
  }
}

/**
 * Return the request of a form; without a dataset, it has no metric, segment limit and baselines, and without standard
 * errors, the examination is exact.
 * @param {HTMLFormElement} form
 */
function gatePayload(form) {
  const { counterfactual, ...payload } = /** @type {Record<string, any>} */ (payloadOf(form));
  if (counterfactual) {
    const { examination_errors: errors, ...rule } = counterfactual;
    payload.counterfactual = errors?.length ? counterfactual : rule;
  }
  if (payload.dataset_id) return payload;
  const { metric, max_slice_drop, better_than_baselines, ...rest } = payload;
  return rest;
}
