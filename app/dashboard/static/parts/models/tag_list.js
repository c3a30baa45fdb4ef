/**
 * What the owners of a model mark it with, each leading to all models that are marked so.
 * @module
 */
import { h } from "../page/dom.js";

/** @param {Record<string, string>} tags */
export function tagList(tags) {
  return Object.entries(tags).map(([name, value]) => {
    const words = value ? `${name}: ${value}` : name;
    const wanted = value ? `${name}:${value}` : name;
    return h("a", { class: "tag plain", href: `/models?${new URLSearchParams({ tag: wanted })}`, title: "All models with this tag" }, words);
  });
}
