/**
 * The form that takes in a model trained elsewhere, and the progress of its upload and of its job.
 * @module
 */
import { acceptDrop } from "../forms/drop_files.js";
import { problemBox, replace } from "../page/dom.js";
import { followJob, unfinished } from "../jobs/followed_job.js";
import { onSubmit } from "../forms/forms.js";
import { contentsOf, upload } from "../forms/upload.js";
import { sentWatcher } from "../forms/upload_progress.js";

/**
 * @param {HTMLFormElement} form
 * @param {HTMLElement} place of the job
 * @param {(modelId: string) => void} imported
 */
export function importForm(form, place, imported) {
  const progress = form.querySelector(".upload-progress");
  acceptDrop(form);
  onSubmit(form, async () => {
    try {
      follow(await upload("/v1/models", contentsOf(form), sentWatcher(progress)).done);
    } finally {
      progress.hidden = true;
    }
  });

  /** Stays with the job; where nothing came of it, the form still holds what was typed. */
  async function follow(job) {
    form.hidden = true;
    try {
      const ended = await followJob(place, job);
      if (ended.status === "succeeded") return imported(ended.result.model_id);
      replace(place, unfinished(ended));
    } catch (problem) {
      replace(place, problemBox(problem));
    }
    form.hidden = false;
  }
}
