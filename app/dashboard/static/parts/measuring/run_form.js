/**
 * The form that uploads a TREC run, so that what another system ranks can be evaluated and compared.
 * @module
 */
import { acceptDrop } from "../forms/drop_files.js";
import { onSubmit } from "../forms/forms.js";
import { contentsOf, upload } from "../forms/upload.js";

/**
 * @param {HTMLFormElement} form
 * @param {(job: any) => void} uploaded
 */
export function runForm(form, uploaded) {
  acceptDrop(form);
  onSubmit(form, async () => {
    uploaded(await upload("/v1/rankings", contentsOf(form), () => {}).done);
  });
}
