/** Cron expressions in words, and cron expressions of common choices. @module */

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
