/**
 * What one can do with a dataset.
 * @module
 */
import { Away, Problem, request } from "../page/api.js";
import { datasetApi } from "../page/addresses.js";
import { confirmed } from "../page/confirm.js";
import { announce, h } from "../page/dom.js";

/**
 * @param {any} dataset
 * @param {() => void} deleted called when it is gone
 */
export function datasetActions(dataset, deleted) {
  const { id, status, job_id: job } = dataset;
  return h(
    "div",
    { class: "actions" },
    status === "ready" && h("a", { class: "button", href: `/train?dataset=${encodeURIComponent(id)}` }, "Train on it"),
    job && h("a", { class: "button quiet", href: `/jobs/${encodeURIComponent(job)}` }, "Job"),
    status !== "pending" && deleteButton(dataset, deleted),
  );
}

function deleteButton({ id, name }, deleted) {
  const button = h("button", { type: "button", class: "quiet danger", "aria-label": `Delete ${name}`, click }, "Delete");
  async function click() {
    button.parentElement.querySelector(".error")?.remove();
    const words = { question: `Delete ${name}?`, consequence: "Its data cannot be brought back. Models trained on it stay.", yes: "Delete", no: "Keep it" };
    if (await confirmed(words)) await remove();
    button.focus();
  }
  async function remove() {
    try {
      await request(datasetApi(id), { method: "DELETE" });
    } catch (error) {
      if (!(error instanceof Problem) && !(error instanceof Away)) throw error;
      button.after(h("span", { class: "error", role: "alert" }, error.message));
      return;
    }
    announce(`${name} was deleted.`);
    deleted();
  }
  return button;
}
