import assert from "node:assert/strict";
import { test } from "node:test";
import * as format from "../../app/dashboard/static/page/format.js";

test("counts are grouped, and an absent one is a dash", () => {
  assert.equal(format.count(1204), "1,204");
  assert.equal(format.count(0), "0");
  assert.equal(format.count(null), "–");
  assert.equal(format.count(undefined), "–");
});

test("a noun is singular after 1, and plural after other counts", () => {
  assert.equal(format.counted(1, "query", "queries"), "1 query");
  assert.equal(format.counted(1204, "query", "queries"), "1,204 queries");
  assert.equal(format.counted(0, "job"), "0 jobs");
});

test("a metric has four decimals and a minus as wide as a plus", () => {
  assert.equal(format.metric(0.47114), "0.4711");
  assert.equal(format.metric(-0.5), "−0.5000");
  assert.equal(format.metric(132.5667), "132.57");
  assert.equal(format.metric(NaN), "–");
  assert.equal(format.metric(null), "–");
});

test("a value that rounds to zero has no sign", () => {
  assert.equal(format.fixed(-0.00001, 4), "0.0000");
  assert.equal(format.metric(-0), "0.0000");
});

test("a loss has five digits at any scale", () => {
  assert.equal(format.lossValue(0.693147), "0.69315");
  assert.equal(format.lossValue(-0.5), "−0.5");
  assert.equal(format.lossValue(-0.00001234), "−1.2340e-5");
  assert.equal(format.lossValue(0), "0");
  assert.equal(format.lossValue(0.00001234), "1.2340e-5");
  assert.equal(format.lossValue(12345678), "1.2346e+7");
  assert.equal(format.lossValue(undefined), "–");
});

test("values of all types have a short text", () => {
  assert.equal(format.short(0.1 + 0.2), "0.3");
  assert.equal(format.short(1764453312), "1764453312");
  assert.equal(format.short(-1764453312.5), "−1764453312");
  assert.equal(format.short("-1"), "-1");
  assert.equal(format.numberText(-0.5), "-0.5"); // in a form
  assert.equal(format.short(1e30), "1e+30");
  assert.equal(format.short([1, 2]), "[1,2]");
  assert.equal(format.short(false), "false");
  assert.equal(format.short(null), "–");
});

test("a positive share is never 0%, and an incomplete share is never 100%", () => {
  assert.equal(format.percent(0, 10), "0%");
  assert.equal(format.percent(1, 100_000), "<0.1%");
  assert.equal(format.percent(64, 1000), "6.4%");
  assert.equal(format.percent(99_999, 100_000), ">99.9%");
  assert.equal(format.percent(10, 10), "100%");
});

test("an incomplete share that would round to 100% has a decimal", () => {
  assert.equal(format.percent(994, 1000), "99%");
  assert.equal(format.percent(996, 1000), "99.6%");
  assert.equal(format.percent(999, 1000), "99.9%");
  assert.equal(format.percent(0.996, 1), "99.6%");
});

test("sizes have the largest unit that gives at least 1", () => {
  assert.equal(format.size(0), "0 B");
  assert.equal(format.size(999), "999 B");
  assert.equal(format.size(1500), "1.5 kB");
  assert.equal(format.size(123_456_789), "123 MB");
  assert.equal(format.size(5e15), "5000 TB");
});

test("a size that rounds up to the next unit is shown in that unit", () => {
  assert.equal(format.size(999_999), "1.0 MB");
  assert.equal(format.size(999_600), "1.0 MB");
  assert.equal(format.size(99_960), "100 kB");
});

test("the text of a feature's value is exact", () => {
  assert.equal(format.featureText(Math.fround(0.7)), "0.7");
  assert.equal(format.featureText(0.1234567891), "0.1234567891");
  assert.equal(format.featureText(Math.fround(1764453312)), "1764453376");
  assert.equal(format.featureText(0), "0");
});

test("a duration has at most two units", () => {
  assert.equal(format.duration(-1), "0 s");
  assert.equal(format.duration(59.4), "59 s");
  assert.equal(format.duration(59.6), "1 min");
  assert.equal(format.duration(61), "1 min 1 s");
  assert.equal(format.duration(601), "10 min");
  assert.equal(format.duration(3600), "1 h");
  assert.equal(format.duration(3661), "1 h 1 min");
  assert.equal(format.duration(49 * 3600), "2 days");
});

test("milliseconds below ten have a decimal, unless they round to ten", () => {
  assert.equal(format.milliseconds(8.06), "8.1 ms");
  assert.equal(format.milliseconds(1234.5), "1,235 ms");
  assert.equal(format.milliseconds(9.96), "10 ms");
});

test("a day is that of the local time zone", () => {
  process.env.TZ = "America/Los_Angeles";
  assert.equal(format.dayLabel("2027-01-01T07:59:59Z"), "Dec 31, 2026");
  process.env.TZ = "UTC";
  assert.equal(format.dayLabel("2027-01-01T07:59:59Z"), "Jan 1, 2027");
});

test("sentences of the service name fields by their labels instead of JSON pointers", () => {
  assert.equal(format.withLabels("/method: needs clicks"), "method: needs clicks");
  assert.equal(
    format.withLabels("2 problems; the first is /base/hyperparameters/num_leaves: too small"),
    "2 problems; the first is num leaves: too small",
  );
  assert.equal(
    format.withLabels("/metrics/0: unknown; /label_map: required"),
    "metrics 1: unknown; label map: required",
  );
  for (const other of ["file a/b: damaged", "https://host/data: refused", "GET /v1/jobs failed", ""]) {
    assert.equal(format.withLabels(other), other);
  }
});
