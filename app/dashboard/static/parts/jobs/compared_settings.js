/**
 * What trainings were asked for, where they differ.
 * @module
 */
import { flatten } from "./specification.js";

// How a job waits and what it may take change nothing of what comes out.
const NO_MATTER = /^(kind|model_name|priority|limits\b.*)$/;

/** @typedef {{name: string, values: Map<string, any>}} Setting values by the job's id, undefined in jobs that know no such setting */

/**
 * The settings that are not the same in all. What belongs to a loss counts where it is not at that loss's default.
 * @param {import("./job_labels.js").Job[]} jobs
 * @param {import("../forms/loss_fields.js").Loss[]} losses
 * @returns {Setting[]}
 */
export function differingSettings(jobs, losses) {
  const specs = jobs.map((job) => [job.id, new Map(flatten(job.spec || {}))]);
  const names = new Set(specs.flatMap(([, spec]) => [...spec.keys()]));
  const differs = (name) => {
    const values = specs.map(([, spec]) => JSON.stringify(spec.get(name)));
    return new Set(values).size > 1 && specs.some(([, spec]) => spec.has(name) && !isDefault(spec, name, losses));
  };
  return [...names]
    .filter((name) => !NO_MATTER.test(name) && differs(name))
    .map((name) => ({ name, values: new Map(specs.map(([id, spec]) => [id, spec.get(name)])) }));
}

function isDefault(spec, name, losses) {
  const parameters = losses.find((loss) => loss.name === spec.get("loss name"))?.parameters || [];
  const parameter = parameters.find((each) => `loss ${each.name}` === name);
  return parameter !== undefined && JSON.stringify(parameter.default) === JSON.stringify(spec.get(name));
}

/**
 * What each is called beside the others: its model, with what sets it apart where models share a name,
 * "web: ndcg-loss2++, 0.05".
 * @param {import("./job_labels.js").Job[]} jobs
 * @param {Setting[]} differing
 * @returns {Map<string, string>} by id
 */
export function names(jobs, differing) {
  const alike = new Set(jobs.map(({ spec }) => spec.model_name)).size < jobs.length;
  const words = (job) => {
    const apart = differing.map(({ values }) => values.get(job.id)).filter((value) => ["string", "number"].includes(typeof value));
    const few = apart.slice(0, 3).join(", ");
    return alike && few ? `${job.spec.model_name}: ${few}` : job.spec.model_name;
  };
  const seen = new Map();
  return new Map(
    jobs.map((job) => {
      const name = words(job);
      seen.set(name, (seen.get(name) || 0) + 1);
      return [job.id, seen.get(name) > 1 ? `${name} (${seen.get(name)})` : name];
    }),
  );
}
