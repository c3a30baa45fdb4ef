/** Champions: models in use, with a sparkline of their metric over the versions of their name. @module */
import { comparisonFormPage, modelPage } from "../page/paths.js";
import { h, svg } from "../page/dom.js";
import { metric, timeElement } from "../page/format.js";

/** @typedef {NonNullable<Schemas["AliasedModel"]["trend"]>} Trend */

const SPARK = { width: 160, height: 36, margin: 4 };

/** @param {Schemas["AliasedModel"][]} champions */
export const championList = (champions) => h("ul.plain-list", ...champions.map(champion));

/** @param {Schemas["AliasedModel"]} champion */
function champion({ name, version, updated_at: moved, metrics, trend }) {
  const reference = `${name}:${version}`;
  const [main] = Object.entries(metrics ?? {});
  const newer = newest(trend, version);
  return h("li.champion", [
    h("a.job-title.quiet-link", { href: modelPage(reference) }, reference),
    h("p.job-meta", [
      "In use since ",
      timeElement(moved),
      newer && [
        ` · Version ${newer.version} has ${metric(newer.value)}: `,
        h("a", { href: comparisonFormPage([reference, `${name}:${newer.version}`]) }, "compare"),
      ],
    ]),
    trend && sparkline(trend, version),
    main
      ? h("span.job-figure", h("strong", metric(main[1])), h("small", `${main[0]} test`))
      : h("span.hint", "Not tested"),
  ]);
}

/**
 * Return the newest version and its metric value, or null if it is not newer than the champion.
 * @param {Trend | null | undefined} trend
 * @param {number} champion version of the champion
 */
export function newest(trend, champion) {
  const version = trend?.versions.at(-1);
  return trend && version !== undefined && version > champion ? { version, value: trend.values.at(-1) } : null;
}

/** Draw the metric by version, with a dot at the champion. @param {Trend} trend @param {number} version */
function sparkline({ metric: name, versions, values }, version) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const stepX = (SPARK.width - 2 * SPARK.margin) / (values.length - 1);
  const scaleY = (SPARK.height - 2 * SPARK.margin) / (high - low || 1);
  const points = values.map((value, index) => [SPARK.margin + index * stepX, SPARK.margin + (high - value) * scaleY]);
  const words = `${name} on the same test data: ${metric(values[0])} of version ${versions[0]} to ${metric(values.at(-1))} of version ${versions.at(-1)}`;
  const [x, y] = points[versions.indexOf(version)] ?? [];
  return svg("svg.sparkline", { viewBox: `0 0 ${SPARK.width} ${SPARK.height}`, role: "img", "aria-label": words }, [
    svg("title", words),
    svg("polyline", { points: points.map((point) => point.map((each) => each.toFixed(1)).join(",")).join(" ") }),
    x !== undefined && svg("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r: 3 }),
  ]);
}
