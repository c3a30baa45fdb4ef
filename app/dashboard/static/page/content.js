/** Content that is read once, pages of missing objects, code to copy, files to download, tags and help. @module */
import { failure, fetchPath, isFinal, Problem, apiError } from "./api.js";
import { announce, h, replace, setText } from "./dom.js";
import { emptyState, problemBox } from "./parts.js";

/** Readers by container. @type {WeakMap<HTMLElement, ReturnType<typeof latestReader>>} */
const readers = new WeakMap();

/**
 * Read content once and show it: a skeleton while it loads, a retry button where it fails. Of several pending reads
 * into a container, only the last one is shown.
 * @param {HTMLElement} container
 * @param {() => Promise<Child[]>} read what to show in the container
 */
export async function loadInto(container, read) {
  replace(container, h("div.skeleton.chart"));
  const run = readers.get(container) ?? latestReader(container);
  readers.set(container, run);
  await run(read, (content) => replace(container, ...content));
}

/**
 * Return a box with the problem and a button to try again, unless the key's scopes refuse it again. Errors that are not
 * answers of the API are thrown again.
 * @param {unknown} error @param {() => unknown} retry
 */
export function failureBox(error, retry) {
  const problem = apiError(error);
  const box = problemBox(problem);
  if (!(problem instanceof Problem && problem.status === 403))
    box.append(h("div.actions", h("button.small", { click: retry }, "Try again")));
  return box;
}

/**
 * Return a function that reads something and shows it in a container; of several pending reads, only the last one is shown.
 * @param {HTMLElement} container marked as busy meanwhile
 * @param {(error: unknown, retry: () => void) => void} [refused] shows an error; by default in the container
 */
export function latestReader(container, refused = (error, retry) => replace(container, failureBox(error, retry))) {
  let latestRequest = 0;

  /** @template Found @param {() => Promise<Found>} read @param {(found: Found) => void} show */
  async function run(read, show) {
    const requestNumber = ++latestRequest;
    container.setAttribute("aria-busy", "true");
    try {
      const found = await read();
      if (requestNumber === latestRequest) show(found);
    } catch (error) {
      if (requestNumber === latestRequest) refused(error, () => run(read, show));
    } finally {
      if (requestNumber === latestRequest) container.removeAttribute("aria-busy");
    }
  }
  return run;
}

/**
 * Texts and link of the page that is shown when an object does not exist.
 *
 * @typedef {object} Missing
 * @property {string} noun of the object, such as "click log"
 * @property {string} [id] without an id and a sentence, the message of the API is shown
 * @property {string} list path of the page with all objects
 * @property {string} [sentence]
 * @property {string} [action] words of the link to the list
 */

/** Show that an object does not exist, or another problem. @param {HTMLElement} container @param {import("./api.js").Problem} problem @param {Missing} missing */
export function showMissing(container, problem, { noun, id, list, sentence, action }) {
  const words = sentence ?? (id === undefined ? problem.message : `No ${noun} has the id ${id}.`);
  const all = action ?? `All ${list.slice(1).replaceAll("-", " ")}`;
  showOnly(container, [
    problem.status === 404 ? emptyState(`There is no such ${noun}`, words, list, all) : problemBox(problem),
  ]);
}

/** Show content that replaces a skeleton or earlier content. @param {HTMLElement} container @param {...Children} content */
export function showOnly(container, ...content) {
  container.removeAttribute("aria-busy");
  replace(container, ...content);
}

/**
 * Draw the page of an object that is read once, with a retry button where that fails.
 * @param {HTMLElement} container
 * @param {() => Promise<unknown>} draw reads the object and draws the page
 * @param {Missing} missing
 */
export async function openObject(container, draw, missing) {
  try {
    await draw();
    container.removeAttribute("aria-busy");
  } catch (error) {
    if (isFinal(error)) showMissing(container, error, missing);
    else showOnly(container, [failureBox(error, () => openObject(container, draw, missing))]);
  }
}

/** Return a text of the API with the parts between backticks as code. @param {string} words @returns {(Node | string)[]} */
export const withCode = (words) => words.split("`").map((part, index) => (index % 2 ? h("code", part) : part));

/** @param {any} value @param {string} [margin] indentation of further lines @returns {string} */
export function pythonLiteral(value, margin = "") {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const inside = `${margin}    `;
  if (Array.isArray(value)) return `[${value.map((each) => pythonLiteral(each, margin)).join(", ")}]`;
  const entries = Object.entries(value).map(
    ([name, content]) => `${inside}${JSON.stringify(name)}: ${pythonLiteral(content, inside)},\n`,
  );
  return entries.length ? `{\n${entries.join("")}${margin}}` : "{}";
}

/**
 * Return a text with a button that copies it.
 * @param {string} name language of the code, or the text's other heading
 * @param {string} code
 * @param {string} [what] the text in a sentence, such as "curl code"
 */
export function snippet(name, code, what = `${name} code`) {
  const button = h("button.quiet.small", { "aria-label": `Copy the ${what}`, click: copy }, "Copy");
  async function copy() {
    try {
      await navigator.clipboard.writeText(code);
    } catch {
      // Browsers allow access to the clipboard only on https and localhost; elsewhere select the code for Ctrl+C.
      getSelection()?.selectAllChildren(text);
      setText(button, "Press Ctrl+C");
      return;
    }
    setText(button, "Copied");
    announce(`The ${what} was copied.`);
  }
  const text = h("pre", { tabindex: "0", "aria-label": what, "data-code": name }, code);
  return h("div.snippet", h("div.panel-head", h("h3", name), button), text);
}

/** Download the response to a POST request as a file. @param {string} path @param {unknown} json */
export async function downloadFile(path, json) {
  const headers = { "content-type": "application/json" };
  const response = await fetchPath(path, { method: "POST", body: JSON.stringify(json), headers });
  if (!response.ok) throw failure(response.status, await response.text());
  const [, name] = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "") || [];
  saveFile(name || "", await response.blob());
}

/** Let the browser save a file. @param {string} name @param {Blob} content */
export function saveFile(name, content) {
  const address = URL.createObjectURL(content);
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Link a question mark to a page of the guide. @param {string} page such as "concepts/doctor/" @param {string} label of the page */
export function helpLink(page, label) {
  const words = `${label} in the guide`;
  return h("a.help", { href: `/guide/${page}`, title: words, "aria-label": words }, "?");
}

/** Return links from tags to lists of the items that have them. @param {Record<string, string>} tags @param {string} [list] page */
export function tagList(tags, list = "/models") {
  return Object.entries(tags).map(([name, value]) => {
    const filter = value ? `${name}:${value}` : name;
    const href = `${list}?${new URLSearchParams({ tag: filter })}`;
    return h("a.tag.plain", { href, title: `Show everything with ${filter}` }, value ? `${name}: ${value}` : name);
  });
}

/** @param {string} project @param {string} list page */
export function projectTag(project, list) {
  const href = `${list}?${new URLSearchParams({ project })}`;
  return h("a.tag", { href, title: "Show everything in this project" }, project);
}
