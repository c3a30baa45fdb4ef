/** Specification of a job: as a table, as JSON, and as a shell command or Python that submits it again. @module */
import { contractLabel } from "../evaluation/metrics.js";
import { clickLogApi, clickLogPage, datasetPage, serviceUrl } from "../page/paths.js";
import { get, getOnce } from "../page/api.js";
import { loadInto, pythonLiteral, snippet } from "../page/content.js";
import { h } from "../page/dom.js";
import { disclosure, factList, hint, panel } from "../page/parts.js";
import { counted, duration, short, size } from "../page/format.js";

/** Check whether jobs of this kind are submitted to `/v1/jobs`. @param {string} kind */
export const isSubmitted = async (kind) => kind in (await getOnce("/v1/job-schemas")).kinds;

/**
 * Return the request that submits a job again, without the settings that equal their defaults.
 * @param {Job} job @returns {Promise<Record<string, Json>>}
 */
export async function requestOf({ kind, spec }) {
  const [{ kinds, schemas }, { presets }] = await Promise.all([getOnce("/v1/job-schemas"), getOnce("/v1/metrics")]);
  const shrink = shrinker(schemas);
  const request = { ...pinned(spec), ...unseeded(spec), contract: presetOrContract(spec.contract, presets) };
  const shrunk = /** @type {Record<string, Json>} */ (shrink(request, { $ref: kinds[kind] }));
  return { kind, ...shrunk };
}

/**
 * Return a request with names of datasets in place of their IDs, as schedules take them.
 * @param {Json} value
 * @param {Record<string, string>} names by ID
 * @returns {Json}
 */
export function byDatasetNames(value, names) {
  if (typeof value === "string") return names[value] ?? value;
  if (Array.isArray(value)) return value.map((each) => byDatasetNames(each, names));
  if (!value || typeof value !== "object") return value;
  const entries = Object.entries(value).map(([name, content]) => [
    name.replace(/dataset_id$/, "dataset"),
    byDatasetNames(content, names),
  ]);
  return Object.fromEntries(entries);
}

/**
 * Return the name of the preset that a contract equals, other contracts unchanged.
 * @param {Contract | undefined} contract @param {Record<string, Contract>} presets
 */
function presetOrContract(contract, presets) {
  if (!contract) return contract;
  const { preset, ...conventions } = contract;
  return same(conventions, presets[String(preset)]) ? preset : contract;
}

/**
 * Return the loss with a null seed if it has the seed of the job. A changed seed of the job then applies to the loss, too.
 * @param {JobSpecification} spec @returns {{loss?: LossParameters}}
 */
const unseeded = ({ loss, seed }) => (loss && loss.seed === seed ? { loss: { ...loss, seed: null } } : {});

/** Replace references by fixed model versions, because an alias may have moved since. @param {unknown} value @returns {any} */
function pinned(value) {
  if (Array.isArray(value)) return value.map(pinned);
  if (!value || typeof value !== "object") return value;
  const entries = Object.entries(value).map(([name, content]) => [name, pinned(content)]);
  const all = Object.fromEntries(entries);
  return all.model && all.system ? { ...all, model: all.system } : all;
}

/**
 * Return a function that removes properties that equal the defaults of a schema.
 * @param {Record<string, Schema>} schemas by name
 * @returns {(value: unknown, schema: Schema | undefined) => unknown}
 */
function shrinker(schemas) {
  /** @param {Schema | undefined} schema */
  const resolve = (schema) => (schema?.$ref ? schemas[schema.$ref.split("/").at(-1) ?? ""] : schema);

  /**
   * Return the alternative of a schema that a value matches: the one with the most required fields that are present.
   * @param {Record<string, unknown>} value @param {Schema} schema
   */
  function alternative(value, schema) {
    const { discriminator } = schema.discriminator ? schema : (schema.anyOf?.find((each) => each.discriminator) ?? {});
    if (discriminator) {
      return resolve({ $ref: discriminator.mapping[String(value[discriminator.propertyName])] }) ?? {};
    }
    const options = (schema.oneOf ?? schema.anyOf ?? [])
      .flatMap((each) => each.oneOf ?? [each])
      .flatMap((each) => resolve(each) ?? [])
      .sort((one, other) => (other.required?.length ?? 0) - (one.required?.length ?? 0));
    return (
      options.find(({ required }) => required?.every((name) => name in value)) ||
      options.find(({ properties }) => properties) ||
      {}
    );
  }

  /** @param {unknown} value @param {Schema | undefined} given @returns {unknown} */
  return function shrink(value, given) {
    let schema = resolve(given) || {};
    if (Array.isArray(value)) return value.map((each) => shrink(each, schema.items));
    if (!isObject(value)) return value;
    if (schema.oneOf || schema.anyOf) schema = alternative(value, schema);
    const { properties, required = [] } = schema;
    if (!properties) return value;
    const entries = Object.entries(properties).flatMap(([name, property]) => {
      const content = value[name];
      if (content === null || content === undefined) return [];
      if (!required.includes(name) && same(content, property.default)) return [];
      const shrunk = shrink(content, property);
      const isRequested =
        isNullable(property) && isObject(content) && Object.values(content).some((each) => each !== null);
      const isEmpty = isObject(shrunk) && Object.keys(shrunk).length === 0;
      return isEmpty && !required.includes(name) && !isRequested ? [] : [[name, shrunk]];
    });
    return Object.fromEntries(entries);
  };
}

/** Check whether a property accepts null. An empty object then requests the feature with its defaults. @param {Schema} property */
const isNullable = ({ anyOf = [] }) => anyOf.some(({ type }) => type === "null");

/** @param {unknown} value @returns {value is Record<string, unknown>} */
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** Check whether values are equal, in any order of their properties. @param {unknown} one @param {unknown} other */
const same = (one, other) => JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));

/** @param {unknown} value */
function sorted(value) {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([name], [other]) => name.localeCompare(other)));
}

/** @param {Job} job */
export async function specification(job) {
  const { kind, ...spec } = job.spec || {};
  // If the defaults cannot be read, no setting counts as a default.
  const defaults = await readDefaults(spec).catch(() => new Map());
  // The link to the click log has its name, and the notes have the tags.
  const { log_name: _name, tags: _tags, ...shownBelow } = spec;
  const entries = flatten(shownBelow);
  const atDefault = entries.filter(([name, content]) => defaults.has(name) && same(defaults.get(name), content));
  const changed = entries.filter((entry) => !atDefault.includes(entry));
  return panel("Specification", [
    facts(changed, await withLogName(job)),
    atDefault.length > 0 && disclosure(`${counted(atDefault.length, "setting")} at the default`, facts(atDefault, job)),
    disclosure("As JSON", h("pre", JSON.stringify({ kind: job.kind, ...spec }, null, 2))),
  ]);
}

/** Add the name of the click log to those of the datasets, if it can be read. @param {Job} job */
async function withLogName(job) {
  const id = job.spec.click_log_id;
  if (!id || job.spec.log_name) return job;
  const log = await get(clickLogApi(String(id))).catch(() => null);
  return log ? { ...job, dataset_names: { ...job.dataset_names, [log.id]: log.name } } : job;
}

/** @param {[name: string, content: unknown][]} entries @param {Job} job */
function facts(entries, job) {
  /** @type {Record<string, string>} */
  const named = { "limits seconds": "time limit", "limits memory_bytes": "memory limit", budget_seconds: "budget" };
  const words = (/** @type {string} */ name) => named[name] || plainName(name);
  return factList(
    "facts",
    entries.map(([name, content]) => [words(name), shown(name, content, job)]),
  );
}

/** "loss truncation level". @param {string} name as `flatten` returns it */
export function plainName(name) {
  return name
    .replace(/dataset_id$/, "dataset")
    .replace(/^click_log_id$/, "click log")
    .replace(/^(distribution|options) /, "")
    .replace(/ (name|kind)$/, "")
    .replaceAll("_", " ");
}

/** Format a value. @param {string} name as `flatten` returns it @param {unknown} content @param {Job} job */
export function shown(name, content, job) {
  if (/dataset_id$/.test(name)) {
    const id = String(content);
    return h("a", { href: datasetPage(id), title: id }, job.dataset_names[id] ?? id);
  }
  if (name === "click_log_id") {
    const id = String(content);
    return h("a", { href: clickLogPage(id), title: id }, String(job.spec.log_name ?? job.dataset_names[id] ?? id));
  }
  if (name === "limits seconds" || name === "budget_seconds") return duration(Number(content));
  if (name === "limits memory_bytes") return size(Number(content));
  if (name === "contract" && isObject(content)) return contractLabel(content);
  if (name === "interaction_constraints" && Array.isArray(content)) {
    return content.map((group) => `{${group.join(", ")}}`).join(" ");
  }
  if (!Array.isArray(content)) return short(content);
  return content.map((each) => (isObject(each) ? (each.system ?? JSON.stringify(each)) : short(each))).join(", ");
}

/**
 * Return pairs of name and value. Nested names begin with the name of their parent, except for LightGBM's
 * hyperparameters.
 * @param {Record<string, unknown>} value @param {string} [prefix] @returns {[name: string, content: unknown][]}
 */
export function flatten(value, prefix = "") {
  return Object.entries(value).flatMap(([name, content]) => {
    if (content === null || content === undefined || content === "") return [];
    if (Array.isArray(content) && content.length === 0) return [];
    if (name === "hyperparameters" && isObject(content)) return flatten(content);
    if (name === "contract" && isObject(content)) return [[name, content.preset || content]];
    const path = prefix ? `${prefix} ${name}` : name;
    return isObject(content) ? flatten(content, path) : [[path, content]];
  });
}

/** Return the defaults by the names that `flatten` returns. @param {JobSpecification} spec */
async function readDefaults(spec) {
  if (!spec.loss) return new Map();
  const [{ schemas }, { items }, { items: scorers }] = await Promise.all([
    getOnce("/v1/job-schemas"),
    getOnce("/v1/losses"),
    getOnce("/v1/scorers"),
  ]);
  const { Hyperparameters: boosting, TrainRequest: training } = schemas;
  const fields = { ...boosting.properties, ...training.properties };
  const loss = items.find(({ name }) => name === spec.loss?.name);
  /** @type {Map<string, unknown>} */ const defaults = new Map();
  for (const [name, field] of Object.entries(fields)) if ("default" in field) defaults.set(name, field.default);
  for (const { name, default: value } of loss?.parameters ?? []) defaults.set(`loss ${name}`, value);
  const scorer = scorers.find(({ kind }) => kind === spec.scorer?.kind);
  for (const { name, default: value } of scorer?.parameters ?? []) defaults.set(`scorer ${name}`, value);
  return defaults;
}

/** @param {Job} job */
export function asCode(job) {
  const container = h("div");
  const node = h("details.panel.as-code", h("summary", h("h2", "Submit again with code")), container);
  node.addEventListener(
    "toggle",
    () => node.open && !container.hasChildNodes() && loadInto(container, async () => await commands(job)),
  );
  return node;
}

/** @param {Job} job */
async function commands(job) {
  const request = await requestOf(job);
  return [
    snippet("curl", curl(request)),
    snippet("Python", python(request)),
    hint(
      "Settings that are not listed have their defaults. If the service requires API keys, set RANKERY_API_KEY; with curl, add the header Authorization: Bearer.",
    ),
  ];
}

/** @param {Record<string, Json>} request */
function curl(request) {
  const body = JSON.stringify(request, null, 2).replaceAll("'", "'\\''");
  return `curl ${serviceUrl()}/v1/jobs --json '${body}'`;
}

/** @param {Record<string, Json>} request */
function python(request) {
  return `import rankery\n\nclient = rankery.Client(${pythonLiteral(serviceUrl())})\njob = client.submit(${pythonLiteral(request)})\njob.wait()\n`;
}
