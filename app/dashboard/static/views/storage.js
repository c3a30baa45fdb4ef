/** `/settings/storage`: bytes by kind, bytes that retention would free, and the trash. @module */
import { pagedTable } from "../tables/table.js";
import { bar } from "../figures/marks.js";
import { deletedLabel } from "../lifecycle/deletion.js";
import { get, request } from "../page/api.js";
import { loadInto } from "../page/content.js";
import { announce, elementById, h, missingScope, replace } from "../page/dom.js";
import { confirmed, dataTable, factList, hint, numberHeads } from "../page/parts.js";
import { count, counted, size, timeElement } from "../page/format.js";
import { actionRunner } from "../page/actions.js";

const PAGE_SIZE = 50;

const storage = elementById("storage");
const trash = elementById("trash");
const empty = elementById("empty-trash", HTMLButtonElement);

empty.addEventListener("click", emptyTrash);
elementById("measure").addEventListener("click", () => showStorage(true));
const runAction = actionRunner(elementById("trash-problem"), () => {
  showStorage(true);
  showTrash();
  // The button of the action is disabled now, or gone, and the contents are invisible until they are read.
  elementById("trash-panel").focus();
});

showStorage(false);
showTrash();

/** @param {boolean} measureAgain instead of showing the last measurement */
function showStorage(measureAgain) {
  loadInto(storage, async () => {
    const usage = await get(`/v1/storage${measureAgain ? "?refresh=true" : ""}`);
    return [facts(usage), table(usage)];
  });
}

/** @param {Schemas["Storage"]} usage */
function facts({ total_bytes: total, free_bytes: free, measured_at: at, trash_days: days, kinds }) {
  const freed = kinds.reduce((sum, { retention_bytes: bytes }) => sum + bytes, 0);
  return h("div.rows", [
    factList("figures", [
      ["Stored", size(total)],
      ["Free on the disk", free === null ? "–" : size(free)],
      ["In the trash", size(kinds.reduce((sum, { trash_bytes: bytes }) => sum + bytes, 0))],
      ["Retention would free", size(freed)],
    ]),
    hint(
      "Measured ",
      timeElement(at),
      days
        ? `. Deleted objects stay in the trash for ${counted(days, "day")}.`
        : ". There is no trash: deletions free bytes immediately.",
    ),
  ]);
}

/** @param {Schemas["Storage"]} usage */
function table({ kinds, total_bytes: total }) {
  const heads = [
    "Kind",
    numberHeads("Objects", "Bytes"),
    "",
    numberHeads("In the trash", "Kept", "Retention would free"),
  ];
  return dataTable("Storage by kind", heads, kinds, (kind) => [
    h("span.beside-bar", kind.label),
    count(kind.objects),
    size(kind.size_bytes),
    h("td.bar-cell", bar(total ? kind.size_bytes / total : 0)),
    kind.trash_objects || kind.trash_bytes ? `${count(kind.trash_objects)}, ${size(kind.trash_bytes)}` : "–",
    kind.retention_days === null ? "forever" : counted(kind.retention_days, "day"),
    kind.retention_objects ? `${count(kind.retention_objects)}, ${size(kind.retention_bytes)}` : "–",
  ]);
}

function showTrash() {
  const heads = ["Name", "Kind", numberHeads("Bytes"), "Deleted", "By", "Purged", ""];
  empty.disabled = true;
  replace(trash, ...pagedTable("Trash", heads, `/v1/trash?limit=${PAGE_SIZE}`, trashCells, "The trash is empty."));
}

/** Return the cells of an object, which *Empty the trash* would delete. @param {Schemas["TrashedObject"]} item @returns {Content} */
function trashCells({ id, name, kind, size_bytes: bytes, deleted_at: at, deleted_by: by, purge_at: purge }) {
  empty.disabled = Boolean(missingScope("write"));
  const restore = h(
    "button.quiet.small",
    { "aria-label": `Restore ${name}`, click: () => restoreObject(id, name), needs: "write" },
    "Restore",
  );
  return [
    { "data-trash": id },
    h("th", { scope: "row", title: id }, name),
    kind,
    size(bytes),
    timeElement(at),
    by ? h("code", by) : "–",
    purge ? timeElement(purge) : "–",
    restore,
  ];
}

/** @param {string} id @param {string} name */
async function restoreObject(id, name) {
  await runAction(async () => {
    await request("/v1/trash/restore", { method: "POST", json: { ids: [id] } });
    announce(`${name} was restored.`);
  });
}

async function emptyTrash() {
  const sure = await confirmed("Empty the trash?", "Empty it", [
    "All objects in the trash are deleted permanently, and their bytes are freed.",
  ]);
  if (!sure) return;
  await runAction(async () => {
    let complete = false;
    while (!complete) {
      const { body } = await request("/v1/trash/empty", { method: "POST", json: { all: true, dry_run: false } });
      announce(`${deletedLabel(body)} deleted permanently, ${size(body.size_bytes)} freed.`);
      complete = body.complete;
    }
  });
}
