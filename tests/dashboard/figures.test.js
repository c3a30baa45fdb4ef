import assert from "node:assert/strict";
import { test } from "node:test";
import { boxOf } from "../../app/dashboard/static/figures/dragging.js";
import { frameOf } from "../../app/dashboard/static/figures/frame.js";
import { featureValue } from "../../app/dashboard/static/figures/marks.js";
import { pairLabel } from "../../app/dashboard/static/figures/profiles.js";
import { nearestStop, stopsOf, wordsOf } from "../../app/dashboard/static/figures/reading.js";
import { exactScale, extent, linearScale } from "../../app/dashboard/static/figures/scales.js";
import { bandPath, isolated, linePath, thinned } from "../../app/dashboard/static/figures/shapes.js";

test("a category is shown as its text, without the mark of an infinite value", () => {
  assert.equal(featureValue("acme"), "acme");
  assert.equal(featureValue(0.25), "0.25");
});

test("the ends of a scale are round and hold all values", () => {
  const { low, high, ticks, format } = linearScale([0.413, 0.487]);
  assert.ok(low <= 0.413 && high >= 0.487);
  assert.deepEqual(ticks.map(format), ["0.40", "0.42", "0.44", "0.46", "0.48", "0.50"]);
});

test("a value is placed between the ends", () => {
  const { low, high, share } = linearScale([0, 10]);
  assert.deepEqual([low, high], [0, 10]);
  assert.deepEqual([share(0), share(2.5), share(10)], [0, 0.25, 1]);
});

test("the tick at zero has no minus", () => {
  assert.deepEqual(linearScale([-1, 1], 4).ticks.map(linearScale([-1, 1], 4).format), [
    "−1.0",
    "−0.5",
    "0.0",
    "0.5",
    "1.0",
  ]);
});

test("a scale of one value, of zero or of no value has a positive width", () => {
  for (const values of [[0.5], [-0.5, -0.5], [0], [], [null, undefined]]) {
    const { low, high, ticks } = linearScale(values);
    assert.ok(high > low, JSON.stringify(values));
    assert.ok(ticks.length > 1 && ticks.every(Number.isFinite), JSON.stringify(values));
  }
});

test("an exact scale keeps the given ends and has round ticks between them", () => {
  const { low, high, ticks, share, value } = exactScale(3, 97, { most: 5 });
  assert.deepEqual([low, high], [3, 97]);
  assert.deepEqual(ticks, [20, 40, 60, 80]);
  assert.equal(value(share(42)), 42);
});

test("a scale of whole numbers has no ticks between them", () => {
  assert.deepEqual(exactScale(0, 3, { most: 8, whole: true }).ticks, [0, 1, 2, 3]);
  assert.deepEqual(exactScale(0, 10, { most: 4, whole: true }).ticks, [0, 5, 10]);
});

test("a scale has at least three ticks, even if fewer are requested", () => {
  assert.ok(exactScale(1, 97, { most: 2 }).ticks.length >= 3);
});

test("the labels of neighbouring ticks differ, also where values are close to each other or very large", () => {
  for (const [low, high] of [
    [1_700_000_000, 1_700_100_000],
    [0.001, 0.00100001],
    [-3.8e15, 3.1e15],
    [1e17, 1e17],
    [1e30, 2e30],
  ]) {
    const { ticks, format, share } = exactScale(low, high);
    const labels = ticks.map(format);
    assert.ok(labels.length > 1 && new Set(labels).size === labels.length, `${labels}`);
    assert.ok(Math.max(...labels.map((label) => label.length)) <= 12, `${labels}`);
    assert.ok(Number.isFinite(share(low)));
  }
  assert.equal(exactScale(-4e6, 4e6).format(-2e6), "−2M");
});

test("the labels of a logarithmic scale differ over a narrow range", () => {
  for (const [low, high] of [
    [1.0001, 1.0002],
    [0.99, 1.01],
    [3, 4],
    [100_001, 100_002],
  ]) {
    const { ticks, format, share } = exactScale(low, high, { log: true });
    assert.ok(ticks.length >= 3);
    assert.equal(new Set(ticks.map(format)).size, ticks.length);
    assert.ok(ticks.every((tick) => share(tick) > -1e-9 && share(tick) < 1 + 1e-9));
  }
});

test("a logarithmic scale has ticks at 1, 2 and 5, or at powers of ten", () => {
  assert.deepEqual(exactScale(1, 64, { most: 6, log: true }).ticks, [1, 2, 5, 10, 20, 50]);
  const { ticks, format, share, value } = exactScale(0.0001, 10, { most: 6, log: true });
  assert.deepEqual(ticks.map(format), ["0.0001", "0.001", "0.01", "0.1", "1", "10"]);
  assert.ok(Math.abs(share(0.01) - 0.4) < 1e-9);
  assert.ok(Math.abs(value(0.4) - 0.01) < 1e-9);
});

test("very large and very small ticks are short", () => {
  const large = linearScale([0, 3e6]);
  assert.deepEqual(large.ticks.map(large.format), ["0", "1M", "2M", "3M"]);
  const small = linearScale([0, 2e-9], 2);
  assert.deepEqual(small.ticks.map(small.format), ["0", "1.0e-9", "2.0e-9"]);
});

test("the extent of values ignores missing and infinite values", () => {
  assert.deepEqual(extent([3, null, NaN, Infinity, -1, undefined]), [-1, 3]);
  assert.equal(extent([null]), null);
});

test("a line is broken where a value is absent, and a lone value is a dot", () => {
  const positions = [[0, 1], [1, 2], null, [3, 4.25]];
  assert.equal(linePath(positions), "M0 1L1 2M3 4.3");
  assert.equal(linePath(positions, true), "M0 1H1V2M3 4.3");
  assert.deepEqual(isolated(positions), [[3, 4.25]]);
});

test("a band goes along its upper edge and back along its lower one", () => {
  assert.equal(
    bandPath(
      [
        [0, 1],
        [1, 2],
      ],
      [
        [0, 5],
        [1, 6],
      ],
    ),
    "M0 1L1 2L1 6L0 5Z",
  );
  assert.equal(bandPath([], []), "");
});

test("a column of pixels keeps its first, lowest, highest and last point", () => {
  const positions = Array.from({ length: 1000 }, (_, index) => [index / 100, Math.sin(index)]);
  const kept = thinned(positions);
  assert.ok(kept.length <= 4 * 11);
  assert.equal(Math.min(...kept.map(([, y]) => y)), Math.min(...positions.map(([, y]) => y)));
  assert.deepEqual([kept[0], kept.at(-1)], [positions[0], positions.at(-1)]);
  assert.deepEqual(thinned([[0, 1], null, [0, 2]]), [[0, 1], null, [0, 2]]);
});

const figure = {
  summary: "",
  x: { title: "iteration", zero: true, whole: true },
  y: { title: "ndcg@10" },
  series: [
    { name: "train", colour: "train", x: [1, 2, 3, 4], y: [0.1, 0.2, 0.3, 0.4] },
    { name: "every second", colour: "accent", x: [2, 4], y: [0.5, 0.6] },
  ],
};

test("values are within the frame, and ticks do not touch", () => {
  const frame = frameOf(figure, figure.series, 400, {});
  assert.ok(frame.x(0) >= frame.start && frame.x(4) <= frame.end);
  assert.ok(frame.y(0.6) >= frame.top && frame.y(0.1) <= frame.bottom);
  assert.ok(frame.y(0.6) < frame.y(0.1));
  const { ticks } = frameOf(
    { ...figure, x: { ticks: [1, 2, 3, 4].map((at) => [at, "a long label"]) } },
    figure.series,
    300,
    {},
  );
  assert.ok(ticks.x.length < 4);
});

test("a selected part fills the frame, and the vertical axis fits the visible part of the series", () => {
  const whole = frameOf(figure, figure.series, 400, {});
  const view = whole.within({ left: whole.x(1), right: whole.x(2), top: whole.top, bottom: whole.bottom });
  assert.ok(Math.abs(view.x[0] - 1) < 1e-9 && Math.abs(view.x[1] - 2) < 1e-9);
  const part = frameOf(figure, figure.series, 400, { x: [1, 2] });
  assert.ok(Math.abs(part.x(2) - whole.x(4)) < 1e-9);
  assert.ok(part.ticks.y.every(({ label }) => Number(label) <= 0.5));
});

test("points without a horizontal value are left of all values", () => {
  const series = [{ name: "missing", colour: "best", kind: "points", x: [null], y: [0.2] }, ...figure.series];
  const frame = frameOf({ ...figure, x: { absent: "missing" } }, series, 400, {});
  assert.ok(frame.x(null) < frame.x(1) && frame.x(null) > frame.start);
  assert.equal(frame.formatX(null), "missing");
});

test("a stop has the values of all series that were measured at its position", () => {
  const frame = frameOf(figure, figure.series, 200, {});
  const stops = stopsOf(figure, figure.series, frame);
  assert.equal(stops.length, 4);
  const { title, rows } = wordsOf(stops[1], figure, frame);
  assert.equal(title, "iteration 2");
  assert.deepEqual(
    rows.map(({ words }) => words),
    ["0.2", "0.5"],
  );
  assert.equal(nearestStop(stops, [frame.x(3) + 1, 0]), 2);
});

test("a figure with the reading nearest shows only the point nearest to the pointer", () => {
  const frame = frameOf(figure, figure.series, 400, {});
  const single = { ...figure, reading: "nearest" };
  const stops = stopsOf(single, figure.series, frame);
  assert.equal(stops.length, 6);
  const stop = stops[nearestStop(stops, [frame.x(4) - 5, frame.y(0.6) + 5])];
  assert.deepEqual(
    wordsOf(stop, single, frame).rows.map(({ series, words }) => [series.name, words]),
    [["every second", "0.6"]],
  );
  assert.equal(nearestStop([], [0, 0]), -1);
});

test("a thin box selects along one axis, a point selects nothing", () => {
  const area = { left: 10, right: 110, top: 0, bottom: 100 };
  assert.deepEqual(boxOf([20, 50], [60, 55], area), { ...area, left: 20, right: 60 });
  assert.deepEqual(boxOf([20, 20], [25, 70], area), { ...area, top: 20, bottom: 70 });
  assert.deepEqual(boxOf([0, 20], [60, 70], area), { left: 10, right: 60, top: 20, bottom: 70 });
  assert.equal(boxOf([20, 50], [22, 52], area), null);
});

test("a pair of columns is labelled by the names of both distributions", () => {
  const shares = [
    ["Training data", 0.064],
    ["Now", 0],
  ];
  assert.equal(pairLabel("missing", shares), "missing: Training data 6.4%, Now 0%");
});
