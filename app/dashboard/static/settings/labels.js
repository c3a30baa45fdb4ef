/** Settings with readable units, and entries of the audit log as sentences. @module */
import { decoded } from "../page/paths.js";
import { count, counted } from "../page/format.js";
import { announce, elementById, replace, h } from "../page/dom.js";
import { hint } from "../page/parts.js";
import { snippet } from "../page/content.js";

const BINARY = ["B", "KiB", "MiB", "GiB", "TiB"];
/** @type {[seconds: number, one: string][]} */ const SPANS = [
  [86_400, "day"],
  [3600, "hour"],
  [60, "minute"],
];

/**
 * Format the value of a setting with the unit from the end of its name: "32 GiB", "5 minutes", "500 per second".
 * @param {string} name of the environment variable
 * @param {string | null} value value of the environment variable
 */
export function settingLabel(name, value) {
  if (value === "…") return "hidden";
  if (!/^\d+(\.\d+)?(,\d+(\.\d+)?)*$/.test(value ?? "") || name.endsWith("_PORT")) return value ?? "";
  const [, rate] = /_PER_(\w+)$/.exec(name) ?? [];
  const unit = /_(BYTES|SECONDS|HOURS|DAYS)(_PER_\w+)?$/.exec(name)?.[1] ?? "";
  const label = (value ?? "").split(",").map((each) => quantity(Number(each), unit));
  return rate ? `${label.join(", ")} per ${rate.toLowerCase().replace("_", " ")}` : label.join(", ");
}

/** @param {number} number @param {string} unit */
function quantity(number, unit) {
  if (unit === "BYTES") return bytes(number);
  if (unit === "SECONDS") return span(number);
  return unit ? counted(number, unit.slice(0, -1).toLowerCase()) : count(number);
}

/** Format bytes in the largest unit that divides them. @param {number} number */
function bytes(number) {
  let [left, unit] = [number, 0];
  while (left >= 1024 && left % 1024 === 0 && unit < BINARY.length - 1) [left, unit] = [left / 1024, unit + 1];
  return `${count(left)} ${BINARY[unit]}`;
}

/** @param {number} seconds */
function span(seconds) {
  const [whole, one] = SPANS.find(([each]) => seconds >= each && seconds % each === 0) ?? [1, "second"];
  return counted(seconds / whole, one);
}

/** Verbs for the last segment of a path that is an action on the object before it. */
/** @type {Record<string, string>} */ const ACTIONS = {
  batch: "Add",
  cancel: "Cancel",
  clone: "Clone",
  delete: "Delete",
  distil: "Distil",
  empty: "Empty",
  labels: "Label",
  pause: "Pause",
  rank: "Rank with",
  redeliver: "Deliver again",
  reproduce: "Reproduce",
  restore: "Restore",
  resume: "Resume",
  rollback: "Roll back",
  rotate: "Change the secret of",
  run: "Run",
  synthetic: "Generate",
  test: "Test",
};
/** Verbs for methods, and for the entries of single objects of a bulk operation. */
/** @type {Record<string, string>} */ const METHODS = {
  POST: "Add",
  PUT: "Set",
  PATCH: "Change",
  DELETE: "Delete",
  RESTORE: "Restore",
  PURGE: "Purge",
  RETENTION: "Delete by retention",
};
const GONE = /^(DELETE|PURGE|RETENTION)$/;
/** @type {Record<string, string>} irregular plurals */
const NOUNS = { aliases: "alias", studies: "study", trash: "trash" };
/** Kinds that have pages. */
const PAGES = /^(datasets|evaluations|experiments|jobs|models|rankings|comparisons|studies)$/;

/**
 * Return the texts that describe a request, such as "Set the alias", "champion" and " of the model web", and the
 * path of the changed object's page if it has one.
 * @param {{method: string, path: string}} entry
 */
export function changeOf({ method, path }) {
  const steps = path
    .replace(/^\/v\d+\//, "")
    .split("/")
    .filter(Boolean)
    .map(decoded);
  const action = steps.length > 1 ? ACTIONS[steps.at(-1) ?? ""] : undefined;
  const objects = action ? steps.slice(0, -1) : steps;
  const pairs = objects.flatMap((step, index) => (index % 2 === 0 ? [[noun(step), objects[index + 1] ?? null]] : []));
  const [what, id] = pairs.at(-1) ?? ["", null];
  const owners = pairs.slice(0, -1).map(([kind, of]) => ` of the ${kind} ${of}`);
  const article = id || owners.length ? "the" : /^[aeiou]/.test(what ?? "") ? "an" : "a";
  const gone = GONE.test(method) || action === ACTIONS.delete;
  const page = pairs.length === 1 && id && !gone && PAGES.test(objects[0]);
  return {
    verb: `${action ?? METHODS[method] ?? method} ${article} ${what}`,
    id,
    owners: owners.reverse().join(""),
    href: page ? `/${objects[0]}/${encodeURIComponent(id)}` : null,
  };
}

/** @param {string} kind */
const noun = (kind) => NOUNS[kind] ?? kind.replace(/s$/, "").replaceAll("-", " ");

/**
 * Show a secret, which the API returns only once, in the element `new-secret` of the page.
 * @param {string} title @param {string} sentence @param {string} secret
 */
export function showSecret(title, sentence, secret) {
  const container = elementById("new-secret");
  replace(container, [
    h("section.panel", { "aria-label": "Secret" }, h("h2", title), hint(sentence), snippet("secret", secret, "secret")),
  ]);
  announce(`${title}. Its secret is shown only once.`);
  container.scrollIntoView({ block: "nearest" });
}

/** Return the outcome of a request by its HTTP status. @param {number} status */
export function outcome(status) {
  if (status < 400) return "Done";
  return status < 500 ? "Refused" : "Failed";
}
