/**
 * Times of a schedule: choices that write a cron expression, and the next due times, which the service computes.
 * @module
 */
import { get, Problem } from "../page/api.js";
import { elementById, h, replace } from "../page/dom.js";
import { CHOICES, choiceOf, cronOf } from "./cron.js";
import { latestReader } from "../page/content.js";

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
