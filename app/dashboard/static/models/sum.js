/** The members of a sum of models, with their weights. @module */
import { modelPage } from "../page/paths.js";
import { h } from "../page/dom.js";
import { dataTable, hint, numberHeads } from "../page/parts.js";
import { short } from "../page/format.js";

/**
 * @typedef {{name: string, weight: number | null, id: string | null}} Member
 *   id: null for a model outside the registry
 */

/**
 * Return the members of a sum. Members that an automatic training made are not in the registry and have no id.
 * @param {Pick<Model, "scorer" | "lineage">} model @returns {Member[]}
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
  return h("section.panel.members", { "aria-labelledby": "members-title" }, [
    h("h2", { id: "members-title" }, "Members"),
    dataTable("Members", ["Model", numberHeads("Weight")], membersOf(model), ({ name, weight, id }) => [
      id ? h("a.name", { href: modelPage(id) }, name) : name,
      short(weight),
    ]),
    hint(
      "The score is the sum of the members' raw scores, each times its weight. Their scales differ, so weights are no shares.",
    ),
  ]);
}
