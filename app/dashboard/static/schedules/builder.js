/** Times of a schedule: cron expressions in words, choices that write them, and the next due times, which the service computes. @module */
import { get, Problem } from "../page/api.js";
import { elementById, h, replace } from "../page/dom.js";
import { latestReader } from "../page/content.js";

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** Choices by value: the label, and the expression with M for the minute and H for the hour. */
/** @type {Record<string, [words: string, fields: string]>} */
const REPEATS = {
  hour: ["Every hour", "M * * * *"],
  day: ["Every day", "M H * * *"],
  weekdays: ["Monday to Friday", "M H * * 1-5"],
  ...Object.fromEntries(DAYS.map((day, index) => [String(index), [`Every ${day}`, `M H * * ${index}`]])),
  month: ["On the first of each month", "M H 1 * *"],
};

/** The choices as values and labels. @type {[value: string, words: string][]} */
export const CHOICES = ["hour", "day", "weekdays", "1", "2", "3", "4", "5", "6", "0", "month"].map((value) => [
  value,
  REPEATS[value][0],
]);

/** Return the expression of a choice. @param {string} repeat @param {string} time "03:30" */
export function cronOf(repeat, time) {
  const [hour, minute] = time.split(":").map(Number);
  return REPEATS[repeat][1].replace("M", String(minute || 0)).replace("H", String(hour || 0));
}

/** Return the choice and the time that an expression encodes, or null if no choice encodes it. @param {string} cron */
export function choiceOf(cron) {
  const [minute, hour, ...others] = cron.trim().split(/\s+/);
  if (!isWithin(minute, 59) || (hour !== "*" && !isWithin(hour, 23))) return null;
  const fields = ["M", hour === "*" ? "*" : "H", ...others]
    .join(" ")
    .replace(/ 7$/, " 0")
    .replace(/ MON-FRI$/i, " 1-5");
  const entry = Object.entries(REPEATS).find(([, [, each]]) => each === fields);
  const time = [hour === "*" ? "0" : hour, minute].map((part) => part.padStart(2, "0")).join(":");
  return entry ? { repeat: entry[0], time } : null;
}

/** @param {string | undefined} text @param {number} largest */
const isWithin = (text, largest) => /^\d{1,2}$/.test(text ?? "") && Number(text) <= largest;

/**
 * Return an expression in words, such as "Every day at 03:30". An expression that no choice encodes is
 * returned unchanged.
 * @param {string} cron
 */
export function cronWords(cron) {
  const choice = choiceOf(cron);
  if (!choice) return cron;
  const { repeat, time } = choice;
  return `${REPEATS[repeat][0]} at ${repeat === "hour" ? `minute ${Number(time.slice(3))}` : time}`;
}

const TYPING_MILLISECONDS = 250;

/** Bind the choices and the expression of the form to each other, and show the next due times. @returns {{show: () => void}} */
export function timesBuilder() {
  const repeat = elementById("repeat", HTMLSelectElement);
  const at = elementById("at", HTMLInputElement);
  const cron = elementById("cron", HTMLInputElement);
  const timezone = elementById("timezone", HTMLInputElement);
  const due = elementById("due");
  const read = latestReader(due);
  let typing = 0;
  const options = CHOICES.map(([value, words]) => h("option", { value }, words));
  replace(repeat, ...options, h("option", { value: "" }, "Custom expression"));
  for (const control of [repeat, at]) control.addEventListener("input", choose);
  cron.addEventListener("input", () => afterTyping(show));
  timezone.addEventListener("input", () => afterTyping(showDue));

  /** @param {() => unknown} update */
  function afterTyping(update) {
    clearTimeout(typing);
    typing = setTimeout(update, TYPING_MILLISECONDS);
  }

  function choose() {
    at.disabled = !repeat.value;
    // A time that is only partly typed is empty.
    if (repeat.value && at.value) cron.value = cronOf(repeat.value, at.value);
    showDue();
  }

  function show() {
    const choice = choiceOf(cron.value);
    repeat.value = choice?.repeat ?? "";
    at.disabled = !choice;
    if (choice) at.value = choice.time;
    showDue();
  }

  function showDue() {
    const zone = timezone.value.trim() || "UTC";
    return read(
      () => nextRunsLabel(cron.value, zone),
      (words) => replace(due, words),
    );
  }
  return { show };
}

/** @param {string} cron @param {string} timezone @returns {Promise<string>} */
async function nextRunsLabel(cron, timezone) {
  if (!cron.trim()) return "";
  try {
    const { items } = await get(`/v1/schedules/due-times?${new URLSearchParams({ cron, timezone })}`);
    return `Next runs: ${items.map((moment) => localTime(moment, timezone)).join(" · ")}`;
  } catch (error) {
    if (error instanceof Problem && error.status === 422) return error.message;
    return "";
  }
}

/** @type {Intl.DateTimeFormatOptions} */ const MINUTE = {
  weekday: "short",
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
};

/**
 * Format a moment in the local time of a time zone: "Tue 6 Jan 2026, 03:00". The service may have zones that the
 * browser does not have: their moments are in UTC.
 * @param {string} moment @param {string} timeZone
 */
export function localTime(moment, timeZone) {
  const date = new Date(moment);
  try {
    return date.toLocaleString("en-GB", { ...MINUTE, timeZone });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return `${date.toLocaleString("en-GB", { ...MINUTE, timeZone: "UTC" })} UTC`;
  }
}
