/** Two distributions of one feature, drawn as pairs of columns. @module */
import { h, svg } from "../page/dom.js";
import { percent, short } from "../page/format.js";

const HEIGHT = 100;
const GAP = 0.2;

/**
 * Return a figure with a pair of columns for each bin or category: its shares in both distributions.
 * @param {{name: string, profile: {edges?: number[] | null, categories?: string[] | null, before: number[], after: number[]}}} feature
 * @param {string} before label of the first column of each pair
 * @param {string} after
 */
export function profiles({ name, profile }, before, after) {
  const labels = profile.categories ? ["missing", ...profile.categories] : binLabels(profile.edges ?? []);
  const largest = Math.max(...profile.before, ...profile.after, 1e-9);
  const width = (1 - GAP) / 2;
  const column = (/** @type {number} */ share, /** @type {number} */ x, /** @type {string} */ kind) =>
    svg("rect", { class: kind, x, y: HEIGHT * (1 - share / largest), width, height: (HEIGHT * share) / largest });
  const pairs = labels.map((label, index) =>
    svg("g", [
      svg("title", [
        pairLabel(label, [
          [before, profile.before[index]],
          [after, profile.after[index]],
        ]),
      ]),
      svg("rect.whole", { x: index, y: 0, width: 1, height: HEIGHT }),
      column(profile.before[index], index + GAP / 2, "before"),
      column(profile.after[index], index + GAP / 2 + width, "after"),
    ]),
  );
  const words = labels.map(
    (label, index) => `${label}: ${percent(profile.before[index], 1)} and ${percent(profile.after[index], 1)}`,
  );
  return h("figure.profiles", [
    h("figcaption", h("strong", name), " ", h("span.key.before", before), h("span.key.after", after)),
    svg(
      "svg",
      {
        viewBox: `0 0 ${labels.length} ${HEIGHT}`,
        preserveAspectRatio: "none",
        role: "img",
        "aria-label": `${before} and ${after}: ${words.join("; ")}`,
      },
      pairs,
    ),
    h("div.profile-axis", { "aria-hidden": "true" }, h("span", labels[0]), h("span", labels.at(-1))),
  ]);
}

/** "up to 0.5: Before 12%, Now 30%" @param {string} label @param {[distribution: string, share: number][]} shares */
export const pairLabel = (label, shares) =>
  `${label}: ${shares.map(([distribution, share]) => `${distribution} ${percent(share, 1)}`).join(", ")}`;

/** "missing", "up to 0.5", "0.5 to 2", "above 2" @param {number[]} edges upper edges of all bins but the last */
function binLabels(edges) {
  const bins = edges.map((edge, index) =>
    index ? `${short(edges[index - 1])} to ${short(edge)}` : `up to ${short(edge)}`,
  );
  return ["missing", ...bins, edges.length ? `above ${short(edges[edges.length - 1])}` : "any"];
}
