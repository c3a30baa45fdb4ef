/**
 * A job as commands that submit it again: for a shell and for Python, each to be copied.
 * @module
 */
import { announce, h, setText } from "./dom.js";
import { loaded } from "./loaded.js";
import { requestOf } from "./request_of.js";

/** @param {import("./job_words.js").Job} job */
export function asCode(job) {
  const place = h("div", {});
  const node = h("details", { class: "panel as-code" }, h("summary", {}, h("h2", {}, "Submit it again from a program")), place);
  node.addEventListener("toggle", () => node.open && !place.hasChildNodes() && loaded(place, async () => await shown(job)));
  return node;
}

async function shown(job) {
  const request = await requestOf(job);
  return [snippet("curl", curl(request)), snippet("Python", python(request)), h("p", { class: "hint" }, "What is not named is at its default. Where API keys are in use, set RANKERY_API_KEY and, with curl, add the header Authorization: Bearer.")];
}

function snippet(name, code) {
  const button = h("button", { type: "button", class: "quiet small", "aria-label": `Copy the ${name} code`, click: copy }, "Copy");
  async function copy() {
    try {
      await navigator.clipboard.writeText(code);
    } catch {
      // Browsers give the clipboard to https and this machine alone; elsewhere it is one key away.
      getSelection().selectAllChildren(text);
      setText(button, "Press Ctrl+C");
      return;
    }
    setText(button, "Copied");
    announce(`The ${name} code was copied.`);
  }
  const text = h("pre", { tabindex: "0", "aria-label": `${name} code`, "data-code": name }, code);
  return h("div", { class: "snippet" }, h("div", { class: "panel-head" }, h("h3", {}, name), button), text);
}

/** @param {Record<string, any>} request */
function curl(request) {
  const body = JSON.stringify(request, null, 2).replaceAll("'", "'\\''");
  return `curl ${location.origin}/v1/jobs --json '${body}'`;
}

/** @param {Record<string, any>} request */
function python(request) {
  return `import rankery\n\nclient = rankery.Client(${literal(location.origin)})\njob = client.submit(${literal(request)})\njob.wait()\n`;
}

/** As Python writes it. */
function literal(value, margin = "") {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const inside = `${margin}    `;
  if (Array.isArray(value)) return `[${value.map((each) => literal(each, margin)).join(", ")}]`;
  const entries = Object.entries(value).map(([name, content]) => `${inside}${JSON.stringify(name)}: ${literal(content, inside)},\n`);
  return entries.length ? `{\n${entries.join("")}${margin}}` : "{}";
}
