/** Elements made from data, and the elements of the page's template. Text is never parsed as markup. @module */
import { urlOf } from "./paths.js";

const SVG = "http://www.w3.org/2000/svg";
/** Attributes that hold URLs; their values may be application paths. */
const URLS = new Set(["action", "href", "src"]);

/**
 * Return an HTML element: `h("a.name", { href }, "Name")` is a link of the class `name`. Attributes that are functions
 * become listeners. Children may be in arrays. Attributes and children that are false, null or undefined are left out.
 * A button submits its form only with the type submit. `needs` names the scope that the action of a button or link
 * needs; name it after all other attributes.
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
  const [attributes, children] = splitContent(content);
  for (const [name, value] of Object.entries(attributes)) setAttribute(node, name, value);
  node.append(...flattened(children));
  return node;
}

/** Split the content of an element into attributes and children. @param {Content} content @returns {[Attributes, Children[]]} */
export function splitContent(content) {
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

/** Announce a sentence to screen readers. @param {string} sentence */
export function announce(sentence) {
  setText(elementById("announcer"), sentence);
}
