/**
 * Keep pages current by the stream of events, or by polling without a stream; and show a banner while the API
 * cannot be reached. @module
 */
import { isFinal, newAnswers, Problem, Unavailable } from "./api.js";
import { elementById, h, replace } from "./dom.js";
import { follow, isConnected } from "./stream.js";

/**
 * Show the banner under the header while the API is unreachable.
 * @param {string} reason
 * @param {number} seconds until the next attempt
 * @param {() => void} retry
 */
function showUnavailable(reason, seconds, retry) {
  const strip = elementById("connection");
  strip.hidden = false;
  replace(strip, [
    h("span", `${reason.replace(/\.?$/, ".")} The page may be out of date. Retrying in ${seconds} s.`),
    h("button.quiet.small", { click: retry }, "Try now"),
  ]);
}

function hideUnavailable() {
  const strip = elementById("connection");
  if (strip.hidden) return;
  strip.hidden = true;
  replace(strip);
}

const BUSY_SECONDS = 1;
/**
 * Maximum seconds between a change and the next request, while changes do not affect the page. Without a stream, also
 * the seconds between requests while nothing is active.
 */
const IDLE_SECONDS = 5;
/** Seconds between requests while the stream is connected. */
const STREAM_SECONDS = 15;
const MAX_RETRY_SECONDS = 15;

/**
 * Polls of this page: each key is a function that polls now, its value a function that pauses the poll.
 * @type {Map<() => void, () => Promise<unknown>>}
 */
const polls = new Map();

/** Stop polling, since the object of the page is about to be deleted, and wait for pending requests. */
export async function pausePolling() {
  await Promise.allSettled([...polls.values()].map((pause) => pause()));
}

/** Poll now, and continue. */
export function resumePolling() {
  polls.forEach((_, pollNow) => pollNow());
}

/**
 * Call a task whenever something may have changed: often while something is active, rarely otherwise, and never in a
 * hidden tab.
 * @param {(changed: boolean, hasEvent: boolean) => Promise<boolean | null>} task reads once and resolves to whether
 *   something is still active; null ends the polling. Its first argument is false if only time has passed since the last
 *   call, its second one is true if the stream has sent an event, such as the end of a job, or may have missed one
 * @param {(problem: Problem) => void} onProblem the API refused; polling has ended
 * @returns {() => Promise<void>} polls now
 */
export function poll(task, onProblem) {
  let timer = 0;
  let dueAt = Infinity;
  let requestedAt = -Infinity;
  let running = false;
  /** Whether something changed while a request was pending. */
  let changedMeanwhile = false;
  let ended = false;
  let paused = false;
  /** @type {Promise<unknown>} */ let pending = Promise.resolve();
  /** Whether something may have changed since the task was called last. */
  let changed = true;
  let hasEvent = false;
  let failures = 0;
  /** Minimum seconds between two requests when something has changed. */
  let interval = BUSY_SECONDS;

  async function run() {
    clearTimeout(timer);
    dueAt = Infinity;
    changedMeanwhile = running;
    if (running || ended || paused || document.hidden) return;
    running = true;
    requestedAt = performance.now();
    const attempted = attempt().finally(() => {
      running = false;
    });
    pending = attempted;
    const seconds = await attempted;
    if (!ended && !paused && !document.hidden) waitAtMost(changedMeanwhile ? Math.min(interval, seconds) : seconds);
  }

  /** @param {number} seconds */
  function waitAtMost(seconds) {
    const at = performance.now() + seconds * 1000;
    if (ended || at >= dueAt) return;
    clearTimeout(timer);
    dueAt = at;
    timer = setTimeout(run, seconds * 1000);
  }

  async function attempt() {
    const unchanged = !changed && isConnected();
    const announced = hasEvent;
    changed = hasEvent = false;
    const before = newAnswers();
    try {
      const busy = await task(!unchanged, announced);
      failures = 0;
      ended = busy === null;
      hideUnavailable();
      interval = busy || newAnswers() > before ? BUSY_SECONDS : Math.min(IDLE_SECONDS, 2 * interval);
      return isConnected() ? STREAM_SECONDS : busy ? BUSY_SECONDS : IDLE_SECONDS;
    } catch (error) {
      changed = true;
      hasEvent ||= announced;
      if (isFinal(error)) {
        ended = true;
        onProblem(error);
        return 0;
      }
      const known = error instanceof Unavailable || error instanceof Problem;
      // An error in the code of a page must be reported, and must not stop the polling.
      if (!known) reportError(error);
      failures += 1;
      const seconds = Math.min(MAX_RETRY_SECONDS, 2 ** (failures - 1));
      showUnavailable(known ? error.message : "This page could not be updated.", seconds, run);
      return seconds;
    }
  }

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) clearTimeout(timer);
    else run();
  });
  run().finally(() =>
    follow((signal) => {
      changed = true;
      hasEvent ||= signal === "ended" || signal === "opened";
      if (document.hidden || paused || failures) return;
      const elapsed = (performance.now() - requestedAt) / 1000;
      if (running || signal === "ended") run();
      else waitAtMost(Math.max(0, interval - elapsed));
    }),
  );
  function pollNow() {
    changed = true;
    paused = false;
    return run();
  }
  polls.set(pollNow, () => {
    paused = true;
    clearTimeout(timer);
    return pending;
  });
  return pollNow;
}
