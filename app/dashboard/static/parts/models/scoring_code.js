/**
 * A scoring request as a program would send it.
 * @module
 */
import { modelApi } from "../page/addresses.js";
import { h } from "../page/dom.js";
import { pythonLiteral } from "../page/python_literal.js";
import { snippet } from "../page/snippet.js";

/** @param {string} reference @param {any} asked */
export function scoringCode(reference, asked) {
  const address = `${location.origin}${modelApi(reference, "/rank").replace("%3A", ":").replace("%40", "@")}`;
  const body = JSON.stringify({ queries: asked.queries }).replaceAll("'", "'\\''");
  const queries = asked.queries.map(queryOf).join("\n");
  const python = `import rankery\n\nclient = rankery.Client(${pythonLiteral(location.origin)})\nqueries = [\n${queries}\n]\nranked = client.rank(${pythonLiteral(reference)}, queries)\n`;
  return h("div", {}, snippet("curl", `curl ${address} --json '${body}'`), snippet("Python", python));
}

/** A document a line. */
function queryOf({ id, documents }) {
  const line = ({ id: name, features }) => `        {"id": ${pythonLiteral(name)}, "features": {${Object.entries(features).map(([feature, value]) => `${pythonLiteral(feature)}: ${value}`).join(", ")}}},`;
  return `    {"id": ${pythonLiteral(id)}, "documents": [\n${documents.map(line).join("\n")}\n    ]},`;
}
