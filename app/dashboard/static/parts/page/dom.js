/**
 * Elements from data. Text is always text: nothing here parses markup.
 * @module
 */

const SVG = "http://www.w3.org/2000/svg";

/**
 * @param {string} tag
 * @param {Record<string, any>} [attributes] functions become listeners; false, null and undefined are left out
 * @param {...(Node | string | number | null | undefined | false)} children
 */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) setAttribute(node, name, value);
  node.append(...present(children));
  return node;
}

/** Sets, or removes where the value is false, null or undefined. */
export function setAttribute(node, name, value) {
  if (typeof value === "function") node.addEventListener(name, value);
  else if (value === false || value === null || value === undefined) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value === true ? "" : value)) {
    node.setAttribute(name, value === true ? "" : String(value));
  }
}

/** Replaces the text only when it differs, so that selections and live regions stay quiet. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function replace(node, ...children) {
  node.replaceChildren(...present(children));
}

function present(children) {
  return children
    .flat()
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : String(child)));
}

/** Says a sentence to screen readers. */
export function announce(sentence) {
  setText(document.getElementById("announcer"), sentence);
}

/** A designed nothing: what is missing, and the way on. */
export function emptyState(title, sentence, href, action) {
  return h(
    "div",
    { class: "empty" },
    h("h2", {}, title),
    h("p", {}, sentence),
    href && h("a", { class: "button primary", href }, action),
  );
}

/** A problem as a box: title and sentence, and where it is in a file, when known. */
export function problemBox(problem) {
  const place = ["file", "line", "column"].filter((name) => problem[name] !== null && problem[name] !== undefined);
  return h(
    "div",
    { class: "problem", role: "group", "aria-label": "Problem" },
    h("strong", {}, problem.title || "Problem"),
    h("p", {}, problem.detail || problem.message || ""),
    place.length > 0 && h("p", { class: "hint" }, place.map((name) => `${name} ${problem[name]}`).join(", ")),
    problem.text && h("pre", {}, problem.text),
  );
}
