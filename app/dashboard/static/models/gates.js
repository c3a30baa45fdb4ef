/**
 * Gates of aliases, and promotion through them.
 * @module
 */
import { datasetName } from "../datasets/dataset.js";
import { measuredOn } from "../forms/choices.js";
import { onSubmit, payloadOf } from "../forms/forms.js";
import { followJob, unfinished } from "../jobs/actions.js";
import { datasetPage, modelApi } from "../page/addresses.js";
import { get, request } from "../page/api.js";
import { failureBox, loaded } from "../page/content.js";
import { announce, confirmed, h, replace } from "../page/dom.js";
import { short } from "../page/format.js";

/**
 * @template {string} [Below=""]
 * @param {string} name
 * @param {string} alias
 * @param {Below} [below] the rest of the path, such as `/gate`
 */
export function aliasApi(name, alias, below) {
  const path = `/aliases/${encodeURIComponent(alias)}${below ?? ""}`;
  return modelApi(name, /** @type {`/aliases/${string}${Below}`} */ (path));
}

/**
 * @param {{name: string, version: number}} model
 * @param {string} alias
 * @param {HTMLElement} place of the job, and of the reason where the gate refuses
 * @returns {Promise<boolean>} whether the alias has moved
 */
export async function setAlias({ name, version }, alias, place) {
  const { status, body } = await request(aliasApi(name, alias), { method: "PUT", json: { version } });
  if (status === 202) {
    const job = await followJob(place, body);
    replace(place, unfinished(job));
    if (job.status !== "succeeded") return false;
  }
  announce(`${name}@${alias} is version ${version}.`);
  return true;
}

/** @param {string} name @param {{alias: string, gated: boolean}} of */
export function gatePanel(name, { alias, gated }) {
  const path = aliasApi(name, alias, "/gate");
  const node = h("div", { class: "gate" });
  /** @param {string} words @param {() => void} click @param {string} [kind] */
  const button = (words, click, kind = "quiet small") => h("button", { type: "button", class: kind, click }, words);
  if (gated) loaded(node, async () => shown(await get(path)));
  else show(null);
  return node;

  /** @param {Schemas["Gate"] | null} gate */
  function show(gate) {
    replace(node, ...shown(gate));
  }

  /** @param {Schemas["Gate"] | null} gate */
  function shown(gate) {
    if (!gate)
      return [
        h("p", {}, h("strong", {}, "No gate: "), "it moves to any version immediately."),
        h(
          "div",
          { class: "actions" },
          button("Set a gate", () => edit(null)),
        ),
      ];
    return [
      h("p", {}, h("strong", {}, "Gate: "), ...ruleLabel(gate)),
      h(
        "div",
        { class: "actions" },
        button("Edit gate", () => edit(gate)),
        button(
          "Delete gate",
          () => remove().catch((error) => node.append(failureBox(error, () => show(gate)))),
          "quiet small danger",
        ),
      ),
    ];
  }

  async function remove() {
    const words = {
      question: `Delete the gate of ${name}@${alias}?`,
      consequence: "The alias then moves to any version immediately.",
      yes: "Delete",
      no: "Keep it",
    };
    if (!(await confirmed(words))) return;
    await request(path, { method: "DELETE" });
    announce("The gate was deleted.");
    show(null);
  }

  /** @param {Schemas["Gate"] | null} gate */
  async function edit(gate) {
    const { form, dataset } = gateForm(gate, () => show(gate));
    replace(node, form);
    const offered = offerDatasets().catch((error) => form.prepend(failureBox(error, () => edit(gate))));
    onSubmit(form, async () => {
      // The dataset of the gate is among those that are offered.
      await offered;
      // What the form does not show stays as it was.
      const kept = gate
        ? {
            min_slice_queries: gate.min_slice_queries,
            contract: conventions(gate.contract),
            label_map: gate.label_map,
            permutations: gate.permutations,
            seed: gate.seed,
          }
        : {};
      show((await request(path, { method: "PUT", json: { ...kept, ...payloadOf(form) } })).body);
      announce("The gate was set.");
    });
    await offered;
    dataset.focus();

    async function offerDatasets() {
      const offer = measuredOn(dataset, null, gate?.dataset_id ?? null);
      // While the alias points nowhere, check the gate with the latest version.
      await offer([(await aliasExists(name, alias)) ? `${name}@${alias}` : name]);
    }
  }
}

/** @param {string} name @param {string} alias */
async function aliasExists(name, alias) {
  const { items } = await get(`/v1/models/${encodeURIComponent(name)}/aliases`);
  return items.some((each) => each.alias === alias);
}

/** Return conventions without the name of the preset that they are. @param {Contract} contract */
function conventions({ preset, ...all }) {
  return preset || all;
}

/** @param {Schemas["Gate"]} gate */
function ruleLabel(gate) {
  const { require, metric, dataset_id: dataset, p, max_slice_drop: drop, min_slice_queries: fewest } = gate;
  return [
    `lets a version pass that is ${require === "better" ? "shown to be better" : "not shown to be worse"} by ${metric} than the one it replaces, on `,
    h("a", { href: datasetPage(dataset) }, datasetName(dataset)),
    `, at p < ${short(p)}`,
    drop === null ? "." : `; no part of ${short(fewest)} queries or more may lose more than ${short(drop)}.`,
    gate.better_than_baselines && " It must also be shown to be better than rankings without training.",
  ];
}

/** @param {Schemas["Gate"] | null} gate @param {() => void} cancel */
function gateForm(gate, cancel) {
  const dataset = /** @type {HTMLSelectElement} */ (h("select", { "data-pointer": "/dataset_id" }));
  /** @param {string} pointer @param {string | number} value @param {string} [type] */
  const text = (pointer, value, type) =>
    h("input", {
      type: "text",
      autocomplete: "off",
      spellcheck: "false",
      "data-pointer": pointer,
      "data-type": type,
      value: value ?? "",
    });
  /** @param {string} value @param {string} words */
  const option = (value, words) => h("option", { value, selected: gate?.require === value }, words);
  /** @param {string} words @param {HTMLElement} control @param {string} [hint] */
  const field = (words, control, hint) => h("label", { class: "field" }, words, hint && h("small", {}, hint), control);
  const form = /** @type {HTMLFormElement} */ (
    h(
      "form",
      { class: "form", novalidate: true },
      h("div", { class: "summary", hidden: true }),
      h(
        "div",
        { class: "grid" },
        field("Compared on the queries of", dataset),
        field("Metric", text("/metric", gate?.metric ?? "ndcg@10")),
        field(
          "A version must be",
          h(
            "select",
            { "data-pointer": "/require" },
            option("not_worse", "not shown to be worse"),
            option("better", "shown to be better"),
          ),
        ),
        field("p-value below which a difference is shown", text("/p", gate ? short(gate.p) : "0.05", "number")),
        field(
          "Maximum drop in any segment ",
          text("/max_slice_drop", gate?.max_slice_drop ?? "", "number"),
          "any amount unless given",
        ),
      ),
      h(
        "label",
        { class: "check" },
        h("input", {
          type: "checkbox",
          "data-pointer": "/better_than_baselines",
          checked: gate?.better_than_baselines ?? false,
        }),
        "Also shown to be better than rankings without training",
      ),
      h(
        "div",
        { class: "actions" },
        h("button", { type: "submit", class: "primary small" }, "Set gate"),
        h("button", { type: "button", class: "quiet small", click: cancel }, "Cancel"),
      ),
    )
  );
  return { form, dataset };
}
