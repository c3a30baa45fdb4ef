/** Format numbers, sizes and times. @module */
import { h, setText } from "./dom.js";

const COUNT = new Intl.NumberFormat("en");
const LOSS = new Intl.NumberFormat("en", { maximumSignificantDigits: 5 });
const MOMENT = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" });

/** @param {number | null | undefined} value */
export const count = (value) => (value === null || value === undefined ? "–" : COUNT.format(value));

/** Return the text of a number with a minus sign as wide as a plus. @param {string} text */
export const withMinus = (text) => text.replace(/^-/, "−");

/**
 * Return a number with a fixed count of decimals and a minus sign as wide as a plus; a number that rounds to zero has no sign.
 * @param {number} value @param {number} digits
 */
export function fixed(value, digits) {
  const text = value.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : withMinus(text);
}

/** Return a metric with four decimals; from 10, such as ranks, with two. @param {number | null | undefined} value */
export const metric = (value) =>
  value === null || value === undefined || Number.isNaN(value) ? "–" : fixed(value, metricDigits(value));

/**
 * Return a score with four decimals, whatever its size, because documents may differ in the fourth.
 * @param {number | null | undefined} value
 */
export const score = (value) => (typeof value === "number" && !Number.isNaN(value) ? fixed(value, 4) : "–");

/** Return the number of decimals of a metric or of a difference of metrics. @param {number} value */
export const metricDigits = (value) => (Math.abs(value) < 10 ? 4 : 2);

/** Return a p-value: "0.0302", "< 0.0001". @param {number | null | undefined} value */
export function pValue(value) {
  if (typeof value !== "number") return "–";
  return value < 1e-4 ? "< 0.0001" : value.toFixed(4);
}

/**
 * Return the value of a loss, whatever its scale, with five significant digits.
 * @param {number | null | undefined} value
 */
export function lossValue(value) {
  if (typeof value !== "number") return "–";
  const hasExponent = value !== 0 && (Math.abs(value) < 1e-4 || Math.abs(value) >= 1e7);
  return withMinus(hasExponent ? value.toExponential(4) : LOSS.format(value));
}

/** Return a number for a form, with at most six digits, and all digits of a whole part. @param {number} value */
export const numberText = (value) => String(Math.abs(value) < 1e6 ? Number(value.toPrecision(6)) : wholeOf(value));

/** Return a hyperparameter or statistic with at most six digits, and all digits of a whole part. @param {unknown} value */
export function short(value) {
  if (typeof value === "number") return withMinus(numberText(value));
  return value === null || value === undefined
    ? "–"
    : typeof value === "object"
      ? JSON.stringify(value)
      : String(value);
}

/** Round a large number to a whole one, as far as a number of 64 bits holds whole ones. @param {number} value */
const wholeOf = (value) =>
  Math.abs(value) <= Number.MAX_SAFE_INTEGER ? Math.round(value) : Number(value.toPrecision(6));

/** Return the exact text of a feature's value; one of 32 bits has only the digits it needs. @param {number} value */
export function featureText(value) {
  if (Number.isInteger(value) || Math.fround(value) !== value) return String(value);
  let digits = 1;
  while (Math.fround(Number(value.toPrecision(digits))) !== value) digits += 1;
  return String(Number(value.toPrecision(digits)));
}

/**
 * Return a share such as "6.4%". A part above zero is never 0%, an incomplete one never 100%.
 * @param {number} part @param {number} whole
 */
export function percent(part, whole) {
  const share = (100 * part) / whole;
  if (part > 0 && share < 0.1) return "<0.1%";
  if (part < whole && share > 99.9) return ">99.9%";
  const exact = share < 10 || (part < whole && share >= 99.5);
  return `${exact ? Number(share.toFixed(1)) : Math.round(share)}%`;
}

/**
 * Return a count with its noun: "1 query", "1,204 queries".
 * @param {number} number @param {string} one @param {string} [many]
 */
export const counted = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

/** Join the parts of a text that are not empty. @param {unknown[]} parts @param {string} [separator] */
export const joined = (parts, separator = " ") => parts.filter(Boolean).join(separator);

/** @param {number} value bytes */
export function size(value) {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  let scaled = value;
  while (Math.round(scaled) >= 1000 && unit < units.length - 1) {
    scaled /= 1000;
    unit += 1;
  }
  return `${unit === 0 || scaled >= 99.95 ? Math.round(scaled) : scaled.toFixed(1)} ${units[unit]}`;
}

/**
 * Return the files of a source with their size and format: "train.txt.gz, 1.2 GB, LETOR text", "s3://clicks/part-*, table".
 * @param {Record<string, any> | null | undefined} source of a dataset or click log
 * @param {number | null | undefined} bytes
 * @param {Record<string, string>} formats labels
 */
export function filesLabel(source, bytes, formats) {
  const { addresses = [], folder, files, filename, format } = source ?? {};
  const first = joined([addresses[0] ?? folder, files ?? filename], "/");
  const name = addresses.length > 1 ? `${first} and ${addresses.length - 1} more` : first;
  return joined([name, bytes && size(bytes), formats[format]], ", ") || "upload";
}

/** @param {number} seconds */
export function duration(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return whole % 60 && minutes < 10 ? `${minutes} min ${whole % 60} s` : `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  return `${Math.floor(hours / 24)} days`;
}

/** Return the time between two moments. @param {string} start @param {string} end */
export function elapsed(start, end) {
  const seconds = (Date.parse(end) - Date.parse(start)) / 1000;
  return seconds < 1 ? "under 1 s" : duration(seconds);
}

/** @param {number} value seconds: "<0.1 s", "2.4 s", "3 min" */
export function briefDuration(value) {
  if (value < 0.1) return "<0.1 s";
  return value < 10 ? `${value.toFixed(1)} s` : duration(value);
}

/** @param {number} value milliseconds: "92 ms", "8.1 ms" */
export const milliseconds = (value) => `${value < 9.95 ? value.toFixed(1) : count(Math.round(value))} ms`;

/** @param {Date} moment */
export const momentLabel = (moment) => MOMENT.format(moment);

/** Return the local day of a moment. @param {string} iso */
export const dayLabel = (iso) => new Date(iso).toLocaleDateString("en", { dateStyle: "medium" });

/** Return a time as "3 min ago", kept current, with the moment as its title. @param {string} iso */
export function timeElement(iso) {
  const moment = new Date(iso);
  return h("time", { datetime: iso, title: momentLabel(moment) }, ago(moment));
}

const MAX_CLOCK_SKEW_SECONDS = 30;

/** @param {Date} moment */
function ago(moment) {
  const seconds = (Date.now() - moment.getTime()) / 1000;
  // The clock of the service may be ahead of the browser's by some seconds.
  if (seconds < -MAX_CLOCK_SKEW_SECONDS) return `in ${duration(Math.ceil(-seconds / 60) * 60)}`;
  return seconds < 5 ? "just now" : `${duration(seconds < 60 ? seconds : Math.floor(seconds / 60) * 60)} ago`;
}

setInterval(() => {
  for (const node of document.querySelectorAll("time[datetime]")) {
    setText(node, ago(new Date(node.getAttribute("datetime") ?? "")));
  }
}, 10_000);

/**
 * Return the label of a JSON pointer: `/hyperparameters/num_leaves` is "num leaves", `/metrics/1` "metrics 2".
 * @param {string} pointer a JSON pointer
 */
export function pointerLabel(pointer) {
  const steps = pointer.split("/").slice(1);
  const named = steps.findLastIndex((step) => !/^\d+$/.test(step));
  const name = (steps[named] ?? "").replaceAll("_", " ").replaceAll("~1", "/").replaceAll("~0", "~");
  return [name, ...steps.slice(named + 1).map((step) => Number(step) + 1)].join(" ").trim();
}

/**
 * Return a sentence of the service with labels for its JSON pointers: "num leaves: must be 2 or more".
 * @param {string | null} [sentence]
 */
export const withLabels = (sentence) =>
  (sentence ?? "").replace(/(?<![\w/])\/[a-z]\w*(?:\/[\w.~+-]+)*(?=: )/g, (pointer) => pointerLabel(pointer));
