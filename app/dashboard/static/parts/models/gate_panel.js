/**
 * What an alias asks of a version before it moves to it: shown in words, and edited.
 * @module
 */
import { get, request } from "../page/api.js";
import { datasetPage } from "../page/addresses.js";
import { confirmed } from "../page/confirm.js";
import { chooseDataset, offerReady } from "../forms/dataset_select.js";
import { announce, h, replace } from "../page/dom.js";
import { onSubmit, payloadOf } from "../forms/forms.js";
import { short } from "../page/format.js";
import { failureBox, loaded } from "../page/loaded.js";
import { datasetName } from "../page/names.js";
import { aliasApi } from "./set_alias.js";

/** @param {string} name @param {{alias: string, gated: boolean}} of */
export function gatePanel(name, { alias, gated }) {
  const path = aliasApi(name, alias, "/gate");
  const node = h("div", { class: "gate" });
  const button = (words, click, kind = "quiet small") => h("button", { type: "button", class: kind, click }, words);
  if (gated) loaded(node, async () => shown(await get(path)));
  else show(null);
  return node;

  function show(gate) {
    replace(node, ...shown(gate));
  }

  function shown(gate) {
    if (!gate) return [h("p", {}, h("strong", {}, "No gate: "), "it moves to any version at once."), h("div", { class: "actions" }, button("Set a gate", () => edit(null)))];
    return [
      h("p", {}, h("strong", {}, "Gate: "), ...ruleWords(gate)),
      h("div", { class: "actions" }, button("Edit gate", () => edit(gate)), button("Delete gate", () => remove().catch((error) => node.append(failureBox(error, () => show(gate)))), "quiet small danger")),
    ];
  }

  async function remove() {
    const words = { question: `Delete the gate of ${name}@${alias}?`, consequence: "The alias then moves to any version at once.", yes: "Delete", no: "Keep it" };
    if (!(await confirmed(words))) return;
    await request(path, { method: "DELETE" });
    announce("The gate was deleted.");
    show(null);
  }

  async function edit(gate) {
    const { form, dataset } = gateForm(gate, () => show(gate));
    replace(node, form);
    await offerReady([dataset], gate?.dataset_id ?? null).catch((error) => form.prepend(failureBox(error, () => edit(gate))));
    chooseDataset([dataset], gate?.dataset_id ?? null);
    onSubmit(form, async () => {
      // What the form does not show stays as it was.
      const kept = gate ? { min_slice_queries: gate.min_slice_queries, contract: conventions(gate.contract), label_map: gate.label_map, permutations: gate.permutations, seed: gate.seed } : {};
      show((await request(path, { method: "PUT", json: { ...kept, ...payloadOf(form) } })).body);
      announce("The gate was set.");
    });
    dataset.focus();
  }
}

/** Conventions without the name of the preset that they are. */
function conventions({ preset, ...all }) {
  return preset || all;
}

function ruleWords({ require, metric, dataset_id: dataset, p, max_slice_drop: drop, min_slice_queries: fewest }) {
  return [
    `lets a version pass that is ${require === "better" ? "shown to be better" : "not shown to be worse"} by ${metric} than the one it replaces, on `,
    h("a", { href: datasetPage(dataset) }, datasetName(dataset)),
    `, at p < ${short(p)}`,
    drop === null ? "." : `; no part of ${short(fewest)} queries or more may lose more than ${short(drop)}.`,
  ];
}

function gateForm(gate, cancel) {
  const dataset = /** @type {HTMLSelectElement} */ (h("select", { "data-pointer": "/dataset_id" }));
  const text = (pointer, value, type) => h("input", { type: "text", autocomplete: "off", spellcheck: "false", "data-pointer": pointer, "data-type": type, value: value ?? "" });
  const option = (value, words) => h("option", { value, selected: gate?.require === value }, words);
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
        field("A version must be", h("select", { "data-pointer": "/require" }, option("not_worse", "not shown to be worse"), option("better", "shown to be better"))),
        field("p-value below which a difference is shown", text("/p", gate ? short(gate.p) : "0.05", "number")),
        field("Maximum drop in any segment ", text("/max_slice_drop", gate?.max_slice_drop ?? "", "number"), "any amount unless given"),
      ),
      h("div", { class: "actions" }, h("button", { type: "submit", class: "primary small" }, "Set gate"), h("button", { type: "button", class: "quiet small", click: cancel }, "Cancel")),
    )
  );
  return { form, dataset };
}
