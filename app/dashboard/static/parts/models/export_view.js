/**
 * A model in the form that another engine reads: the format and its options, the proof, and then the files.
 * @module
 */
import { get, request } from "../page/api.js";
import { keep, kept } from "../page/address.js";
import { modelApi } from "../page/addresses.js";
import { offerReady } from "../forms/dataset_select.js";
import { h, replace } from "../page/dom.js";
import { optionFields } from "./export_fields.js";
import { onSubmit, payloadOf } from "../forms/forms.js";
import { parityReport } from "./parity_report.js";
import { saved } from "../page/saved_file.js";

/** @param {any} model @returns {Promise<Node[]>} */
export async function exportView(model) {
  const { items: formats } = await get("/v1/export-formats");
  const format = /** @type {HTMLSelectElement} */ (h("select", { "data-pointer": "/format" }, ...formats.map(({ name, reader }) => h("option", { value: name }, `${name}: ${reader}`))));
  const dataset = /** @type {HTMLSelectElement} */ (h("select", { "data-pointer": "/dataset_id" }));
  const words = h("div", { class: "export-words" });
  const options = h("div", { class: "grid" });
  const report = h("div", { "aria-live": "polite" });
  const form = /** @type {HTMLFormElement} */ (
    h(
      "form",
      { class: "panel form", novalidate: true },
      h("h2", {}, "Export"),
      h("p", { class: "hint" }, "What is written is read back and evaluated as the engine does, over judged documents and over the neighbours of every threshold, before you have it."),
      h("div", { class: "summary", hidden: true }),
      h("div", { class: "row" }, h("label", { class: "field" }, "Format", format), h("label", { class: "field" }, "Held against the model over ", dataset)),
      words,
      options,
      h("div", { class: "actions" }, h("button", { type: "submit", class: "primary" }, "Export and compare")),
    )
  );

  function choose() {
    const chosen = formats.find(({ name }) => name === format.value);
    replace(words, h("p", {}, chosen.summary, "."), chosen.limits.length > 0 && limits(chosen));
    replace(options, ...optionFields(chosen.options, model.feature_names));
    options.hidden = !chosen.options.length;
    replace(report);
  }

  onSubmit(form, async () => {
    replace(report, h("div", { class: "skeleton chart" }));
    const asked = payloadOf(form);
    try {
      const found = (await request(modelApi(model.id, "/export/parity"), { method: "POST", json: asked })).body;
      replace(report, parityReport(found, formats.find(({ name }) => name === asked.format), downloads(model, asked)));
    } catch (error) {
      replace(report);
      throw error;
    }
  });
  format.addEventListener("change", () => {
    keep({ format: format.value });
    choose();
  });
  if (formats.some(({ name }) => name === kept("format"))) format.value = kept("format");
  choose();
  await offerReady([dataset], null);
  dataset.prepend(h("option", { value: "", selected: true }, "its own test data, else training data"));
  return [form, report];
}

function limits({ limits: all }) {
  return h("details", { class: "more" }, h("summary", {}, "Limits of the format"), h("ul", { class: "hint" }, ...all.map((words) => h("li", {}, words))));
}

/** Names of features are too many for an address: the files come by POST. */
function downloads(model, asked) {
  const { dataset_id: dataset, ...withoutData } = asked;
  const file = (below, json) => saved(modelApi(model.id, `/export${below}`), json);
  return { file: () => file("", withoutData), archive: () => file("/archive", asked) };
}
