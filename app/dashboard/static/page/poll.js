/**
 * Polling, and the banner shown while the API cannot be reached.
 * @module
 */
import { Away, Problem } from "./api.js";
import { elementById, h, replace } from "./dom.js";

const strip = elementById("connection");

/**
 * The strip under the header that tells when the API is away.
 *
 * @param {string} reason
 * @param {number} seconds until the next attempt
 * @param {() => void} retry
 */
function showAway(reason, seconds, retry) {
  document.body.classList.add("away");
  strip.hidden = false;
  replace(
    strip,
    h("span", {}, `${reason} What you see may be old. Trying again in ${seconds} s.`),
    h("button", { type: "button", class: "quiet small", click: retry }, "Try now"),
  );
}

function showBack() {
  if (strip.hidden) return;
  document.body.classList.remove("away");
  strip.hidden = true;
  replace(strip);
}

const BUSY_SECONDS = 1;
const IDLE_SECONDS = 5;
const LONGEST_WAIT_SECONDS = 15;

/**
 * Asking again: often while something moves, seldom when nothing does, not at all in a hidden tab.
 *
 * @param {() => Promise<boolean | null>} task asks once and tells whether something is still moving; null ends it
 * @param {(problem: Problem) => void} onProblem the API refused; polling has ended
 * @returns {() => void} ask now
 */
export function poll(task, onProblem) {
  let timer = 0;
  let running = false;
  let ended = false;
  let failures = 0;

  async function run() {
    clearTimeout(timer);
    if (running || ended || document.hidden) return;
    running = true;
    const seconds = await attempt().finally(() => {
      running = false;
    });
    if (!ended && !document.hidden) timer = setTimeout(run, seconds * 1000);
  }

  async function attempt() {
    try {
      const busy = await task();
      failures = 0;
      ended = busy === null;
      showBack();
      return busy ? BUSY_SECONDS : IDLE_SECONDS;
    } catch (error) {
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
  run();
  return run;
}
