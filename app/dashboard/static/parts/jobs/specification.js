/**
 * What a job was asked for: flat for reading, what differs from the defaults first, and as the JSON that submits it again.
 * @module
 */
import { get } from "../page/api.js";
import { datasetPage } from "../page/addresses.js";
import { contractWords } from "../forms/contract_labels.js";
import { h } from "../page/dom.js";
import { counted, duration, short, size } from "../page/format.js";

/** @param {import("./job_labels.js").Job} job */
export async function specification(job) {
  const { kind, ...spec } = job.spec || {};
  // Without the defaults everything is shown, which is no less true.
  const defaults = await readDefaults(spec).catch(() => new Map());
  const entries = flatten(spec);
  const usual = entries.filter(([name, content]) => defaults.has(name) && same(defaults.get(name), content));
  const special = entries.filter((entry) => !usual.includes(entry));
  return h(
    "section",
    { class: "panel" },
    h("h2", {}, "Specification"),
    facts(special, job),
    usual.length > 0 && h("details", { class: "more" }, h("summary", {}, `${counted(usual.length, "setting")} at the default`), facts(usual, job)),
    h("details", { class: "more" }, h("summary", {}, "As JSON"), h("pre", {}, JSON.stringify({ kind: job.kind, ...spec }, null, 2))),
  );
}

/** @param {import("./job_labels.js").Job} job */
function facts(entries, job) {
  const named = { "limits seconds": "time limit", "limits memory_bytes": "memory limit" };
  const words = (name) => named[name] || plainName(name);
  return h("dl", { class: "facts" }, ...entries.map(([name, content]) => h("div", {}, h("dt", {}, words(name)), h("dd", {}, shown(name, content, job)))));
}

/** "loss truncation level". @param {string} name as `flatten` gives it */
export function plainName(name) {
  return name.replace(/dataset_id$/, "dataset").replace(/ name$/, "").replaceAll("_", " ");
}

/** A value as it is read. @param {import("./job_labels.js").Job} job that it is of */
export function shown(name, content, job) {
  if (/dataset_id$/.test(name)) return h("a", { href: datasetPage(content), title: content }, job.dataset_names[content] ?? content);
  if (name === "systems") return content.map(({ system }) => system).join(", ");
  if (name === "limits seconds") return duration(content);
  if (name === "limits memory_bytes") return size(content);
  if (name === "contract" && typeof content === "object") return contractWords(content);
  if (name === "interaction_constraints") return content.map((group) => `{${group.join(", ")}}`).join(" ");
  return Array.isArray(content) ? content.join(", ") : short(content);
}

/**
 * Pairs of name and value, those of parts behind the part's name. LightGBM's names speak for themselves; the others
 * need to be told apart.
 */
export function flatten(value, prefix = "") {
  return Object.entries(value).flatMap(([name, content]) => {
    if (content === null || content === undefined || content.length === 0) return [];
    if (name === "hyperparameters") return flatten(content);
    if (name === "contract") return [[name, content.preset || content]];
    const path = prefix ? `${prefix} ${name}` : name;
    return typeof content === "object" && !Array.isArray(content) ? flatten(content, path) : [[path, content]];
  });
}

/** @returns {Promise<Map<string, any>>} by the same names as `flatten` gives */
async function readDefaults(spec) {
  if (!spec.loss) return new Map();
  const [{ components }, { items }] = await Promise.all([get("/openapi.json"), get("/v1/losses")]);
  const { Hyperparameters: boosting, TrainRequest: training } = components.schemas;
  const fields = { ...boosting.properties, ...training.properties };
  const loss = items.find(({ name }) => name === spec.loss.name);
  return new Map([
    ...Object.entries(fields).filter(([, field]) => "default" in field).map(([name, field]) => [name, field.default]),
    ...(loss?.parameters || []).map((parameter) => [`loss ${parameter.name}`, parameter.default]),
  ]);
}

function same(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}
