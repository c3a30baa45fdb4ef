/**
 * A job as commands that submit it again: for a shell and for Python, each to be copied.
 * @module
 */
import { h } from "../page/dom.js";
import { loaded } from "../page/loaded.js";
import { pythonLiteral } from "../page/python_literal.js";
import { requestOf } from "./request_of.js";
import { snippet } from "../page/snippet.js";

/** @param {import("./job_labels.js").Job} job */
export function asCode(job) {
  const place = h("div", {});
  const node = h("details", { class: "panel as-code" }, h("summary", {}, h("h2", {}, "Submit again with code")), place);
  node.addEventListener("toggle", () => node.open && !place.hasChildNodes() && loaded(place, async () => await shown(job)));
  return node;
}

async function shown(job) {
  const request = await requestOf(job);
  return [snippet("curl", curl(request)), snippet("Python", python(request)), h("p", { class: "hint" }, "What is not named is at its default. Where API keys are in use, set RANKERY_API_KEY and, with curl, add the header Authorization: Bearer.")];
}

/** @param {Record<string, any>} request */
function curl(request) {
  const body = JSON.stringify(request, null, 2).replaceAll("'", "'\\''");
  return `curl ${location.origin}/v1/jobs --json '${body}'`;
}

/** @param {Record<string, any>} request */
function python(request) {
  return `import rankery\n\nclient = rankery.Client(${pythonLiteral(location.origin)})\njob = client.submit(${pythonLiteral(request)})\njob.wait()\n`;
}
