/** The API's stream of events, which notifies pages of changes. @module */
import { urlOf } from "./paths.js";

/** Kinds of events of which pages are notified immediately; the API sends `changed` at most once a second. */
const IMMEDIATE_KINDS = [
  ...["job.ended", "study.concluded", "gate.refused", "alias.moved", "worker.lost"],
  ...["dataset.ready", "drift.found", "schedule.ran", "schedule.failed"],
];
const REOPEN_SECONDS = 60;

/**
 * opened: earlier events were missed; ended: an event of `IMMEDIATE_KINDS`; lost: the stream is closed
 * @typedef {"opened" | "changed" | "ended" | "lost"} Signal
 */

/** @type {Set<(signal: Signal) => void>} */ const listeners = new Set();
/** @type {EventSource | null} */ let source = null;
let connected = false;

/** Return whether the stream is open. */
export const isConnected = () => connected;

/** Listen to signals; the stream is open while the page is visible. @param {(signal: Signal) => void} listener */
export function follow(listener) {
  listeners.add(listener);
  document.addEventListener("visibilitychange", openWhileVisible);
  open();
}

/** @param {Signal} signal */
function notify(signal) {
  for (const listener of listeners) listener(signal);
}

function open() {
  if (source || document.hidden || !listeners.size) return;
  source = new EventSource(urlOf("/v1/events"));
  source.addEventListener("open", () => {
    connected = true;
    notify("opened");
  });
  source.addEventListener("changed", () => notify("changed"));
  for (const kind of IMMEDIATE_KINDS) source.addEventListener(kind, () => notify("ended"));
  source.addEventListener("error", () => {
    const refused = source?.readyState === EventSource.CLOSED;
    if (refused) close();
    connected = false;
    notify("lost");
    // The browser reconnects after a broken connection, but not after a response that is not a stream.
    if (refused) setTimeout(open, REOPEN_SECONDS * 1000);
  });
}

function close() {
  source?.close();
  source = null;
  connected = false;
}

function openWhileVisible() {
  if (document.hidden) close();
  else open();
}
