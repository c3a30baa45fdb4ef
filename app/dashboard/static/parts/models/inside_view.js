/**
 * What a model looks at: its features by importance, how its scores follow them, and its trees.
 * @module
 */
import { get } from "../page/api.js";
import { keep, kept } from "../page/address.js";
import { modelApi } from "../page/addresses.js";
import { dependencePanel } from "./dependence_panel.js";
import { h } from "../page/dom.js";
import { importancePanel } from "./importance_panel.js";
import { inspectionForm } from "./inspection_form.js";
import { failureBox } from "../page/loaded.js";
import { treePanel } from "./tree_panel.js";

/** @param {any} model @param {HTMLElement} view holds the frames of the panels */
export async function insideView(model, view) {
  const panel = (id) => document.getElementById(id);
  const remember = (changed) => keep({ view: "inside", ...changed });
  const waiting = h("div", { class: "skeleton chart" });
  view.prepend(waiting);
  let importance;
  let items;
  try {
    [importance, { items }] = await Promise.all([get(modelApi(model.id, "/importance")), get(modelApi(model.id, "/inspections"))]);
    waiting.remove();
  } catch (error) {
    waiting.replaceWith(failureBox(error, () => location.reload()));
    return;
  }
  const importances = importancePanel(panel("importance"), importance, { by: kept("by"), choose, told: remember });
  const dependence = dependencePanel(panel("dependence"), kept("feature"), remember);
  treePanel(panel("trees"), model.id, importance.trees, kept("tree"), remember);
  inspectionForm(model, (id) => show(id, true));
  const asked = kept("inspection");
  if (items.length) show(items.some(({ id }) => id === asked) ? asked : items[0].id, false);

  /** Shows another of the inspections there are. */
  function choose(id) {
    remember({ inspection: id });
    show(id, false);
  }

  /** @param {string} id @param {boolean} fresh whether it has just been made, and is what one wants to see */
  async function show(id, fresh) {
    try {
      const [inspection, page] = await Promise.all([get(`/v1/inspections/${encodeURIComponent(id)}`), get(modelApi(model.id, "/inspections"))]);
      if (fresh) remember({ by: "permutation", inspection: id });
      importances.show(inspection, page.items, fresh);
      dependence.show(inspection);
    } catch (error) {
      dependence.fail(error, () => show(id, fresh));
    }
  }
}
