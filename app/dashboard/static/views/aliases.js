/**
 * `/aliases`: the models that an alias points at, by name, with metrics and links to try and to promote them. @module
 */
import { showOnly } from "../page/content.js";
import { modelPage } from "../page/paths.js";
import { get, Problem } from "../page/api.js";
import { changeDetector, elementById, h } from "../page/dom.js";
import { dataTable, emptyState, hint, problemBox } from "../page/parts.js";
import { metric, timeElement } from "../page/format.js";
import { poll } from "../page/poll.js";

const TYPING_MILLISECONDS = 200;
const LIMIT = 50;

const field = elementById("alias", HTMLInputElement);
const container = elementById("aliases");
field.value = new URLSearchParams(location.search).get("alias") ?? field.value;
const hasChanged = changeDetector();
let typing = 0;

const pollNow = poll(refresh, (problem) => showOnly(container, problemBox(problem)));
elementById("filters").addEventListener("submit", (event) => event.preventDefault());
field.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(applyFilter, TYPING_MILLISECONDS);
});

function applyFilter() {
  const alias = field.value.trim();
  history.replaceState(null, "", `${location.pathname}${alias ? `?${new URLSearchParams({ alias })}` : ""}`);
  pollNow();
}

function wantedAlias() {
  return field.value.trim() || "champion";
}

async function refresh() {
  let alias;
  let answer;
  // Read again if the field changed while the request was pending.
  do {
    alias = wantedAlias();
    answer = await read(alias);
  } while (alias !== wantedAlias());
  if (!hasChanged([alias, answer instanceof Problem ? answer.message : answer])) return false;
  if (answer instanceof Problem) showOnly(container, problemBox(answer));
  else showOnly(container, answer.length ? table(answer) : emptyTable(alias));
  return false;
}

/** Return the targets of an alias, or the refusal of an invalid alias, which the user can correct. @param {string} alias */
async function read(alias) {
  const query = new URLSearchParams({ alias, limit: `${LIMIT}` });
  try {
    return (await get(`/v1/aliases?${query}`)).items;
  } catch (error) {
    if (error instanceof Problem && error.status === 422) return error;
    throw error;
  }
}

/** @param {string} alias */
function emptyTable(alias) {
  const words = "Set it for the version in use, on the page of a model.";
  return emptyState(`No model has the alias ${alias}`, words, "/models", "Choose a model");
}

/** @param {Schemas["AliasedModel"][]} items */
function table(items) {
  const heads = ["Model", "Alias", "Metric", "Gate", "Since", "Next step"];
  return h("div.panel.list-panel", { "data-wide": true }, [
    dataTable("Aliases", heads, items, cells, { class: "list" }),
    items.length === LIMIT && hint(`Only the ${LIMIT} models whose alias moved last are shown.`),
  ]);
}

/** @param {Schemas["AliasedModel"]} aliased */
function cells({ name, version, alias, gated, metrics, updated_at: moved }) {
  const page = modelPage(`${name}:${version}`);
  const [main] = Object.entries(metrics ?? {});
  return [
    h("a.name", { href: page }, `${name}:${version}`),
    h("a.quiet-link", { href: `${page}#view=aliases` }, `${name}@${alias}`),
    main ? [h("strong", metric(main[1])), h("small", ` ${main[0]} test`)] : h("span.missing", "not tested"),
    gated ? "set" : "none",
    timeElement(moved),
    h("a", { href: `${page}#view=try`, "aria-label": `Try ${name}:${version}` }, "Try it"),
  ];
}
