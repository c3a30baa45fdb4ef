/**
 * Pointing an alias at a version: at once, or by a job where a gate is to say whether it may.
 * @module
 */
import { request } from "../page/api.js";
import { modelApi } from "../page/addresses.js";
import { announce, replace } from "../page/dom.js";
import { followJob, unfinished } from "../jobs/followed_job.js";

/** @param {string} name @param {string} alias @param {string} [below] */
export function aliasApi(name, alias, below = "") {
  return modelApi(name, `/aliases/${encodeURIComponent(alias)}${below}`);
}

/**
 * @param {{name: string, version: number}} model
 * @param {string} alias
 * @param {HTMLElement} place of the job, and of the reason where the gate refuses
 * @returns {Promise<boolean>} whether the alias has moved
 */
export async function setAlias({ name, version }, alias, place) {
  const { status, body } = await request(aliasApi(name, alias), { method: "PUT", json: { version } });
  if (status === 202) {
    const job = await followJob(place, body);
    replace(place, unfinished(job));
    if (job.status !== "succeeded") return false;
  }
  announce(`${name}@${alias} is version ${version}.`);
  return true;
}
