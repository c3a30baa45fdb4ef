/**
 * `/models/{ref}`: one version of a model, and what it looks at. The address keeps what is looked at:
 * #by=permutation&inspection=ins_…&feature=bm25&tree=7.
 * @module
 */
import { get, Problem } from "../parts/api.js";
import { decoded, modelApi } from "../parts/addresses.js";
import { dependencePanel } from "../parts/dependence_panel.js";
import { replace } from "../parts/dom.js";
import { importancePanel } from "../parts/importance_panel.js";
import { inspectionForm } from "../parts/inspection_form.js";
import { failureBox } from "../parts/loaded.js";
import { showMissing } from "../parts/missing_page.js";
import { modelHead } from "../parts/model_head.js";
import { treePanel } from "../parts/tree_panel.js";

const ref = decoded(location.pathname.split("/")[2]);
const place = document.getElementById("model");
const inside = document.getElementById("inside");
const panel = (id) => document.getElementById(id);

open();

async function open() {
  try {
    await draw(await get(modelApi(ref)));
  } catch (error) {
    inside.hidden = true;
    if (error instanceof Problem && error.status < 500) {
      showMissing(place, error, { title: "There is no such model", sentence: `No model goes by ${ref}.`, href: "/models", action: "All models" });
    } else replace(place, failureBox(error, open));
  } finally {
    place.removeAttribute("aria-busy");
  }
}

async function draw(model) {
  const [importance, { items }] = await Promise.all([get(modelApi(model.id, "/importance")), get(modelApi(model.id, "/inspections"))]);
  const asked = new URLSearchParams(location.hash.slice(1));
  document.title = `${model.name}:${model.version} · Rankery`;
  replace(place, ...modelHead(model, importance));
  inside.hidden = false;
  const importances = importancePanel(panel("importance"), importance, { by: asked.get("by"), choose, told: remember });
  const dependence = dependencePanel(panel("dependence"), asked.get("feature"), remember);
  treePanel(panel("trees"), model.id, importance.trees, asked.get("tree"), remember);
  inspectionForm(model, (id) => show(id, true));
  if (items.length) show(items.some(({ id }) => id === asked.get("inspection")) ? asked.get("inspection") : items[0].id, false);

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

/** Keeps in the address what is looked at, without a step in the history. @param {Record<string, string | number>} changed */
function remember(changed) {
  const kept = new URLSearchParams(location.hash.slice(1));
  for (const [name, value] of Object.entries(changed)) kept.set(name, value);
  history.replaceState(null, "", `#${kept}`);
}
