/** Figures of a study: best value so far, parallel coordinates, slices and the timeline of its trials. @module */
import { figureView } from "../figures/figure.js";
import { h, replace, setText } from "../page/dom.js";
import { hint } from "../page/parts.js";
import { briefDuration, counted, metric } from "../page/format.js";
import {
  isBetterFor,
  dimensionsOf,
  finished,
  isNumeric,
  isOpen,
  metricOf,
  parameterName,
  valueAt,
  valueLabel,
} from "./labels.js";

/**
 * Return a panel with one or several figures, which are drawn again when the study changes.
 * @param {string} title
 * @param {string} words below the heading
 * @param {(study: Study, trials: Trial[]) => Figure[] | string} make returns the figures, or the reason why there are none
 */
function figurePanel(title, words, make) {
  const note = h("p.plot-note", { hidden: true });
  const container = h("div.study-figures");
  const node = h("section.panel.study-figure", { "aria-label": title }, h("h2", title), hint(words), container, note);
  /** @type {ReturnType<typeof figureView>[]} */ let views = [];

  /** @param {Study} study @param {Trial[]} trials */
  function update(study, trials) {
    const drawable = make(study, trials);
    const figures = typeof drawable === "string" ? [] : drawable;
    container.hidden = figures.length === 0;
    note.hidden = figures.length > 0;
    setText(note, typeof drawable === "string" ? drawable : "");
    if (views.length !== figures.length) {
      views = figures.map(() => figureView());
      replace(container, ...views.map((view) => view.node));
    }
    figures.forEach((figure, index) => views[index].draw(figure));
  }
  return { node, update };
}

/** Return the figure of the values of all trials, with the best value so far as a line. */
export function historyFigure() {
  return figurePanel(
    "History",
    "Each point is a trial; the line is the best value so far. Pruned trials were stopped early.",
    (study, trials) => {
      const better = isBetterFor(study);
      const done = finished(trials);
      if (!done.length) return isOpen(study) ? "Waiting for the first trial to end." : "No trial has finished.";
      const pruned = trials.filter(({ status, value }) => status === "pruned" && value !== null);
      /** @type {number[]} */ const best = [];
      for (const { value } of done) {
        const last = best.at(-1);
        best.push(last === undefined || better(Number(value), last) ? Number(value) : last);
      }
      const name = metricOf(study);
      /** @type {Series} */
      const line = { name: "Best so far", colour: "accent", x: done.map(({ number }) => number), y: best };
      const searched = done.filter(({ number }) => number !== 0);
      const standard = done.filter(({ number }) => number === 0);
      const series = [
        { ...line, kind: /** @type {const} */ ("step"), quiet: true },
        points(pruned, { name: "Pruned", colour: "muted", symbol: "cross" }),
        points(searched, { name: "Finished", colour: "accent" }),
        points(standard, { name: "Default", colour: "best", symbol: "diamond", size: 6 }),
      ];
      return [
        {
          summary: `${counted(done.length, "finished trial")}; the best ${name} is ${metric(best.at(-1))}.`,
          height: 320,
          x: { title: "trial", whole: true },
          y: { title: name, read: metric },
          reading: "nearest",
          series: series.filter(({ x }) => x.length > 0),
        },
      ];
    },
  );
}

/** @param {Trial[]} trials @param {Pick<Series, "name" | "colour" | "symbol" | "size">} style @returns {Series} */
const points = (trials, style) => ({
  kind: "points",
  x: trials.map(({ number }) => number),
  y: trials.map(({ value }) => value),
  ...style,
});

const MAX_LINES = 300;

/** Return the parallel coordinates: one line per finished trial, at most `MAX_LINES`, more opaque for better trials. */
export function parallelFigure() {
  return figurePanel(
    "Parallel coordinates",
    "One line per finished trial, at most 300, from its parameters to its value. Lines of better trials are more opaque; the best is orange.",
    (study, trials) => {
      const better = isBetterFor(study);
      const done = finished(trials)
        .sort((one, other) => (better(Number(one.value), Number(other.value)) ? 1 : -1))
        .slice(-MAX_LINES);
      if (done.length < 2)
        return isOpen(study) ? "Waiting for a second trial to end." : "Fewer than two trials have finished.";
      const axes = [
        ...dimensionsOf(study).map(([pointer, dimension]) => axisOf(pointer, dimension, done)),
        axisOfValues(metricOf(study), done),
      ];
      return [
        {
          summary: `${counted(done.length, "finished trial")} by ${axes.map(({ label }) => label).join(", ")}.`,
          height: 380,
          x: { range: [-0.2, axes.length - 0.55], ticks: axes.map(({ label }, index) => [index, label]), named: true },
          y: { range: [-0.04, 1.04], hidden: true },
          reading: "nearest",
          series: done.map((trial, index) => trialLine(trial, index, done.length, axes)),
          innerAxes: axes.map(({ ticks }, x) => ({ x, ticks })),
        },
      ];
    },
  );
}

/** @param {Trial} trial @param {number} index from the worst @param {number} length @param {ParallelAxis[]} axes @returns {Series} */
function trialLine({ number }, index, length, axes) {
  const isBest = index === length - 1;
  const at = axes.flatMap(({ positions }, axis) => (positions[index] === null ? [] : [axis]));
  return {
    name: `trial ${number}`,
    unnamed: true,
    ...(isBest
      ? { colour: "best", width: 3, size: 3.5 }
      : { colour: "accent", width: 1.5, size: 1.5, opacity: 0.08 + 0.72 * (index / length) ** 2 }),
    dots: true,
    x: at,
    y: at.map((axis) => axes[axis].positions[index]),
    words: at.map((axis) => `${axes[axis].label}: ${axes[axis].words[index]}`),
  };
}

/** @typedef {{label: string, positions: (number | null)[], words: string[], ticks: [value: number, label: string][]}} ParallelAxis positions: 0 to 1, null where a trial has no such parameter */

/** @param {string} name @param {Trial[]} trials @returns {ParallelAxis} */
function axisOfValues(name, trials) {
  const values = trials.map(({ value }) => Number(value));
  return numericAxis(name, values, Math.min(...values), Math.max(...values), metric);
}

/** @param {string} pointer @param {import("./labels.js").Dimension} dimension @param {Trial[]} trials @returns {ParallelAxis} */
function axisOf(pointer, dimension, trials) {
  const label = parameterName(pointer);
  const values = trials.map((trial) => valueAt(trial, pointer));
  if (!isNumeric(dimension)) {
    const words = values.map((value) => (value === undefined ? "not used" : valueLabel(value)));
    const names = [...new Set((dimension.choices ?? []).map(valueLabel).concat(words))].filter(
      (word) => word !== "not used",
    );
    /** @param {string} word */
    const positionOf = (word) => (names.length > 1 ? names.indexOf(word) / (names.length - 1) : 0.5);
    return {
      label,
      words,
      positions: words.map((word) => (word === "not used" ? null : positionOf(word))),
      ticks: names.map((word) => [positionOf(word), word]),
    };
  }
  const numbers = values.map((value) => (typeof value === "number" ? value : null));
  const known = numbers.filter((value) => value !== null);
  const low = Math.min(...known, dimension.low ?? Infinity);
  const high = Math.max(...known, dimension.high ?? -Infinity);
  return numericAxis(label, numbers, low, high, valueLabel, dimension.log);
}

/**
 * @param {string} label @param {(number | null)[]} values @param {number} low @param {number} high
 * @param {(value: number) => string} shown @param {boolean} [log] @returns {ParallelAxis}
 */
function numericAxis(label, values, low, high, shown, log = false) {
  const transform = log && low > 0 ? Math.log : Number;
  const width = transform(high) - transform(low) || 1;
  const middle = log && low > 0 ? Math.sqrt(low * high) : (low + high) / 2;
  return {
    label,
    positions: values.map((value) => (value === null ? null : (transform(value) - transform(low)) / width)),
    words: values.map((value) => (value === null ? "not used" : shown(value))),
    ticks: [
      [0, shown(low)],
      [0.5, shown(middle)],
      [1, shown(high)],
    ],
  };
}

/** Return a figure for each parameter, with the values of the finished trials. */
export function slicesFigure() {
  return figurePanel(
    "Slices",
    "The value of each finished trial against one parameter at a time; later trials are more opaque.",
    (study, trials) => {
      const done = finished(trials);
      if (!done.length) return isOpen(study) ? "Waiting for the first trial to end." : "No trial has finished.";
      const largestNumber = Math.max(...done.map(({ number }) => number));
      return dimensionsOf(study).map(([pointer, dimension]) => slice(study, pointer, dimension, done, largestNumber));
    },
  );
}

/**
 * @param {Study} study @param {string} pointer @param {import("./labels.js").Dimension} dimension
 * @param {Trial[]} done
 * @param {number} largestNumber the highest trial number
 * @returns {Figure}
 */
function slice(study, pointer, dimension, done, largestNumber) {
  const used = done.filter((trial) => valueAt(trial, pointer) !== undefined);
  const values = used.map((trial) => valueAt(trial, pointer));
  const numeric = isNumeric(dimension);
  const names = numeric ? [] : [...new Set(values.map(valueLabel))];
  const name = parameterName(pointer);
  return {
    summary: `${metricOf(study)} of ${counted(used.length, "trial")} against ${name}.`,
    height: 240,
    x: numeric
      ? { title: name, log: dimension.log }
      : { title: name, named: true, range: [-0.5, names.length - 0.5], ticks: names.map((each, at) => [at, each]) },
    y: { read: metric },
    reading: "nearest",
    series: [
      {
        name,
        kind: "points",
        colour: "accent",
        x: values.map((value) => (numeric ? Number(value) : names.indexOf(valueLabel(value)))),
        y: used.map(({ value }) => value),
        opacities: used.map(({ number }) => 0.2 + 0.75 * (largestNumber ? number / largestNumber : 1)),
        words: used.map(({ number }, index) => `trial ${number}, ${valueLabel(values[index])}`),
      },
    ],
  };
}

/** @type {Record<string, string>} */
const OUTCOME_COLOURS = { succeeded: "accent", pruned: "train", failed: "best", cancelled: "line", running: "hue-4" };

/** Return the timeline of trials with their outcomes. */
export function timelineFigure() {
  return figurePanel(
    "Timeline",
    "When each trial ran: one bar per trial, coloured by its outcome.",
    (study, trials) => {
      const started = trials.filter(({ started_at: at }) => at);
      if (!started.length) return isOpen(study) ? "No trial has started yet." : "No trial has started.";
      const first = Math.min(...started.map(({ started_at: at }) => Date.parse(at ?? "")));
      const seconds = (/** @type {string | null} */ at) => ((at ? Date.parse(at) : Date.now()) - first) / 1000;
      const outcomes = Object.keys(OUTCOME_COLOURS).map((status) => ({
        status,
        matching: started.filter((trial) => trial.status === status),
      }));
      const present = outcomes.filter(({ matching }) => matching.length > 0);
      const numbers = started.map(({ number }) => number);
      return [
        {
          summary: `${counted(started.length, "trial")}: ${present.map(({ status, matching }) => `${matching.length} ${status}`).join(", ")}.`,
          height: Math.min(640, Math.max(220, 90 + 9 * started.length)),
          x: { title: "seconds since the first trial", zero: true },
          y: {
            title: "trial",
            read: () => "",
            whole: true,
            reversed: true,
            range: [Math.min(...numbers) - 0.6, Math.max(...numbers) + 0.6],
          },
          reading: "nearest",
          series: present.map(({ status, matching }) => ({
            name: status,
            kind: "spans",
            colour: OUTCOME_COLOURS[status],
            x: matching.map(({ started_at: at }) => seconds(at)),
            end: matching.map(({ finished_at: at }) => seconds(at)),
            y: matching.map(({ number }) => number),
            words: matching.map(
              ({ number, started_at: from, finished_at: to }) =>
                `trial ${number}, ${briefDuration(seconds(to) - seconds(from))}`,
            ),
          })),
        },
      ];
    },
  );
}
