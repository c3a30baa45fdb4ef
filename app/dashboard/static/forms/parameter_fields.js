/** Fields for a loss and its hyperparameters; several values in a field make a grid. @module */
import { checkBox, textInput } from "./controls.js";
import { withCode } from "../page/content.js";
import { payloadOf, setAt, valuesOf } from "./forms.js";
import { elementById, find, findAll, h, replace, setAttribute, setText } from "../page/dom.js";
import { count, short, joined } from "../page/format.js";

// A value of any other type is parsed as JSON if it looks like JSON.
/** @type {Record<string, string>} */ const TYPES = {
  number: "number",
  integer: "integer",
  boolean: "boolean",
  text: "text",
  list: "layers",
  "text or list": "text",
};
export const CUSTOM_NUMBERS = "custom numbers";
export const SEVERAL = "several";
// Do not show bounds beyond practical values.
const MAX_SHOWN_BOUND = 1e6;

/**
 * @typedef {object} FieldOptions
 * @property {boolean} [single] whether the parameter cannot have several values in a grid
 * @property {string} [label] label of the field, the parameter's name unless given
 * @property {string} [placeholder] example of a value; the default unless given
 * @property {string | number} [value] initial value
 */
/** @typedef {Omit<Schemas["ParameterDescription"], "optional"> & FieldOptions} Parameter */

/** Return the field of a declared hyperparameter. @param {string} pointer @param {Parameter} parameter */
export function parameterField(pointer, parameter) {
  const [control, ...more] = controls(pointer, parameter);
  control.id = `field${pointer.replaceAll("/", "-")}`;
  const words = joined([parameter.description.replace(/\.$/, ""), boundLabel(parameter)], " · ");
  setAttribute(control, "aria-description", words.replaceAll("`", ""));
  return h("div.field", [
    h("label", { for: control.id }, label(parameter)),
    control,
    ...more,
    h("small.below", parameter.label && [h("code", parameter.name), " "], ...withCode(words)),
  ]);
}

/** @param {string} pointer @param {Parameter} parameter @returns {HTMLElement[]} */
function controls(pointer, parameter) {
  const choices = parameter.type === "boolean" ? ["true", "false"] : parameter.choices;
  const type = TYPES[parameter.type] || "json";
  if (!choices.length)
    return [input(pointer, type, parameter.placeholder || `${defaultLabel(parameter)} (default)`, parameter.value)];
  if (parameter.type === "text or list") return choiceOrNumbers(pointer, parameter, choices);
  if (parameter.single) return [select(pointer, type, parameter, choices)];
  return choiceOrSeveral(pointer, type, parameter, choices);
}

/**
 * @param {string} pointer @param {string} type @param {Parameter} parameter @param {(string | number)[]} choices
 * @param {...HTMLOptionElement} more
 */
function select(pointer, type, parameter, choices, ...more) {
  const others = choices.filter((choice) => String(choice) !== String(parameter.default));
  return h("select", { "data-pointer": pointer, "data-type": type }, [
    h("option", { value: "" }, `${defaultLabel(parameter)} (default)`),
    ...others.map((choice) => h("option", { value: choice }, choice)),
    ...more,
  ]);
}

/** @param {string} pointer @param {string} type @param {string} placeholder @param {string | number} [value] */
function input(pointer, type, placeholder, value = "") {
  const number = type === "number" || type === "integer" || type === "layers";
  return textInput({ placeholder, value, "data-pointer": pointer, "data-type": type, "data-grid": number });
}

/**
 * Return a select of names with a second control for numbers, which takes over the pointer when chosen.
 * @param {string} pointer @param {Parameter} parameter @param {(string | number)[]} choices
 */
function choiceOrNumbers(pointer, parameter, choices) {
  const choice = select(pointer, "text", parameter, choices, h("option", { value: CUSTOM_NUMBERS }, "custom numbers…"));
  const numbers = input(pointer, "numbers", "0, 1, 3, 7, 15");
  setAttribute(numbers, "aria-label", `${label(parameter)}, custom numbers`);
  const follow = () => {
    const custom = choice.value === CUSTOM_NUMBERS;
    numbers.hidden = !custom;
    numbers.disabled = !custom;
    setAttribute(choice, "data-pointer", !custom && pointer);
  };
  choice.addEventListener("change", follow);
  follow();
  return [choice, numbers];
}

/**
 * Return a select of choices with a group of check boxes for several, which takes over the pointer when chosen.
 * @param {string} pointer @param {string} type @param {Parameter} parameter @param {(string | number)[]} choices
 */
function choiceOrSeveral(pointer, type, parameter, choices) {
  const choice = select(pointer, type, parameter, choices, h("option", { value: SEVERAL }, "several values…"));
  const box = (/** @type {string | number} */ value) => checkBox({ value }, value);
  const group = h(
    "fieldset.values",
    {
      "aria-label": "Values to try",
      "data-type": "several",
      "data-of": type,
      "data-grid": true,
      hidden: true,
      disabled: true,
    },
    choices.map(box),
  );
  choice.addEventListener("change", () => {
    const several = choice.value === SEVERAL;
    group.hidden = !several;
    group.disabled = !several;
    setAttribute(choice, "data-pointer", !several && pointer);
    setAttribute(group, "data-pointer", several && pointer);
  });
  return [choice, group];
}

/** @param {Parameter} parameter */
const defaultLabel = ({ default: value }) =>
  value === null || value === undefined ? "none" : Array.isArray(value) ? value.join(", ") : short(value);

/** "above 0, at most 10". @param {Parameter} parameter */
function boundLabel({ minimum, exclusive_minimum: above, maximum }) {
  const low = minimum != null && Math.abs(minimum) < MAX_SHOWN_BOUND;
  const high = maximum != null && maximum < MAX_SHOWN_BOUND;
  if (low && high && !above) return `${count(minimum)} to ${count(maximum)}`;
  return joined(
    [low && `${above ? "above" : "at least"} ${count(minimum)}`, high && `at most ${count(maximum)}`],
    ", ",
  );
}

/** @param {Parameter} parameter */
const label = ({ name, label: given }) =>
  given || name.replaceAll("_", " ").replace(/^./, (letter) => letter.toUpperCase());

const DEFAULT_LOSS = "lambdarank";
const FAMILIES = Object.entries({
  Pointwise: ["mse"],
  Pairwise: [
    ...["ranknet", "w-ranknet", "ranksvm", "w-ranksvm", "rankboost", "w-rankboost"],
    ...["lambdarank", "arp-loss1", "arp-loss2", "ndcg-loss1", "ndcg-loss2", "ndcg-loss2++"],
  ],
  Listwise: ["listnet", "listmle", "w-listmle", "xe-ndcg"],
});
const FIRST_PARAMETERS = ["target", "mu", "truncation_level", "pair_selection"];

/** @typedef {Schemas["LossDescription"]} Loss */

/** Offer the losses, with the fields of the chosen one. @param {Loss[]} losses */
export function offerLosses(losses) {
  const select = elementById("loss", HTMLSelectElement);
  replace(select, ...grouped(losses));
  const show = () => {
    const loss = losses.find((each) => each.name === select.value);
    if (loss) showLoss(loss);
  };
  select.addEventListener("change", show);
  if (losses.some((loss) => loss.name === DEFAULT_LOSS)) select.value = DEFAULT_LOSS;
  show();
  offerOthers(losses, select);
}

/** @param {Loss[]} losses */
function grouped(losses) {
  const placed = new Set(FAMILIES.flatMap(([, names]) => names));
  /** @type {[family: string, members: Loss[]][]} */
  const groups = FAMILIES.map(([family, names]) => [family, losses.filter((loss) => names.includes(loss.name))]);
  groups.push(["Others", losses.filter((loss) => !placed.has(loss.name))]);
  const option = (/** @type {Loss} */ { name }) => h("option", { value: name }, name);
  return groups
    .filter(([, members]) => members.length)
    .map(([family, members]) => h("optgroup", { label: family }, ...members.map(option)));
}

/**
 * Offer check boxes for further losses to train with, each with its default parameters.
 * @param {Loss[]} losses @param {HTMLSelectElement} select
 */
function offerOthers(losses, select) {
  const container = find(document, "[data-also]");
  const box = (/** @type {Loss} */ { name, summary: words }) =>
    h("label.check", { title: words }, h("input", { type: "checkbox", value: name }), name);
  container.append(...losses.map(box));
  const follow = () => {
    for (const each of findAll(container, "input", HTMLInputElement)) each.disabled = each.value === select.value;
  };
  select.addEventListener("change", follow);
  follow();
}

/** @param {Loss} loss */
function showLoss({ summary, formula, source, choose, parameters }) {
  setText(elementById("loss-formula"), formula || "");
  setText(elementById("loss-summary"), joined([summary, source], " · "));
  setText(elementById("loss-choose"), choose ? `${choose}.` : "");
  const first = parameters.filter(({ name }) => FIRST_PARAMETERS.includes(name));
  const others = parameters.filter((each) => !first.includes(each));
  replace(
    elementById("loss-parameters"),
    [...first, ...others].map((each) => parameterField(`/loss/${each.name}`, each)),
  );
}

/** Maximum number of points of a grid. */
export const MAX_GRID_POINTS = 100;

/** @typedef {{pointer: string, name: string, values: Json[]}} Axis */

/**
 * Return the grid over the values of a form, whose axes are the fields with several values.
 * @param {HTMLFormElement} form
 * @returns {{size: number, axes: [string, number][], requests: () => Record<string, Json>[]}}
 *   axes: names of the varied parameters with their numbers of values; requests: one per point of the grid
 */
export function gridOf(form) {
  const base = payloadOf(form);
  const axes = axesOf(form);
  const lossAxes = axes.filter(({ pointer }) => pointer.startsWith("/loss/"));
  const otherAxes = axes.filter((axis) => !lossAxes.includes(axis));
  const others = findAll(form, "[data-also] input:checked:not(:disabled)", HTMLInputElement)
    .map(({ value }) => value)
    .filter((name) => name !== lossName(base));
  /** @param {Axis[]} some */
  const pointCount = (some) => some.reduce((total, { values }) => total * values.length, 1);
  /** @param {Axis[]} some @returns {[string, number][]} */
  const varied = (some) => some.map(({ name, values }) => [name.replaceAll("_", " "), values.length]);
  const losses = pointCount(lossAxes) + others.length;
  /** @type {[string, number][]} */
  const variedLosses = others.length ? [["losses", losses]] : varied(lossAxes);
  const size = pointCount(otherAxes) * losses;
  return {
    size,
    axes: [...variedLosses, ...varied(otherAxes)],
    requests() {
      const grid = new Date().toISOString().slice(0, 19).replace("T", " ");
      // The other losses have their default parameters: the fields belong to the chosen loss only.
      /** @type {{steps: [string, Json][], loss?: {name: string}}[]} */
      const variants = [
        ...product(lossAxes).map((steps) => ({ steps })),
        ...others.map((name) => ({ steps: [], loss: { name } })),
      ];
      return variants.flatMap(({ steps, loss }) =>
        product(otherAxes).map((more) => {
          const request = structuredClone(base);
          for (const [pointer, value] of [...steps, ...more]) setAt(request, pointer, value);
          if (loss) request.loss = loss;
          const varying = [...steps, ...more].map(([pointer, value]) => pair(tagOf(pointer), String(value)));
          const tags = { ...tagsOf(request), grid, ...Object.fromEntries(varying) };
          const trained = lossName(request);
          return size > 1
            ? { ...request, tags: others.length && trained ? { ...tags, loss: trained } : tags }
            : request;
        }),
      );
    },
  };
}

/** @param {Record<string, Json>} request @returns {string | undefined} */
const lossName = ({ loss }) => (loss && typeof loss === "object" && "name" in loss ? String(loss.name) : undefined);

/** @param {HTMLFormElement} form @returns {Axis[]} */
function axesOf(form) {
  return findAll(form, "[data-grid][data-pointer]:not(:disabled)", HTMLElement)
    .filter((control) => !control.matches("fieldset:disabled *"))
    .map((control) => {
      const pointer = control.dataset.pointer ?? "";
      return { pointer, name: pointer.slice(pointer.lastIndexOf("/") + 1), values: valuesOf(control) };
    })
    .map(({ values, ...axis }) => ({ ...axis, values: values.filter((value) => value !== undefined) }))
    .filter(({ values }) => values.length > 1);
}

/** Return all combinations of one value of each axis, as pairs of pointer and value. @param {Axis[]} axes */
function product(axes) {
  return axes.reduce(
    (ways, { pointer, values }) => ways.flatMap((way) => values.map((value) => [...way, pair(pointer, value)])),
    /** @type {[string, Json][][]} */ ([[]]),
  );
}

/** @param {string} pointer @param {Json} value @returns {[string, Json]} */
const pair = (pointer, value) => [pointer, value];

/** @param {Record<string, Json>} request */
const tagsOf = ({ tags }) => (tags && typeof tags === "object" && !Array.isArray(tags) ? tags : {});

/** Return the name of a model's tag for a pointer, such as "num_leaves". @param {string} pointer */
function tagOf(pointer) {
  const name = pointer.split("/").at(-1) ?? "";
  return name.toLowerCase().replace(/[^a-z0-9._-]/g, "_");
}
