/** Parts of pages: tables, panels, lists of facts, messages and dialogs. @module */
import { changeDetector, splitContent, h } from "./dom.js";
import { withLabels } from "./format.js";

/**
 * Return a status in its colour.
 * @param {string} status of a job; determines the colour
 * @param {string} [words] displayed text; default: the status
 * @param {string | null} [title] shown on hover
 */
export const statusBadge = (status, words = status, title) => h("span.status", { "data-status": status, title }, words);

/**
 * Return a region with a name, in which wide content scrolls sideways by the arrow keys.
 * @param {string} label @param {...Children} children
 */
export const scrollRegion = (label, ...children) =>
  h("div.scroll", { role: "region", "aria-label": label, tabindex: "0" }, ...children);

/** Return a head of one row; texts become headings, except for empty ones. @param {Heads} cells */
export function tableHead(...cells) {
  const cell = (/** @type {Child} */ content) => (typeof content === "string" ? columnHead(content) : content);
  return h("thead", h("tr", ...cells.flat().map(cell)));
}

/** @param {Children} words @param {Attributes} [attributes] */
export const columnHead = (words, attributes = {}) =>
  words ? h("th", { scope: "col", ...attributes }, words) : h("td", attributes);

/** Return headings of columns of numbers. @param {Child[]} words */
export const numberHeads = (...words) => words.map((each) => columnHead(each, { class: "number" }));

/** @param {...Children} content */
export const rowHead = (...content) => h("th", { scope: "row" }, ...content);

/**
 * Return a table that scrolls sideways, with a row for each item.
 * @template Item @param {string} label @param {Heads} heads @param {Item[]} items
 * @param {(item: Item, index: number) => Content} cells as those of `bodyRows`
 * @param {Attributes} [attributes]
 */
export function dataTable(label, heads, items, cells, attributes = {}) {
  const rows = bodyRows(heads, items, cells);
  return scrollRegion(label, h("table", attributes, tableHead(...heads), h("tbody", ...rows)));
}

/**
 * Return a row for each item, whose first cell is its heading. The others are numbers if their columns are. Elements of
 * cells are kept; those of columns whose heads are absent or false are left out.
 * @template Item @param {Heads} heads @param {Item[]} items
 * @param {(item: Item, index: number) => Content} cells the contents of the cells, which attributes of the row may precede
 */
export function bodyRows(heads, items, cells) {
  const columns = heads.flat();
  /** @param {Children} content @param {number} index */
  const cell = (content, index) => {
    const column = columns[index];
    if (column === undefined || column === null || column === false) return null;
    if (content instanceof HTMLTableCellElement) return content;
    if (index === 0) return rowHead(content);
    return h("td", { class: column instanceof Element && column.matches(".number") && "number" }, content);
  };
  return items.map((item, index) => {
    const [attributes, contents] = splitContent(cells(item, index));
    return h("tr", attributes, ...contents.map(cell));
  });
}

/** Return a section named by its heading. @param {string} heading @param {...Children} children */
export const panel = (heading, ...children) =>
  h("section.panel", { "aria-label": heading }, h("h2", heading), ...children);

/** Return details that are closed at first. @param {Child} summary @param {...Children} children */
export const disclosure = (summary, ...children) => h("details.more", h("summary", summary), ...children);

/** Let Escape and a click elsewhere close a menu. @param {HTMLDetailsElement} menu */
export function closable(menu) {
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary")?.focus();
  });
  menu.addEventListener("toggle", () => menu.open && document.addEventListener("click", close));
  return menu;

  /** @param {Event} event */
  function close({ target }) {
    if (menu.open && target instanceof Node && menu.contains(target)) return;
    menu.open = false;
    document.removeEventListener("click", close);
  }
}

/** Return a menu of files. @param {HTMLElement} files with links */
export const downloadMenu = (files) => closable(h("details.menu", h("summary.button.quiet", "Download"), files));

/** Return a link that downloads a file. @param {string} href @param {string} words @param {string} [name] of the file */
export const fileLink = (href, words, name = "") => h("a", { href, download: name }, words);

/**
 * Return a list of names and values; entries that are false are left out.
 * @param {string} kind class of the list
 * @param {(readonly [name: Child, value: Children] | false | null | undefined | "")[]} facts
 */
export const factList = (kind, facts) =>
  h("dl", { class: kind }, ...facts.map((each) => each && h("div", h("dt", each[0]), h("dd", each[1] ?? "–"))));

/** Return a paragraph that explains, in small grey letters. @param {...Children} words */
export const hint = (...words) => h("p.hint", ...words);

/** Return facts below the heading of a page, separated by dots. @param {...Children} facts */
export function metaLine(...facts) {
  const known = facts.filter(Boolean);
  return h("p.job-meta", ...known.flatMap((fact, index) => [index > 0 && " · ", fact].flat()));
}

/** Return a message that screen readers announce. @param {string} words */
export const alertText = (words) => h("span.error", { role: "alert" }, words);

/**
 * Return a box for a list or page without content, with a link to create some.
 * @param {string} title @param {string} sentence @param {string} [href]
 * @param {string} [action] text of the link
 * @param {string} [needs] scope that the action needs
 */
export const emptyState = (title, sentence, href, action, needs = "read") =>
  h("div.empty", h("h2", title), h("p", sentence), href && h("a.button.primary", { href, needs }, action));

/** Return a box with the title, detail and location of a problem. @param {ShownProblem} problem */
export function problemBox(problem) {
  const position = /** @type {const} */ (["file", "line", "column"]).filter((name) => problem[name] != null);
  return h("div.problem", { role: "group", "aria-label": "Problem" }, [
    h("strong", problem.title || "Problem"),
    h("p", withLabels(problem.detail || problem.message)),
    position.length > 0 && hint(position.map((name) => `${name} ${problem[name]}`).join(", ")),
    problem.text && h("pre", problem.text),
  ]);
}

/** Return the notice to show if the script of a part cannot be loaded, as after an upgrade of the service. */
export function notLoaded() {
  const node = problemBox({ title: "A part of this page could not be loaded", detail: "Reload the page to see it." });
  return { node, update() {} };
}

/**
 * Return a part of a page that is drawn again only when its state has changed, so that the focus and selections stay.
 * @template {unknown[]} Given @template State @param {HTMLElement} node
 * @param {(...given: Given) => State} stateOf returns everything that the drawing depends on
 * @param {(state: State, ...given: Given) => unknown} draw
 * @returns {{node: HTMLElement, update: (...given: Given) => void}}
 */
export function livePart(node, stateOf, draw) {
  const hasChanged = changeDetector();
  return {
    node,
    update(...given) {
      const state = stateOf(...given);
      if (hasChanged(state)) draw(state, ...given);
    },
  };
}

/** Show a dialog and remove it when it closes. @param {HTMLDialogElement} dialog @returns {Promise<void>} when it closes */
export function showDialog(dialog) {
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve();
    });
  });
}

/**
 * Ask the user to confirm an action; resolve to whether the user confirmed it.
 * @param {string} question @param {string} yes @param {Children} consequence @param {string} [no]
 */
export function confirmed(question, yes, consequence, no = "Keep it") {
  const dialog = h("dialog", { "aria-label": question }, [
    h("form", { method: "dialog" }, [
      h("h2", question),
      hint(consequence),
      h("div.actions.end", [
        h("button.quiet", { type: "submit", value: "no" }, no),
        h("button.danger", { type: "submit", value: "yes" }, yes),
      ]),
    ]),
  ]);
  return showDialog(dialog).then(() => dialog.returnValue === "yes");
}
