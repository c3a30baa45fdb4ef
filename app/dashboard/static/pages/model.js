/**
 * `/models/{ref}`: one version of a model in several views: #view=aliases. The address keeps what is looked at
 * in each of them: #view=inside&by=permutation&inspection=ins_…&feature=bm25&tree=7.
 * @module
 */
import { get, Problem } from "../parts/page/api.js";
import { kept, subject } from "../parts/page/address.js";
import { aboutView } from "../parts/models/about_view.js";
import { modelApi, modelPage } from "../parts/page/addresses.js";
import { h, replace, setAttribute } from "../parts/page/dom.js";
import { failureBox, loaded } from "../parts/page/loaded.js";
import { showMissing } from "../parts/page/missing_page.js";
import { modelHead } from "../parts/models/model_head.js";
import { modelTicks } from "../parts/models/model_ticks.js";
import { versionTable } from "../parts/models/version_table.js";

// What a view is made of is fetched when it is first looked at.
const VIEWS = [
  { name: "about", label: "About", fill: aboutView },
  { name: "versions", label: "Versions", fill: versionsView },
  { name: "aliases", label: "Aliases", fill: async (model) => (await import("../parts/models/aliases_view.js")).aliasesView(model) },
  { name: "inside", label: "Feature importance", fill: async (model, view) => (await import("../parts/models/inside_view.js")).insideView(model, view) },
  { name: "exports", label: "Exports", fill: async (model) => (await import("../parts/models/export_view.js")).exportView(model) },
  { name: "try", label: "Try it", fill: async (model) => (await import("../parts/models/try_view.js")).tryView(model) },
];
// Where inspections were shown before there were views.
const INSIDE = ["by", "inspection", "feature", "tree"];

const ref = subject();
const place = document.getElementById("model");
const views = document.getElementById("views");
const filled = new Set();

open();

async function open() {
  try {
    const model = await get(modelApi(ref));
    document.title = `${model.name}:${model.version} · Rankery`;
    replace(place, ...modelHead(model));
    replace(views, ...VIEWS.map(({ name, label }) => h("a", { href: `#view=${name}`, "data-view": name }, label)));
    views.hidden = false;
    addEventListener("hashchange", () => show(model));
    show(model);
  } catch (error) {
    if (error instanceof Problem && error.status < 500) {
      showMissing(place, error, { title: "There is no such model", sentence: `No model goes by ${ref}.`, href: "/models", action: "All models" });
    } else replace(place, failureBox(error, open));
  } finally {
    place.removeAttribute("aria-busy");
  }
}

/** Fills a view when it is first looked at. */
function show(model) {
  const asked = kept("view") || (INSIDE.some(kept) ? "inside" : "");
  const current = VIEWS.find(({ name }) => name === asked) || VIEWS[0];
  for (const link of views.children) setAttribute(link, "aria-current", link.dataset.view === current.name && "page");
  views.querySelector("[aria-current]").scrollIntoView({ block: "nearest", inline: "nearest" });
  for (const { name } of VIEWS) document.getElementById(name).hidden = name !== current.name;
  if (filled.has(current.name)) return;
  filled.add(current.name);
  const view = document.getElementById(current.name);
  if (view.hasChildNodes()) current.fill(model, view);
  else loaded(view, () => current.fill(model));
}

async function versionsView({ id, name }) {
  const link = /** @type {HTMLAnchorElement} */ (h("a", { class: "button", role: "link", "aria-disabled": "true", title: "Tick two or more models" }, "Compare"));
  const box = modelTicks(link);
  const tick = (model) => box(`${name}:${model.version}`, model.created_at);
  const head = h("div", { class: "panel-head" }, h("h2", {}, `Versions of ${name}`), h("div", { class: "actions" }, link, h("a", { class: "button quiet", href: modelPage(name) }, "Latest")));
  return [h("section", { class: "panel" }, head, versionTable(name, { tick, current: id }))];
}
