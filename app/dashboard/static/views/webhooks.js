/**
 * `/settings/webhooks`: webhooks, the form that creates one, its secret, which is shown once, and its deliveries.
 * @module
 */
import { keyedList, pagedTable } from "../tables/table.js";
import { onSubmit, payloadOf } from "../forms/forms.js";
import { actionRunner } from "../page/actions.js";
import { getAll, request } from "../page/api.js";
import { showOnly } from "../page/content.js";
import { announce, elementById, find, h, replace } from "../page/dom.js";
import { confirmed, disclosure, emptyState, hint, numberHeads, problemBox, statusBadge } from "../page/parts.js";
import { count, timeElement } from "../page/format.js";
import { poll } from "../page/poll.js";
import { showSecret } from "../settings/labels.js";

const PAGE_SIZE = 20;

const container = elementById("webhooks");
const createButton = elementById("create");
const dialog = elementById("webhook-dialog", HTMLDialogElement);
const form = elementById("webhook-form", HTMLFormElement);
const cards = keyedList(container, card);

createButton.addEventListener("click", () => dialog.showModal());
find(dialog, "[data-close]").addEventListener("click", () => dialog.close());
onSubmit(form, async () => {
  const { body } = await request("/v1/webhooks", { method: "POST", json: payloadOf(form) });
  dialog.close();
  form.reset();
  showNewSecret(body, "was created");
  pollNow();
});

const pollNow = poll(refresh, (problem) => showOnly(container, problemBox(problem)));

async function refresh() {
  const webhooks = await getAll("/v1/webhooks?limit=200");
  createButton.hidden = false;
  container.removeAttribute("aria-busy");
  if (webhooks.length) cards.show(webhooks);
  else if (!container.querySelector(".empty"))
    replace(container, emptyState("No webhooks yet", "Add the URL of a chat or of your own service."));
  return webhooks.some(({ waiting }) => waiting > 0);
}

/** @param {{url: string, secret: string}} webhook @param {string} words */
function showNewSecret({ url, secret }, words) {
  const sentence = `This is the secret of the webhook. Copy it now to the receiver at ${url}: it is not shown again.`;
  showSecret(`The webhook ${words}`, sentence, secret);
}

/** Show one webhook: URL, actions, and its deliveries on request. @param {Schemas["Webhook"]} first */
function card(first) {
  const path = /** @type {const} */ (`/v1/webhooks/${encodeURIComponent(first.id)}`);
  const state = h("span.status");
  const facts = hint();
  const outcome = h("div", { "aria-live": "polite" });
  const runAction = actionRunner(outcome, () => pollNow());
  const toggle = h("button.quiet.small", {
    click: () => runAction(() => request(path, { method: "PATCH", json: { enabled: !webhook.enabled } })),
  });
  const rows = h("div.rows");
  const deliveries = disclosure("Deliveries", rows);
  deliveries.addEventListener("toggle", () => deliveries.open && showDeliveries());
  let webhook = first;

  async function test() {
    const { body } = await request(`${path}/test`, { method: "POST" });
    replace(outcome, testOutcome(body));
    if (deliveries.open) showDeliveries();
  }

  async function rotate() {
    const sure = await confirmed("Make a new secret?", "Make it", [
      "Deliveries are signed with both secrets for 24 hours, then with the new one alone.",
    ]);
    if (sure) showNewSecret((await request(`${path}/rotate`, { method: "POST" })).body, "has a new secret");
  }

  async function remove() {
    const sure = await confirmed("Delete this webhook?", "Delete", [
      `${webhook.url} receives no more events, and waiting deliveries are dropped. The webhook cannot be restored, because its secret is deleted as well. Disable it instead to keep it.`,
    ]);
    if (!sure) return;
    await request(path, { method: "DELETE" });
    announce("The webhook was deleted.");
  }

  function showDeliveries() {
    const heads = ["Event", "Object", "State", numberHeads("Attempts"), "Last answer", "Next attempt", "Created", ""];
    const address = /** @type {const} */ (`${path}/deliveries?limit=${PAGE_SIZE}`);
    replace(rows, ...pagedTable("Deliveries", heads, address, deliveryCells, "No delivery yet."));
  }

  /** @param {Schemas["Delivery"]} delivery @returns {Content} */
  function deliveryCells(delivery) {
    const last = delivery.log.at(-1);
    const redeliver = h("button.quiet.small", { click: () => runAction(() => sendAgain(delivery)) }, "Send again");
    return [
      { "data-delivery": delivery.id },
      delivery.event_kind,
      h("code", delivery.object_id),
      statusBadge(STATES[delivery.state], delivery.state),
      count(delivery.attempts),
      h("td", { title: last?.answer ?? last?.error }, last ? (last.status ?? last.error ?? "–") : "–"),
      nextAttempt(delivery, webhook.enabled),
      timeElement(delivery.created_at),
      delivery.state !== "waiting" && redeliver,
    ];
  }

  /** @param {Schemas["Delivery"]} delivery */
  async function sendAgain(delivery) {
    await request(`${path}/deliveries/${encodeURIComponent(delivery.id)}/redeliver`, { method: "POST" });
    announce("The event is sent again.");
    showDeliveries();
  }

  const actions = h("div.actions", [
    h("button.small", { click: () => runAction(test) }, "Send a test"),
    toggle,
    h("button.quiet.small", { click: () => runAction(rotate) }, "New secret"),
    h("button.quiet.small.danger", { click: () => runAction(remove) }, "Delete"),
  ]);
  const heading = h("h2.wrap", first.url);
  return {
    node: h("article.panel", { "data-webhook": first.id }, [
      h("div.panel-head", h("div.job-heading", heading, state), actions),
      facts,
      outcome,
      deliveries,
    ]),
    /** @param {Schemas["Webhook"]} now */
    update(now) {
      webhook = now;
      const failing = now.enabled && now.failing_since;
      replace(heading, now.url);
      replace(state, failing ? "failing" : now.enabled ? "enabled" : "disabled");
      state.dataset.status = failing || !now.enabled ? "failed" : "succeeded";
      replace(toggle, now.enabled ? "Disable" : "Enable");
      replace(facts, ...factsOf(now));
    },
  };
}

/** @type {Record<string, string>} */
const STATES = { waiting: "running", delivered: "succeeded", dead: "failed" };

/**
 * Return when a delivery is sent: one that is due waits until the webhook is enabled, or for earlier events of its object.
 * @param {Schemas["Delivery"]} delivery
 * @param {boolean} enabled whether the webhook is
 */
function nextAttempt({ next_attempt_at: next }, enabled) {
  if (!next) return "–";
  if (!enabled) return "once enabled";
  return Date.parse(next) > Date.now() ? timeElement(next) : "after earlier events";
}

/** @param {Schemas["Webhook"]} webhook */
function factsOf({ events, description, project, waiting, ...state }) {
  const { disabled_reason: reason, last_delivered_at: last, failing_since: failing } = state;
  return [
    description && `${description} · `,
    events.length ? events.join(", ") : "all events",
    project && ` of the project ${project}`,
    last ? [" · last delivered ", timeElement(last)] : " · nothing delivered yet",
    waiting > 0 && ` · ${count(waiting)} waiting`,
    failing && [" · failing since ", timeElement(failing)],
    reason && ` · ${reason}`,
  ];
}

/** @param {Schemas["WebhookTest"]} test */
function testOutcome({ delivered, status, error, took_seconds: took, answer }) {
  const words = delivered
    ? `The receiver answered ${status} after ${took.toFixed(2)} s.`
    : `Not delivered: ${error || `status ${status}`}.`;
  return h("div", { class: delivered ? "hint" : "problem" }, h("p", words), answer && h("pre", answer));
}
