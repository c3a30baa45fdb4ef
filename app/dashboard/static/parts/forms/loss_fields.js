/**
 * The choice of a loss, and the fields for its hyperparameters: the few that matter most in sight, the others folded.
 * @module
 */
import { h, replace, setText } from "../page/dom.js";
import { counted } from "../page/format.js";
import { parameterField } from "./parameter_field.js";

const STANDARD = "lambdarank";
const FAMILIES = [
  ["Pointwise", ["mse"]],
  ["Pairwise", ["ranknet", "w-ranknet", "ranksvm", "rankboost", "lambdarank", "arp-loss1", "arp-loss2", "ndcg-loss1", "ndcg-loss2", "ndcg-loss2++"]],
  ["Listwise", ["listnet", "listmle", "w-listmle", "xe-ndcg"]],
];
const IN_SIGHT = ["target", "mu", "truncation_level", "pair_selection"];

/**
 * @typedef {object} Loss
 * @property {string} name
 * @property {string} summary
 * @property {string} formula
 * @property {string} source
 * @property {string} choose when to take it
 * @property {import("./parameter_field.js").Parameter[]} parameters
 */

/** Fills the form's part for the loss and keeps it to the choice. @param {Loss[]} losses */
export function offerLosses(losses) {
  const select = /** @type {HTMLSelectElement} */ (document.getElementById("loss"));
  replace(select, ...grouped(losses));
  const show = () => showLoss(losses.find((each) => each.name === select.value));
  select.addEventListener("change", show);
  if (losses.some((loss) => loss.name === STANDARD)) select.value = STANDARD;
  show();
  offerOthers(losses, select);
}

function grouped(losses) {
  const placed = new Set(FAMILIES.flatMap(([, names]) => names));
  const groups = FAMILIES.map(([family, names]) => [family, losses.filter((loss) => names.includes(loss.name))]);
  groups.push(["Others", losses.filter((loss) => !placed.has(loss.name))]);
  const option = ({ name }) => h("option", { value: name }, name);
  return groups.filter(([, members]) => members.length).map(([family, members]) => h("optgroup", { label: family }, ...members.map(option)));
}

/** Ticks for losses to train with as well, each at its defaults. */
function offerOthers(losses, select) {
  const place = document.querySelector("[data-also]");
  const summary = place.closest("details").querySelector("summary");
  const box = ({ name, summary: words }) => h("label", { class: "check", title: words }, h("input", { type: "checkbox", value: name }), name);
  place.append(...losses.map(box));
  const follow = () => {
    const boxes = [...place.querySelectorAll("input")];
    for (const each of boxes) each.disabled = each.value === select.value;
    const ticked = boxes.filter((each) => each.checked && !each.disabled).length;
    setText(summary, ticked ? `Also train with ${counted(ticked, "other loss", "other losses")}` : "Also train with other losses");
  };
  place.addEventListener("change", follow);
  select.addEventListener("change", follow);
  follow();
}

/** @param {Loss} loss */
function showLoss({ summary, formula, source, choose, parameters }) {
  setText(document.getElementById("loss-formula"), formula || "");
  setText(document.getElementById("loss-summary"), [summary, source].filter(Boolean).join(" · "));
  setText(document.getElementById("loss-choose"), choose ? `${choose}.` : "");
  const inSight = IN_SIGHT.map((name) => parameters.find((each) => each.name === name)).filter(Boolean);
  const folded = parameters.filter((each) => !inSight.includes(each));
  const fields = (some) => some.map((each) => parameterField(`/loss/${each.name}`, each));
  replace(document.getElementById("loss-parameters"), ...fields(inSight));
  document.getElementById("loss-parameters").hidden = inSight.length === 0;
  replace(document.getElementById("loss-options"), ...fields(folded));
  document.getElementById("loss-more").hidden = folded.length === 0;
}
