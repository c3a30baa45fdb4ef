/**
 * Submitting several jobs together: all of them, or none where one is refused.
 * @module
 */
import { creator, Problem } from "../page/api.js";

const PLACE = /^\/jobs\/\d+/;

/** @returns {(requests: Record<string, any>[]) => Promise<any[]>} */
export function manyCreator() {
  const create = creator();
  return async (requests) => {
    if (requests.length === 1) return [await create("/v1/jobs", requests[0])];
    try {
      return (await create("/v1/jobs/batch", { jobs: requests })).jobs;
    } catch (error) {
      throw error instanceof Problem ? ofTheForm(error) : error;
    }
  };
}

/** The problem with each mistake once, at its place in the form that all the jobs come from. @param {Problem} problem */
function ofTheForm({ status, title, message, errors }) {
  const said = new Map(errors.map(({ pointer, detail }) => ({ pointer: pointer.replace(PLACE, ""), detail })).map((error) => [error.pointer + error.detail, error]));
  return new Problem(status, { title, detail: message, errors: [...said.values()] });
}
