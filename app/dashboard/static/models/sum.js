/** The members of a sum of models, with their weights. @module */
import { modelPage } from "../page/paths.js";
import { h, hint, numberHeads, rowHead, tableHead } from "../page/dom.js";
import { short } from "../page/format.js";

/**
 * @typedef {{name: string, weight: number | null, id: string | null}} Member
 *   id: null for a model outside the registry
 */

/**
 * Return the members of a sum. Members that an automatic training made are not in the registry and have no id.
 *
 * @param {Pick<Model, "scorer" | "lineage">} model
 * @returns {Member[]}
 */
export function membersOf({ scorer, lineage }) {
  const names = Array.isArray(scorer?.models) ? scorer.models.map(String) : [];
  const weights = Array.isArray(scorer?.weights) ? scorer.weights : [];
  return names.map((name, index) => ({
    name,
    weight: typeof weights[index] === "number" ? weights[index] : null,
    id: lineage?.members?.[index]?.id ?? null,
  }));
}

/** @param {Model} model a sum */
export function membersPanel(model) {
  /** @param {Member} member */
  const row = ({ name, weight, id }) =>
    h("tr", rowHead(id ? h("a.name", { href: modelPage(id) }, name) : name), h("td.number", short(weight)));
  return h(
    "section.panel.members",
    { "aria-labelledby": "members-title" },
    h("h2", { id: "members-title" }, "Members"),
    h("table", tableHead("Model", numberHeads("Weight")), h("tbody", ...membersOf(model).map(row))),
    hint(
      "The score is the sum of the members' raw scores, each times its weight. Their scales differ, so weights are no shares.",
    ),
  );
}
