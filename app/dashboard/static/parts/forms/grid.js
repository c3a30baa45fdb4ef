/**
 * A grid over the values of a form: each field that holds several takes part.
 * @module
 */
import { payloadOf, setAt, valuesOf } from "./forms.js";

export const MOST = 100;

/**
 * @param {HTMLFormElement} form
 * @returns {{size: number, axes: [string, number][], requests: () => Record<string, any>[]}}
 *   axes: what is varied, in how many values; requests: one a point of the grid
 */
export function gridOf(form) {
  const base = payloadOf(form);
  const axes = axesOf(form);
  const own = axes.filter(({ pointer }) => pointer.startsWith("/loss/"));
  const shared = axes.filter((axis) => !own.includes(axis));
  const others = [...form.querySelectorAll("[data-also] input:checked:not(:disabled)")].map(({ value }) => value).filter((name) => name !== base.loss?.name);
  const points = (some) => some.reduce((total, { values }) => total * values.length, 1);
  const varied = (some) => some.map(({ name, values }) => [name.replaceAll("_", " "), values.length]);
  const losses = points(own) + others.length;
  return {
    size: points(shared) * losses,
    axes: [...(others.length ? [["losses", losses]] : varied(own)), ...varied(shared)],
    requests() {
      // The other losses are at their defaults: the fields of this one mean nothing to them.
      const variants = [...product(own).map((steps) => ({ steps })), ...others.map((name) => ({ steps: [], loss: { name } }))];
      return variants.flatMap(({ steps, loss }) =>
        product(shared).map((more) => {
          const request = structuredClone(base);
          for (const [pointer, value] of [...steps, ...more]) setAt(request, pointer, value);
          if (loss) request.loss = loss;
          const values = [...steps, ...more].map(([, value]) => value);
          return { ...request, model_name: nameOf(request.model_name, others.length > 0 ? [request.loss.name, ...values] : values) };
        }),
      );
    },
  };
}

function axesOf(form) {
  return [...form.querySelectorAll("[data-grid][data-pointer]:not(:disabled)")]
    .filter((control) => !control.matches("fieldset:disabled *"))
    .map((control) => ({ pointer: control.dataset.pointer, name: control.dataset.pointer.split("/").at(-1), values: valuesOf(control) }))
    .filter(({ values }) => values.length > 1);
}

/** Every way to take one value of each axis, as pairs of pointer and value. */
function product(axes) {
  return axes.reduce((ways, { pointer, values }) => ways.flatMap((way) => values.map((value) => [...way, [pointer, value]])), [[]]);
}

/** "web-0.05-31": what sets it apart stands in its name. */
function nameOf(name, parts) {
  const plain = (part) => String(part).toLowerCase().replaceAll("+", "p").replace(/[^a-z0-9._-]/g, "");
  return [name, ...parts.map(plain)].filter(Boolean).join("-");
}
