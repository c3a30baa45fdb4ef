/**
 * The form that uploads judged data: one file, or the parts of a split, with how to read them.
 * @module
 */
import { acceptDrops } from "../forms/drop_files.js";
import { announce } from "../page/dom.js";
import { onSubmit } from "../forms/forms.js";
import { contentsOf, upload } from "../forms/upload.js";
import { sentWatcher } from "../forms/upload_progress.js";

/**
 * @param {HTMLFormElement} form
 * @param {(dataset: any) => void} uploaded
 */
export function uploadForm(form, uploaded) {
  const stop = form.querySelector('[data-action="abort"]');
  const progress = form.querySelector(".upload-progress");

  acceptDrops(form, (layout) => {
    const choice = form.querySelector(`[name="layout"][value="${layout}"]`);
    choice.checked = true;
    choice.dispatchEvent(new Event("change", { bubbles: true }));
  });
  form.addEventListener("change", (event) => {
    if (event.target.files?.length) event.target.closest("details")?.setAttribute("open", "");
  });

  onSubmit(form, async () => {
    const transfer = upload("/v1/datasets", contentsOf(form), sentWatcher(progress));
    addEventListener("beforeunload", keep);
    stop.onclick = transfer.abort;
    stop.hidden = false;
    try {
      const dataset = await transfer.done;
      removeEventListener("beforeunload", keep);
      if (dataset) uploaded(dataset);
      else announce("The upload was stopped.");
    } finally {
      removeEventListener("beforeunload", keep);
      stop.hidden = true;
      progress.hidden = true;
    }
  });
}

/** Leaving the page would end the upload. */
function keep(event) {
  event.preventDefault();
}
