/**
 * `/settings/audit`: requests that changed or tried to change data. `?key=` shows the requests of one API key. @module
 */
import { pagedTable } from "../tables/table.js";
import { getAll } from "../page/api.js";
import { elementById, h, replace } from "../page/dom.js";
import { timeElement } from "../page/format.js";
import { changeOf, outcome } from "../settings/labels.js";
import { failureBox } from "../page/content.js";

const PAGE_SIZE = 50;
const HEADS = ["Time", "Key", "Change", "Outcome", "Address", "Request"];

const container = elementById("audit");
const filters = elementById("filters");
const select = elementById("key", HTMLSelectElement);
/** @type {Map<string, string>} */ const names = new Map();

select.addEventListener("change", () => {
  history.pushState(null, "", select.value ? `?key=${encodeURIComponent(select.value)}` : location.pathname);
  show();
});
addEventListener("popstate", () => {
  select.value = requestedKey() ?? "";
  show();
});
open();

/** Return the key that the URL names. */
function requestedKey() {
  return new URLSearchParams(location.search).get("key");
}

async function open() {
  try {
    for (const { id, name } of await getAll("/v1/keys?limit=200")) names.set(id, name);
    const wanted = requestedKey();
    if (wanted && !names.has(wanted)) names.set(wanted, wanted);
    select.append(...[...names].map(([value, name]) => h("option", { value, selected: value === wanted }, name)));
    show();
    filters.hidden = false;
  } catch (error) {
    replace(container, failureBox(error, open));
    filters.hidden = true;
  } finally {
    container.removeAttribute("aria-busy");
  }
}

function show() {
  const query = new URLSearchParams({ limit: String(PAGE_SIZE), ...(select.value && { key_id: select.value }) });
  replace(container, ...pagedTable("Audit log", HEADS, `/v1/audit?${query}`, cells, "No requests yet."));
}

/** @param {Schemas["AuditEntry"]} entry */
function cells({ at, key_id: key, method, path, status, request_id: request, address }) {
  const { verb, id, owners, href } = changeOf({ method, path });
  return [
    h("td", timeElement(at)),
    h("th", { scope: "row", title: key }, key ? (names.get(key) ?? key) : "none"),
    h("td", { title: `${method} ${path}` }, `${verb} `, id && (href ? h("a", { href }, id) : h("code", id)), owners),
    h("td", { class: status >= 400 && "unusual", title: `HTTP status ${status}` }, outcome(status)),
    address ?? "–",
    h("code", { title: request }, request.slice(0, 8)),
  ];
}
