/**
 * Submitting several jobs, each once, however often a lost connection makes the user press the button.
 * @module
 */
import { creator } from "../page/api.js";

/** @returns {(requests: Record<string, any>[], told: (done: number) => void) => Promise<any[]>} */
export function manyCreator() {
  /** @type {Map<string, {create: ReturnType<typeof creator>, job: any}>} by what was asked for */
  const known = new Map();
  return async (requests, told) => {
    const jobs = [];
    for (const request of requests) {
      const key = JSON.stringify(request);
      if (!known.has(key)) known.set(key, { create: creator(), job: null });
      const entry = known.get(key);
      entry.job ??= await entry.create("/v1/jobs", request);
      jobs.push(entry.job);
      told(jobs.length);
    }
    known.clear();
    return jobs;
  };
}
