/** `/settings/keys`: API keys, the form that creates one, and its secret, which is shown once. @module */
import { onSubmit, payloadOf } from "../forms/forms.js";
import { apiError, getAll, request } from "../page/api.js";
import { latestReader } from "../page/content.js";
import { announce, elementById, find, h, replace } from "../page/dom.js";
import { confirmed, hint, alertText } from "../page/parts.js";
import { dayLabel, timeElement } from "../page/format.js";
import { sortableTable } from "../tables/table.js";
import { showSecret } from "../settings/labels.js";
import { actionButton } from "../page/actions.js";

const NO_KEY =
  "There is no API key: the service accepts requests from this machine only. The first key needs the scope admin; after it, all requests need a key.";

const container = elementById("keys");
const createButton = elementById("create");
const dialog = elementById("key-dialog", HTMLDialogElement);
const form = elementById("key-form", HTMLFormElement);
const expires = elementById("expires", HTMLInputElement);

createButton.addEventListener("click", () => dialog.showModal());
find(dialog, "[data-close]").addEventListener("click", () => dialog.close());
onSubmit(form, send);

/** @type {ReturnType<typeof sortableTable<Schemas["Key"]>>} */
const table = sortableTable(
  [
    { label: "Name", value: ({ name }) => name },
    { label: "Begins with", value: ({ hint }) => hint, cell: ({ hint }) => h("code", `${hint}…`) },
    { label: "Scopes", value: ({ scopes }) => scopes.join(", ") },
    { label: "Projects", value: ({ projects }) => projects?.join(", ") ?? "all" },
    { label: "State", value: stateOf },
    { label: "Created", value: ({ created_at: at }) => at, cell: ({ created_at: at }) => moment(at) },
    { label: "Last used", value: ({ last_used_at: at }) => at, cell: ({ last_used_at: at }) => moment(at) },
    {
      label: "Expires",
      value: ({ expires_at: at }) => at,
      cell: ({ expires_at: at }) => (at ? dayLabel(at) : "never"),
    },
    { label: "Key", value: ({ id }) => id, cell: revokeButton },
  ],
  { label: "API keys", first: 50 },
);
const read = latestReader(container);
show();

function show() {
  return read(
    () => getAll("/v1/keys?limit=200"),
    (keys) => {
      table.show(keys);
      replace(container, keys.length ? table.node : hint(NO_KEY));
      createButton.hidden = false;
    },
  );
}

/** @param {Schemas["Key"]} key */
function stateOf({ revoked_at: revoked, expires_at: until }) {
  if (revoked) return "revoked";
  return until && new Date(until) < new Date() ? "expired" : "active";
}

/** @param {string | null} at */
function moment(at) {
  return at ? timeElement(at) : "never";
}

/** @param {Schemas["Key"]} key */
function revokeButton(key) {
  if (stateOf(key) !== "active") return h("span.hint", key.id);
  async function revoke() {
    const consequence =
      "Programs that use it and browsers that signed in with it are refused from now on. The key cannot be restored. Its jobs continue.";
    if (!(await confirmed(`Revoke ${key.name}?`, "Revoke", consequence))) return;
    await request(`/v1/keys/${encodeURIComponent(key.id)}`, { method: "DELETE" });
    announce(`${key.name} was revoked.`);
    await show();
  }
  const refused = (/** @type {unknown} */ error) => replace(container, alertText(apiError(error).message), table.node);
  return actionButton("Revoke", "quiet danger small", revoke, refused, { "aria-label": `Revoke ${key.name}` });
}

async function send() {
  /** @type {Record<string, unknown>} */ const payload = { ...payloadOf(form) };
  // The key expires at the end of the chosen day in the time zone of the browser.
  if (expires.value) payload.expires_at = new Date(`${expires.value}T23:59:59`).toISOString();
  const { body } = await request("/v1/keys", { method: "POST", json: payload });
  dialog.close();
  form.reset();
  const sentence = "This is the secret of the key. Copy it now: it is not shown again.";
  showSecret(`The key ${body.name} was created`, sentence, body.secret);
  await show();
}
