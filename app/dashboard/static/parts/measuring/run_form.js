/**
 * The form that uploads a TREC run, so that what another system ranks can be evaluated and compared.
 * @module
 */
import { acceptDrop } from "../forms/drop_files.js";
import { onSubmit, payloadOf } from "../forms/forms.js";
import { upload } from "../forms/upload.js";

/**
 * @param {HTMLFormElement} form
 * @param {(job: any) => void} uploaded
 */
export function runForm(form, uploaded) {
  acceptDrop(form);
  onSubmit(form, async () => {
    const data = new FormData();
    // Texts first, so that the server knows the dataset before it has the run.
    for (const [name, value] of Object.entries(payloadOf(form))) data.append(name, value);
    const [file] = form.querySelector('input[type="file"]').files;
    if (file) data.append("file", file);
    uploaded(await upload("/v1/rankings", data, () => {}).done);
  });
}
