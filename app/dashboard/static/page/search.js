/** The search dialog: pages, actions, objects and the guide, by keyboard alone. @module */
import { openPage, OBJECT_PAGES, pagePath } from "./paths.js";
import { apiError, get } from "./api.js";
import { chooseTheme } from "./chosen_theme.js";
import { guideHeadings, guideHits, matches } from "./guide.js";
import { findAll, h, missingScope, replace, setAttribute, setText } from "./dom.js";
import { openShortcuts } from "./shortcuts.js";
import { tablesOfPage } from "../tables/csv.js";

const TYPING_MILLISECONDS = 120;

/** @typedef {{name: string, detail?: string, href?: string, act?: () => unknown}} Choice */

/** The pages of the header's sections, and pages that no section has. @type {Choice[]} */
const PAGES = [
  { name: "Overview", href: "/" },
  ...findAll(document, ".section .menu-items a, .section:not(:has(.menu-items)) > a", HTMLAnchorElement).map(
    (link) => ({ name: link.title || link.textContent, href: pagePath(link) }),
  ),
  { name: "Guide", href: "/guide/" },
  { name: "API reference", href: "/docs" },
];

/** @type {Choice[]} */ const FORMS = [
  { name: "New training", href: "/train" },
  { name: "Train with one loss", href: "/train?goal=loss" },
  { name: "New study", href: "/studies/new" },
  { name: "Run an experiment", href: "/experiments#run" },
  { name: "Add a dataset", href: "/datasets#add" },
  { name: "Upload a click log", href: "/click-logs#add" },
  { name: "Simulate clicks", href: "/click-logs#simulate" },
  { name: "Interleave rankers", href: "/interleavings#create" },
  { name: "Evaluate a model", href: "/evaluations#evaluate" },
  { name: "Compare models", href: "/comparisons#compare" },
  { name: "Import a model", href: "/models#import" },
  { name: "Upload a run", href: "/rankings#run" },
];

/** @type {Choice[]} */ const COMMANDS = [
  { name: "Keyboard shortcuts", act: openShortcuts },
  { name: "Light theme", act: () => chooseTheme("light") },
  { name: "Dark theme", act: () => chooseTheme("dark") },
  { name: "Theme of the system", act: () => chooseTheme("system") },
];

const list = h("div.results", { id: "search-results", role: "listbox", "aria-label": "Results" });
const status = h("p.hint", { role: "status" });
/** @type {HTMLInputElement} */ const field = h("input", {
  type: "search",
  role: "combobox",
  "aria-label": "Search",
  "aria-expanded": "true",
  "aria-controls": "search-results",
  "aria-autocomplete": "list",
  autocomplete: "off",
  spellcheck: "false",
  maxlength: 200,
  placeholder: "Name, id, page or action",
  input: find,
  keydown: onKey,
});
const close = h("button.quiet.small", { click: () => dialog.close() }, "Close");
/** @type {HTMLDialogElement} */ const dialog = h(
  "dialog.search",
  { "aria-label": "Search", click: ({ target }) => target === dialog && dialog.close() },
  [h("div.search-head", field, close), list, status],
);
document.body.append(dialog);

let timer = 0;
/** The number of the last search; answers to earlier ones are dropped. */
let latestRequest = 0;
/** @type {{option: HTMLElement, choose: () => void}[]} */
let options = [];
let active = 0;
/** Whether Enter was pressed before results were shown. */
let entered = false;

/** Open the dialog without a text. */
export function openSearch() {
  if (dialog.open) return;
  field.value = "";
  dialog.showModal();
  field.focus();
  find();
}

/** Show pages and actions immediately, and search by the API when typing pauses. */
function find() {
  const text = field.value.trim();
  const number = ++latestRequest;
  const downloads = tablesOfPage().map(({ name, act }) => ({ name: `Download CSV: ${name}`, act }));
  /** @type {[string, Choice[]][]} */ const local = [
    [
      "Actions",
      [...(missingScope("write") ? [] : FORMS), ...COMMANDS, ...downloads].filter(({ name }) => matches(name, text)),
    ],
    ["Pages", PAGES.filter(({ name }) => matches(name, text))],
  ];
  entered = false;
  active = 0;
  clearTimeout(timer);
  show(text ? local : local.reverse(), text && "Searching…");
  if (text) timer = setTimeout(() => ask(text, number, local), TYPING_MILLISECONDS);
}

/** @param {string} text @param {number} number of the search @param {[string, Choice[]][]} local pages and actions */
async function ask(text, number, local) {
  let groups = local;
  let emptyText = `No results for “${text}”.`;
  try {
    const query = new URLSearchParams({ text, limit: "5" });
    const [{ items }, headings] = await Promise.all([get(`/v1/search?${query.toString()}`), guideHeadings()]);
    groups = [...local, ...grouped(items), ["Guide", guideHits(headings, text)]];
  } catch (error) {
    emptyText = apiError(error).message;
  }
  if (number !== latestRequest) return;
  show(groups, emptyText);
  if (entered && dialog.open) options[0]?.choose();
}

/** @param {Schemas["SearchHit"][]} items @returns {[string, Choice[]][]} */
function grouped(items) {
  return Object.entries(OBJECT_PAGES).map(([kind, page]) => {
    const hits = items.filter((item) => item.kind === kind);
    const list = PAGES.find(({ href }) => `${href}/` === page(""));
    const choices = hits.map(({ id, name, detail }) => ({
      name,
      detail: detail || id,
      href: page(kind === "model" ? name : id),
    }));
    return [list?.name ?? kind, choices];
  });
}

/** @param {[string, Choice[]][]} groups @param {string} emptyText shown without results */
function show(groups, emptyText) {
  const filled = groups.filter(([, choices]) => choices.length);
  options = [];
  replace(list, ...filled.map(([heading, choices], index) => group(heading, choices, `search-group-${index}`)));
  setText(status, options.length ? "" : emptyText);
  status.hidden = options.length > 0;
  activate(active);
}

/** @param {string} heading @param {Choice[]} choices @param {string} id of the heading */
function group(heading, choices, id) {
  return h("div", { role: "group", "aria-labelledby": id }, [
    h("p.hint", { id, role: "presentation" }, heading),
    ...choices.map(option),
  ]);
}

/** @param {Choice} choice */
function option({ name, detail, href, act }) {
  const index = options.length;
  const choose = () => {
    dialog.close();
    if (href) openPage(href);
    else act?.();
  };
  const attributes = {
    id: `search-option-${index}`,
    role: "option",
    click: choose,
    pointermove: () => activate(index),
  };
  const node = h("div", attributes, h("span.name", name), detail && h("small", detail));
  options.push({ option: node, choose });
  return node;
}

/** @param {number} index */
function activate(index) {
  active = index;
  for (const [each, { option: node }] of options.entries()) setAttribute(node, "aria-selected", String(each === index));
  setAttribute(field, "aria-activedescendant", options[index]?.option.id);
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  /** @type {Record<string, number>} */ const steps = { ArrowDown: 1, ArrowUp: -1 };
  if (event.key in steps && options.length) {
    event.preventDefault();
    activate((active + steps[event.key] + options.length) % options.length);
    options[active].option.scrollIntoView({ block: "nearest" });
  } else if (event.key === "Enter") {
    event.preventDefault();
    entered = !options.length;
    options[active]?.choose();
  }
}
