/**
 * Keep pages current: by the stream of events, by polling without one; and the banner
 * shown while the API cannot be reached.
 * @module
 */
import { Away, newAnswers, Problem } from "./api.js";
import { elementById, h, replace } from "./dom.js";
import { follow, isConnected } from "./stream.js";

/**
 * The banner under the header while the API is unreachable.
 *
 * @param {string} reason
 * @param {number} seconds until the next attempt
 * @param {() => void} retry
 */
function showAway(reason, seconds, retry) {
  const strip = elementById("connection");
  document.body.classList.add("away");
  strip.hidden = false;
  replace(
    strip,
    h("span", {}, `${reason} What you see may be old. Trying again in ${seconds} s.`),
    h("button", { type: "button", class: "quiet small", click: retry }, "Try now"),
  );
}

function showBack() {
  const strip = elementById("connection");
  if (strip.hidden) return;
  document.body.classList.remove("away");
  strip.hidden = true;
  replace(strip);
}

const BUSY_SECONDS = 1;
/** The most between a change and the question what it is, while changes bring the page nothing new. */
const IDLE_SECONDS = 5;
/** While the stream reports changes. */
const STREAM_SECONDS = 15;
const LONGEST_WAIT_SECONDS = 15;

/** The polls of this page: functions to poll now, and to pause. @type {Map<() => void, () => Promise<unknown>>} */
const polls = new Map();

/** Stop polling, since the object of the page is about to be deleted, and wait for pending requests. */
export async function pausePolling() {
  await Promise.allSettled([...polls.values()].map((pause) => pause()));
}

/** Poll now, and continue. */
export function resumePolling() {
  polls.forEach((_, askNow) => askNow());
}

/**
 * Ask whenever something has changed: often while something moves, seldom when nothing does, not at all in a hidden
 * tab.
 *
 * @param {(changed: boolean) => Promise<boolean | null>} task asks once and resolves to whether something is still
 *   active; null
 *   ends it. Its argument is whether something may have changed since the last call, or only time has passed
 * @param {(problem: Problem) => void} onProblem the API refused; polling has ended
 * @returns {() => Promise<void>} ask now
 */
export function poll(task, onProblem) {
  let timer = 0;
  let dueAt = Infinity;
  let askedAt = -Infinity;
  let running = false;
  /** Whether something changed while the answer was under way. */
  let again = false;
  let ended = false;
  let paused = false;
  /** @type {Promise<unknown>} */
  let underWay = Promise.resolve();
  /** Whether something may have changed since the task was called last. */
  let changed = true;
  let failures = 0;
  /** The least seconds between two requests, when something has changed. */
  let interval = BUSY_SECONDS;

  async function run() {
    clearTimeout(timer);
    dueAt = Infinity;
    again = running;
    if (running || ended || paused || document.hidden) return;
    running = true;
    askedAt = performance.now();
    const attempted = attempt().finally(() => {
      running = false;
    });
    underWay = attempted;
    const seconds = await attempted;
    if (!ended && !paused && !document.hidden) waitAtMost(again ? Math.min(interval, seconds) : seconds);
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
    changed = false;
    const before = newAnswers();
    try {
      const busy = await task(!unchanged);
      failures = 0;
      ended = busy === null;
      showBack();
      interval = busy || newAnswers() > before ? BUSY_SECONDS : Math.min(IDLE_SECONDS, 2 * interval);
      return isConnected() ? STREAM_SECONDS : busy ? BUSY_SECONDS : IDLE_SECONDS;
    } catch (error) {
      changed = true;
      if (error instanceof Problem && error.status < 500) {
        ended = true;
        onProblem(error);
        return 0;
      }
      const known = error instanceof Away || error instanceof Problem;
      // A fault of a page must not stop it for good, nor stay unseen.
      if (!known) reportError(error);
      failures += 1;
      const seconds = Math.min(LONGEST_WAIT_SECONDS, 2 ** (failures - 1));
      showAway(known ? error.message : "This page could not be updated.", seconds, run);
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
      if (document.hidden || paused || failures) return;
      const rested = (performance.now() - askedAt) / 1000;
      if (running || signal === "ended") run();
      else waitAtMost(Math.max(0, interval - rested));
    }),
  );
  function askNow() {
    changed = true;
    paused = false;
    return run();
  }
  polls.set(askNow, () => {
    paused = true;
    clearTimeout(timer);
    return underWay;
  });
  return askNow;
}
