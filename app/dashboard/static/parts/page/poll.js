/**
 * Asking again: often while something moves, seldom when nothing does, not at all in a hidden tab.
 * @module
 */
import { Away, Problem } from "./api.js";
import { showAway, showBack } from "./connection.js";

const BUSY_SECONDS = 1;
const IDLE_SECONDS = 5;
const LONGEST_WAIT_SECONDS = 15;

/**
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
      if (!(error instanceof Away) && !(error instanceof Problem)) throw error;
      failures += 1;
      const seconds = Math.min(LONGEST_WAIT_SECONDS, 2 ** (failures - 1));
      showAway(error.message, seconds, run);
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
