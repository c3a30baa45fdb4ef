/**
 * A scoring request as a program would send it.
 * @module
 */
import { modelApi } from "./addresses.js";
import { codeBlock } from "./code_block.js";
import { h } from "./dom.js";

/** @param {string} reference @param {any} asked */
export function scoringCode(reference, asked) {
  const address = `${location.origin}${modelApi(reference, "/rank").replace("%3A", ":").replace("%40", "@")}`;
  const body = JSON.stringify(asked);
  const curl = `curl -sS '${address}' -H 'content-type: application/json' -d '${body.replaceAll("'", "'\\''")}'`;
  const queries = JSON.stringify(asked.queries, null, 1);
  const python = `import rankery\n\nclient = rankery.Client("${location.origin}")\nqueries = ${queries}\nranked = client.rank("${reference}", queries)`;
  return h("div", { class: "rows" }, codeBlock("curl", curl), codeBlock("Python", python));
}
