/**
 * The request that would submit a job again: what was asked for, without what the API takes by itself.
 * @module
 */
import { get } from "../page/api.js";

/** References to the schemas of the requests that `/v1/jobs` takes, by the kind of job. */
function requestsOf({ paths }) {
  return paths["/v1/jobs"].post.requestBody.content["application/json"].schema.discriminator.mapping;
}

/** Whether jobs of this kind are submitted to `/v1/jobs`. @param {string} kind */
export async function isSubmitted(kind) {
  return kind in requestsOf(await get("/openapi.json"));
}

/**
 * @param {import("./job_labels.js").Job} job
 * @returns {Promise<Record<string, any>>}
 */
export async function requestOf({ kind, spec }) {
  const [document, { presets }] = await Promise.all([get("/openapi.json"), get("/v1/metrics")]);
  const shrink = shrinker(document.components.schemas);
  const asked = { ...pinned(spec), ...unseeded(spec), contract: named(spec.contract, presets) };
  const { kind: _, ...rest } = shrink(asked, { $ref: requestsOf(document)[kind] });
  return { kind, ...rest };
}

/** A contract by the name of the preset that it is. */
function named(contract, presets) {
  if (!contract) return contract;
  const { preset, ...conventions } = contract;
  return same(conventions, presets[preset]) ? preset : contract;
}

/** The loss without the seed that it has from the job, so that it follows when the job's is changed. */
function unseeded({ loss, seed }) {
  return loss && loss.seed === seed ? { loss: { ...loss, seed: null } } : {};
}

/** A model by its version, which an alias may have left since. */
function pinned(value) {
  if (Array.isArray(value)) return value.map(pinned);
  if (!value || typeof value !== "object") return value;
  const entries = Object.entries(value).map(([name, content]) => [name, pinned(content)]);
  const all = Object.fromEntries(entries);
  return all.model && all.system ? { ...all, model: all.system } : all;
}

/** @param {Record<string, any>} schemas by name @returns {(value: any, schema: any) => any} */
function shrinker(schemas) {
  const resolve = (schema) => (schema?.$ref ? schemas[schema.$ref.split("/").at(-1)] : schema);

  /** The schema, of several, that the value follows. */
  function alternative(value, schema) {
    const { discriminator } = schema;
    if (discriminator) return resolve({ $ref: discriminator.mapping[value[discriminator.propertyName]] });
    const options = (schema.oneOf || schema.anyOf).flatMap((each) => (each.oneOf ? each.oneOf : [each])).map(resolve);
    return options.find(({ required }) => required?.every((name) => name in value)) || options.find(({ properties }) => properties) || {};
  }

  return function shrink(value, given) {
    let schema = resolve(given) || {};
    if (Array.isArray(value)) return value.map((each) => shrink(each, schema.items));
    if (!value || typeof value !== "object") return value;
    if (schema.oneOf || schema.anyOf) schema = alternative(value, schema);
    const { properties, required = [] } = schema;
    if (!properties) return value;
    const kept = Object.entries(properties).flatMap(([name, property]) => {
      const content = value[name];
      if (content === null || content === undefined) return [];
      if (!required.includes(name) && same(content, property.default)) return [];
      const less = shrink(content, property);
      return isEmpty(less) && !required.includes(name) ? [] : [[name, less]];
    });
    return Object.fromEntries(kept);
  };
}

function isEmpty(value) {
  return typeof value === "object" && !Array.isArray(value) && Object.keys(value).length === 0;
}

/** Whatever the order of the names. */
function same(one, other) {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

function sorted(value) {
  if (!value || typeof value !== "object" || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([name], [other]) => name.localeCompare(other)));
}
