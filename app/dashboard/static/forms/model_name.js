/** A hint below a model name that is in use. @module */
import { get } from "../page/api.js";
import { latestReader } from "../page/content.js";
import { elementById, find, setText } from "../page/dom.js";

/** Show in `#known-versions` that a new model becomes another version of its name. @param {HTMLFormElement} form */
export function showKnownVersions(form) {
  const field = find(form, '[data-pointer="/model_name"]', HTMLInputElement);
  const container = elementById("known-versions");
  const read = latestReader(container, () => show([])); // the answer to the form has the reason of a refusal

  /** @param {{version: number}[]} latest at most one */
  function show([latest]) {
    const name = field.value.trim();
    container.hidden = !latest;
    setText(container, latest ? `${name} has a version ${latest.version}; the new model becomes a later version.` : "");
  }

  function look() {
    const name = field.value.trim();
    const query = new URLSearchParams({ name, latest: "true", limit: "1", fields: "version" });
    read(async () => (name ? (await get(`/v1/models?${query}`)).items : []), show);
  }

  field.addEventListener("change", look);
  look();
}
