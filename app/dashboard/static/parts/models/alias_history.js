/**
 * What was done with an alias, newest first, with what its gate found in words and numbers.
 * @module
 */
import { get } from "../page/api.js";
import { modelPage } from "../page/addresses.js";
import { h, replace } from "../page/dom.js";
import { count, metric, timeElement } from "../page/format.js";
import { loaded } from "../page/loaded.js";
import { aliasApi } from "./set_alias.js";
import { pValue, signed, verdictChip } from "../measuring/verdict.js";

const FIRST = 10;
const KINDS = { moved: "moved", promoted: "promoted", refused: "refused", rolled_back: "rolled back", removed: "removed" };
const STATUSES = { promoted: "succeeded", refused: "failed", rolled_back: "queued" };

/** @param {string} name @param {string} alias @returns {{node: HTMLElement, refresh: () => void}} */
export function aliasHistory(name, alias) {
  const place = h("div", {});
  const node = h("details", { class: "more alias-history", open: true }, h("summary", {}, "History"), place);
  const refresh = () => loaded(place, () => read());

  async function read(cursor) {
    const page = await get(aliasApi(name, alias, `/history?${new URLSearchParams({ limit: String(FIRST), ...(cursor && { cursor }) })}`));
    const list = h("ol", { class: "moves-made" }, ...page.items.map((move) => entry(name, move)));
    const more = page.next_cursor && h("button", { type: "button", class: "quiet small", click: older }, "Older");
    async function older() {
      const rest = h("div", {});
      more.replaceWith(rest);
      await loaded(rest, () => read(page.next_cursor));
    }
    return [list, more].filter(Boolean);
  }

  refresh();
  return { node, refresh };
}

function entry(name, { kind, from_version: from, to_version: to, key_id: key, job_id: job, report, at }) {
  const version = (number) => (number === null ? "nowhere" : h("a", { href: modelPage(`${name}:${number}`) }, number));
  return h(
    "li",
    { "data-kind": kind },
    h("span", { class: "status", "data-status": STATUSES[kind] || "running" }, KINDS[kind] || kind),
    h(
      "div",
      {},
      h("p", {}, version(from), " → ", version(to), h("small", {}, " · ", timeElement(at), key && [" · by ", h("code", {}, key)], job && [" · ", h("a", { href: `/jobs/${encodeURIComponent(job)}` }, "job")])),
      report && h("p", { class: "hint" }, `${report.sentence}.`),
      report?.paired && numbers(report),
    ),
  );
}

/** The challenger's mean against the champion's, and the parts of the queries that were held against it. */
function numbers({ paired, slices, rule }) {
  const facts = [
    ["before", metric(paired.mean_a)],
    ["after", metric(paired.mean_b)],
    ["difference", signed(paired.difference)],
    ["95% interval", `${signed(paired.lower)} to ${signed(paired.upper)}`],
    ["p", pValue(paired.randomisation_p)],
    ["queries", count(paired.queries)],
  ];
  return h(
    "details",
    { class: "more" },
    h("summary", {}, `In numbers${rule?.metric ? `, ${rule.metric}` : ""}`),
    h("dl", { class: "figures" }, ...facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))),
    slices?.length > 0 && sliceTable(slices),
  );
}

function sliceTable(slices) {
  const heads = ["Part of the queries", "Queries", "Before", "After", "Falls by", ""];
  const cell = (value) => h("td", { class: "number" }, value);
  const row = ({ by, value, queries, champion, challenger, drop, refused }) =>
    h("tr", {}, h("th", { scope: "row" }, `${by}: ${value || "(empty)"}`), cell(count(queries)), cell(metric(champion)), cell(metric(challenger)), cell(signed(drop)), h("td", {}, refused && verdictChip("worse")));
  return h(
    "div",
    { class: "scroll", role: "region", "aria-label": "Parts of the queries", tabindex: "0" },
    h("table", {}, h("thead", {}, h("tr", {}, ...heads.map((words, index) => h(words ? "th" : "td", { scope: words && "col", class: index > 0 && index < 5 && "number" }, words)))), h("tbody", {}, ...slices.map(row))),
  );
}
