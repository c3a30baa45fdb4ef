/**
 * Values of JSON as Python writes them.
 * @module
 */

/** @param {any} value @param {string} [margin] before each further line @returns {string} */
export function pythonLiteral(value, margin = "") {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const inside = `${margin}    `;
  if (Array.isArray(value)) return `[${value.map((each) => pythonLiteral(each, margin)).join(", ")}]`;
  const entries = Object.entries(value).map(([name, content]) => `${inside}${JSON.stringify(name)}: ${pythonLiteral(content, inside)},\n`);
  return entries.length ? `{\n${entries.join("")}${margin}}` : "{}";
}
