/**
 * One query's documents: labels coloured by grade, and a few features or all of them.
 * @module
 */
import { h, replace, setAttribute, setText } from "../page/dom.js";
import { count, counted, short } from "../page/format.js";
import { featureValue } from "../figures/feature_value.js";
import { grade } from "../figures/grade.js";
import { searchField } from "../lists/search_field.js";
import { sortableTable } from "../lists/sortable_table.js";

const FEW = 8;

/**
 * @typedef {{document_id: string, label: number | null, weight?: number, columns?: Record<string, string>, features: (number | string | null)[]}} Document
 */

/**
 * @param {string[]} names of the features
 * @param {string[]} telling the names of those to show at first, the best first
 * @param {{largestLabel: number | null, weighted: boolean}} options
 * @returns {{node: HTMLElement, show: (documents: Document[]) => void}}
 */
export function documentTable(names, telling, { largestLabel, weighted }) {
  const place = h("div", {});
  const field = searchField("Find a feature", "Find a feature", { input: draw });
  const words = h("p", { class: "hint", role: "status" });
  const few = names.length > FEW && telling.slice(0, FEW);
  const choice = (label, value) => h("button", { type: "button", value, click: () => choose(value) }, label);
  const choices = [choice(`Best ${FEW} by themselves`, "few"), choice(`All ${count(names.length)}`, "all")];
  const tabs = h("div", { class: "tabs small", role: "group", "aria-label": "Features shown" }, ...choices);
  const places = new Map(names.map((name, index) => [name, index]));
  let chosen = few ? "few" : "all";
  let documents = [];
  let table = null;

  function choose(value) {
    chosen = value;
    field.value = "";
    draw();
  }

  function draw() {
    const text = field.value.trim().toLowerCase();
    const shown = text ? names.filter((name) => name.toLowerCase().includes(text)) : chosen === "few" ? few : names;
    for (const button of tabs.children) setAttribute(button, "aria-pressed", String(!text && button.value === chosen));
    setText(words, text ? `${count(shown.length)} of ${counted(names.length, "feature")}` : "");
    table = sortableTable([...fixed(), ...shown.map(feature)], { label: "Documents", order: table?.order() });
    table.show(documents);
    replace(place, table.node);
  }

  function fixed() {
    return [
      { label: "Document", value: (row) => row.document_id, cell: (row) => h("span", { class: "name", title: row.document_id }, row.document_id) },
      { label: "Label", number: true, value: (row) => row.label, cell: (row) => grade(row.label, largestLabel) },
      ...[...new Set(documents.flatMap(({ columns = {} }) => Object.keys(columns)))].map(known),
      ...(weighted ? [{ label: "Weight", number: true, value: (row) => row.weight, cell: (row) => short(row.weight) }] : []),
    ];
  }

  function known(name) {
    const text = (row) => row.columns?.[name] ?? "";
    const number = documents.every((row) => Number.isFinite(Number(text(row))));
    return { label: name, key: `known ${name}`, number, value: (row) => (text(row) === "" ? null : number ? Number(text(row)) : text(row)), cell: text };
  }

  function feature(name) {
    const at = places.get(name);
    return { label: name, key: `feature ${name}`, title: name, number: true, value: (row) => sortable(row.features[at]), cell: (row) => featureValue(row.features[at]) };
  }

  return {
    node: h("div", { class: "documents" }, few && h("div", { class: "browser-head" }, tabs, field, words), place),
    show(newDocuments) {
      documents = newDocuments;
      draw();
    },
  };
}

function sortable(value) {
  return value === null ? null : Number(value);
}
