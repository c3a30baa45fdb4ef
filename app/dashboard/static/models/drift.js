/** Drift of a model: its reports, and the form that checks the scored samples for drift. @module */
import { field, textInput } from "../forms/controls.js";
import { pagedTable } from "../tables/table.js";
import { onSubmit, payloadOf } from "../forms/forms.js";
import { succeededJob } from "../jobs/actions.js";
import { driftPage } from "../page/paths.js";
import { creator } from "../page/api.js";
import { h, replace } from "../page/dom.js";
import { hint, numberHeads, statusBadge } from "../page/parts.js";
import { count, timeElement } from "../page/format.js";

const PAGE_SIZE = 20;
/** @type {Record<Schemas["DriftReportEntry"]["verdict"], [status: string, words: string]>} */
export const VERDICTS = {
  drift: ["failed", "drift"],
  none: ["succeeded", "no drift"],
  too_few: ["cancelled", "too few samples"],
};

/** @param {Schemas["Model"]} model @returns {Promise<Child[]>} */
export async function driftView(model) {
  const list = h("div.rows");
  const refresh = () => {
    const heads = ["Checked", "Verdict", "Finding", numberHeads("Documents"), "Since"];
    const query = new URLSearchParams({ model: model.id, limit: String(PAGE_SIZE) });
    replace(list, ...pagedTable("Drift reports", heads, `/v1/drift-reports?${query}`, cells, "No drift report yet."));
  };
  refresh();
  return [h("section.panel", h("h2", "Drift reports"), list), driftForm(model, refresh)];
}

/** @param {Schemas["DriftReportEntry"]} report @returns {Content} */
function cells({ id, created_at: at, verdict, sentence, documents, since }) {
  const [status, words] = VERDICTS[verdict];
  return [
    { "data-report": id },
    h("a", { href: driftPage(id) }, timeElement(at)),
    statusBadge(status, words),
    h("span.wrap", sentence),
    count(documents),
    timeElement(since),
  ];
}

/** @param {Schemas["Model"]} model @param {() => void} done */
function driftForm(model, done) {
  const container = h("div", { hidden: true });
  const create = creator();
  const days = textInput({ inputmode: "numeric", "data-pointer": "/days", "data-type": "number", placeholder: "7" });
  const form = h("form.form", { novalidate: true }, [
    hint(
      "Compares features and scores of the sampled scoring requests with the training data, and with the days before.",
    ),
    h("div.summary", { hidden: true }),
    field("Days of samples", days),
    h("div.actions", h("button.primary", { type: "submit" }, "Look for drift")),
  ]);
  onSubmit(form, async () => {
    const job = await create("/v1/jobs", { kind: "drift", model: model.id, ...payloadOf(form) });
    await succeededJob(container, job);
    done();
  });
  return h("section.panel", h("h2", "Look for drift"), form, container);
}
