/** Elements made from data, and the elements of the page's template. Text is never parsed as markup. @module */
import { urlOf } from "./paths.js";

const SVG = "http://www.w3.org/2000/svg";
/** Attributes that hold URLs; their values may be application paths. */
const URLS = new Set(["action", "href", "src"]);

/**
 * Return an HTML element: `h("a.name", { href }, "Name")` is a link of the class `name`. Attributes that are functions
 * become listeners. Children may be in arrays. Attributes and children that are false, null or undefined are left out.
 * A button submits its form only with the type submit. `needs` names the scope that the action of a button or link
 * needs; it is the last attribute.
 * @template {Selector<keyof HTMLElementTagNameMap>} Given
 * @param {Given} selector the tag, and classes after dots
 * @param {Content} content @returns {HTMLElementTagNameMap[TagOf<Given> & keyof HTMLElementTagNameMap]}
 */
export function h(selector, ...content) {
  const [tag, ...classes] = selector.split(".");
  const node = document.createElement(tag);
  if (tag === "button") node.setAttribute("type", "button");
  return /** @type {any} */ (fill(node, classes, content));
}

/**
 * Return an SVG element, as `h` does for HTML.
 * @template {Selector<keyof SVGElementTagNameMap>} Given @param {Given} selector @param {Content} content
 * @returns {SVGElementTagNameMap[TagOf<Given> & keyof SVGElementTagNameMap]}
 */
export function svg(selector, ...content) {
  const [tag, ...classes] = selector.split(".");
  return /** @type {any} */ (fill(document.createElementNS(SVG, tag), classes, content));
}

/** @param {Element} node @param {string[]} classes @param {Content} content */
function fill(node, classes, content) {
  if (classes.length) node.setAttribute("class", classes.join(" "));
  const [attributes, children] = divided(content);
  for (const [name, value] of Object.entries(attributes)) setAttribute(node, name, value);
  node.append(...flattened(children));
  return node;
}

/** Return the attributes and the children of a content. @param {Content} content @returns {[Attributes, Children[]]} */
function divided(content) {
  const [first, ...others] = content;
  const hasAttributes = typeof first === "object" && first && !(first instanceof Node) && !Array.isArray(first);
  return /** @type {any} */ (hasAttributes ? [first, others] : [{}, content]);
}

/**
 * Set an attribute or add a listener; remove the attribute when the value is false, null or undefined.
 * @param {Element} node @param {string} name @param {AttributeValue | Listener} value
 */
export function setAttribute(node, name, value) {
  if (typeof value === "function") node.addEventListener(name, value);
  else if (name === "needs") requireScope(node, String(value));
  else if (value === false || value === null || value === undefined) node.removeAttribute(name);
  else {
    const text = value === true ? "" : URLS.has(name) ? urlOf(String(value)) : String(value);
    if (node.getAttribute(name) !== text) node.setAttribute(name, text);
  }
}

/** Return why the API refuses requests that need a scope, null if it does not. @param {string} scope */
export function missingScope(scope) {
  const { missingScopes = "", keyName } = document.body.dataset;
  return missingScopes.split(" ").includes(scope) ? `The key “${keyName}” lacks the scope ${scope}.` : null;
}

/** Disable a button or link, with the reason, if the caller's key lacks a scope. @param {Element} node @param {string} scope */
export function requireScope(node, scope) {
  const reason = missingScope(scope);
  if (!reason) return;
  node.setAttribute("title", reason);
  if (node instanceof HTMLButtonElement) node.disabled = true;
  else {
    node.removeAttribute("href");
    node.setAttribute("role", "link");
    node.setAttribute("aria-disabled", "true");
  }
}

/**
 * Replace the text only when it differs: a selection is kept, and a live region is not announced again.
 * @param {Element} node @param {string} text
 */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * Return a status in its colour.
 * @param {string} status of a job; determines the colour
 * @param {string} [words] displayed text; default: the status
 * @param {string | null} [title] shown on hover
 */
export const statusBadge = (status, words = status, title) => h("span.status", { "data-status": status, title }, words);

/** @param {Element} node @param {...Children} children */
export function replace(node, ...children) {
  node.replaceChildren(...flattened(children));
}

/** @param {Children[]} children */
function flattened(children) {
  return /** @type {any[]} */ (children)
    .flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : String(child)));
}

/**
 * Return the element of the page's template with an ID.
 * @template {HTMLElement} [Kind=HTMLElement] @param {string} id @param {new () => Kind} [kind]
 * @throws {TypeError} where the template has no such element
 */
export const elementById = (id, kind) => expected(document.getElementById(id), kind, `#${id}`);

/**
 * Return the first descendant of a container that matches a selector.
 * @template {HTMLElement} [Kind=HTMLElement] @param {ParentNode} container @param {string} selector
 * @param {new () => Kind} [kind]
 * @throws {TypeError} where there is no such element
 */
export const find = (container, selector, kind) => expected(container.querySelector(selector), kind, selector);

/**
 * Return all descendants of a container that match a selector; each of them must be of the kind.
 * @template {HTMLElement} Kind @param {ParentNode} container @param {string} selector @param {new () => Kind} kind
 */
export const findAll = (container, selector, kind) =>
  [...container.querySelectorAll(selector)].map((node) => expected(node, kind, selector));

/**
 * @template {HTMLElement} Kind @param {Element | null} node @param {(new () => Kind) | undefined} kind
 * @param {string} name
 */
function expected(node, kind, name) {
  if (node instanceof (kind ?? HTMLElement)) return /** @type {Kind} */ (node);
  throw new TypeError(`The page has no ${kind?.name ?? "HTMLElement"} ${name}`);
}

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
    const [attributes, contents] = divided(cells(item, index));
    return h("tr", attributes, ...contents.map(cell));
  });
}

/** Return a section named by its heading. @param {string} heading @param {...Children} children */
export const panel = (heading, ...children) =>
  h("section.panel", { "aria-label": heading }, h("h2", heading), ...children);

/** Return details that are closed at first. @param {Child} summary @param {...Children} children */
export const disclosure = (summary, ...children) => h("details.more", h("summary", summary), ...children);

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

/**
 * Return a function that checks whether a value differs, as JSON, from the value of its previous call.
 * @returns {(value: unknown) => boolean}
 */
export function changeDetector() {
  /** @type {string | undefined} */ let last = "";
  return (value) => {
    const now = JSON.stringify(value);
    const differs = now !== last;
    last = now;
    return differs;
  };
}

/** Return a message that screen readers announce. @param {string} words */
export const alertText = (words) => h("span.error", { role: "alert" }, words);

/** Announce a sentence to screen readers. @param {string} sentence */
export function announce(sentence) {
  setText(elementById("announcer"), sentence);
}

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
    h("p", problem.detail || problem.message || ""),
    position.length > 0 && hint(position.map((name) => `${name} ${problem[name]}`).join(", ")),
    problem.text && h("pre", problem.text),
  ]);
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
 * @param {string} question @param {string} consequence @param {string} yes @param {string} [no]
 */
export function confirmed(question, consequence, yes, no = "Keep it") {
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
