"""Compare several systems on the same queries, by pair and metric, with a sentence for each pair."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np

from core.evaluation.paired import (
    SIGNIFICANCE,
    PairedDifference,
    Verdict,
    format_p,
    holm,
    paired_differences,
    verdict,
)
from core.metrics import largest_difference
from core.names import query_count
from core.types import Float64Array

MAX_CHANGED_QUERIES = 10
Correction = Literal["holm", "none"]


@dataclass(frozen=True)
class MetricDifference:
    """The difference of a pair by one metric, adjusted for all tests.

    Attributes:
        adjusted_p: p-value of the randomisation test after the correction over all pairs and metrics.
    """

    paired: PairedDifference
    adjusted_p: float
    verdict: Verdict


@dataclass(frozen=True)
class ChangedQuery:
    """A query on which B differs from A.

    Attributes:
        query: Position of the query in the dataset, from 0.
    """

    query: int
    a: float
    b: float


@dataclass(frozen=True)
class Pair:
    """System B against system A.

    Attributes:
        metrics: The difference by metric, None where no query has a value for both systems.
        most_improved: Queries with the largest gain of B by the first metric, largest first.
        most_harmed: Queries with the largest loss of B by the first metric, largest first.
    """

    a: int
    b: int
    metrics: dict[str, MetricDifference | None]
    most_improved: list[ChangedQuery]
    most_harmed: list[ChangedQuery]
    sentence: str

    @property
    def verdict(self) -> Verdict:
        """Verdict on B against A by the first metric."""
        first = next(iter(self.metrics.values()))
        return "no evidence" if first is None else first.verdict

    def to_json(self, query_ids: Sequence[str]) -> dict[str, Any]:
        """Return the fields as JSON values, with ids of queries instead of positions."""
        return {
            "a": self.a,
            "b": self.b,
            "sentence": self.sentence,
            "verdict": self.verdict,
            "metrics": {name: test and _flat(test) for name, test in self.metrics.items()},
            "most_improved": [_changed_json(changed, query_ids) for changed in self.most_improved],
            "most_harmed": [_changed_json(changed, query_ids) for changed in self.most_harmed],
        }


@dataclass(frozen=True)
class Comparison:
    """Pairs of systems.

    Attributes:
        pairs: Each pair once, A before B; with a reference, A is the reference in all pairs.
    """

    pairs: list[Pair]
    sentence: str


def compare_systems(
    names: Sequence[str],
    values: Mapping[str, Float64Array],
    higher_is_better: Mapping[str, bool],
    *,
    reference: int | None = None,
    correction: Correction = "holm",
    permutations: int = 100_000,
    seed: int = 0,
    threads: int = 1,
) -> Comparison:
    """Compare pairs of systems by every metric.

    A difference is significant by Fisher's randomisation test at 0.05, after Holm's correction over all
    pairs and metrics.

    Args:
        values: (n_queries, n_systems) values of each metric, NaN where undefined. The first is decisive.
        reference: Position of the system to compare all others with; None for all pairs.
        correction: `none` to compare each unadjusted p-value with 0.05, for a single planned test.
        permutations: Random assignments of each randomisation test.
    """
    metrics = list(values)
    table = np.stack([values[name] for name in metrics])  # (n_metrics, n_queries, n_systems)
    uncorrected = {
        (a, b): paired_differences(
            table[:, :, a].T,
            table[:, :, b].T,
            largest=list(map(largest_difference, metrics)),
            permutations=permutations,
            seed=seed,
            threads=threads,
        )
        for a, b in _pair_positions(len(names), reference)
    }
    p_values = [test.randomisation_p for tests in uncorrected.values() for test in tests if test is not None]
    adjusted_p_values = holm(p_values) if correction == "holm" else p_values
    open_tests = sum(p >= SIGNIFICANCE for p in adjusted_p_values) if correction == "holm" else 1
    differences = {
        pair: [test and test.corrected_for(open_tests) for test in tests]
        for pair, tests in uncorrected.items()
    }
    adjusted = iter(adjusted_p_values)
    directions = [higher_is_better[name] for name in metrics]
    pairs = []
    for (a, b), tests in differences.items():
        metric_differences = {
            name: None if test is None else _with_verdict(test, next(adjusted), is_higher_better)
            for name, test, is_higher_better in zip(metrics, tests, directions, strict=True)
        }
        improved, harmed = _most_changed(table[0, :, a], table[0, :, b], directions[0])
        pair_sentence = _pair_sentence(names[a], names[b], metric_differences)
        pairs.append(Pair(a, b, metric_differences, improved, harmed, pair_sentence))
    if len(pairs) == 1:
        sentence = pairs[0].sentence
    elif all(pair.metrics[metrics[0]] is None for pair in pairs):
        sentence = f"{metrics[0]} is undefined on every query for each pair of systems."
    else:
        sentence = _sentence(names, pairs) if reference is None else _reference_sentence(names, pairs)
    return Comparison(pairs, sentence)


def _pair_positions(systems: int, reference: int | None) -> list[tuple[int, int]]:
    if reference is None:
        return list(combinations(range(systems), 2))
    return [(reference, system) for system in range(systems) if system != reference]


def _with_verdict(paired: PairedDifference, adjusted_p: float, higher_is_better: bool) -> MetricDifference:
    gained = paired.difference if higher_is_better else -paired.difference
    return MetricDifference(paired, adjusted_p, verdict(gained, adjusted_p))


def _most_changed(
    a: Float64Array, b: Float64Array, higher_is_better: bool
) -> tuple[list[ChangedQuery], list[ChangedQuery]]:
    gained = np.nan_to_num(b - a if higher_is_better else a - b)
    order = np.argsort(-gained, kind="stable")

    def changed(queries: Sequence[int]) -> list[ChangedQuery]:
        return [ChangedQuery(query, float(a[query]), float(b[query])) for query in queries]

    improved = [int(query) for query in order[:MAX_CHANGED_QUERIES] if gained[query] > 0.0]
    harmed = [int(query) for query in order[::-1][:MAX_CHANGED_QUERIES] if gained[query] < 0.0]
    return changed(improved), changed(harmed)


def _flat(difference: MetricDifference) -> dict[str, Any]:
    fields: dict[str, Any] = asdict(difference)
    paired: dict[str, Any] = fields.pop("paired")
    return {**paired, **fields}


def _changed_json(changed: ChangedQuery, query_ids: Sequence[str]) -> dict[str, Any]:
    return {
        "query_id": query_ids[changed.query],
        "a": changed.a,
        "b": changed.b,
        "difference": changed.b - changed.a,
    }


def _pair_sentence(a: str, b: str, metrics: Mapping[str, MetricDifference | None]) -> str:
    name, first = next(iter(metrics.items()))
    if first is None:
        return f"{name} is undefined on every query for {a} or {b}."
    paired = first.paired
    if paired.difference == 0.0 and paired.wins == paired.losses == 0:
        each = "each of " if paired.queries > 1 else ""
        return f"{a} and {b} have the same {name} on {each}{query_count(paired.queries)}."
    statement = {
        "better": f"{b} is better than {a}",
        "worse": f"{b} is worse than {a}",
        "no evidence": f"There is no evidence that {b} and {a} differ",
    }[first.verdict]
    sentence = (
        f"{statement}: {name} goes from {paired.mean_a:.4f} to {paired.mean_b:.4f}, {paired.difference:+.4f}"
        f" ({paired.interval}, {format_p(first.adjusted_p)})"
        f" over {query_count(paired.queries)}."
    )
    if paired.too_few_warning:
        sentence += f" {paired.too_few_warning}"
    if first.verdict == "no evidence" and paired.queries_needed is not None:
        sentence += (
            f" About {paired.queries_needed:,} queries are needed to detect this difference with 80% power."
        )
    return " ".join((sentence, *_of_other_metrics(first.verdict, metrics)))


def _of_other_metrics(first: Verdict, metrics: Mapping[str, MetricDifference | None]) -> Iterator[str]:
    """Yield sentences on the metrics whose verdict differs from the first one."""
    for other, clause in (
        ("better", "it is better"),
        ("worse", "it is worse"),
        ("no evidence", "there is no evidence of a difference"),
    ):
        differing = [name for name, test in metrics.items() if test is not None and test.verdict == other]
        if differing and other != first:
            yield f"By {listed(differing)} {clause}."


def _sentence(names: Sequence[str], pairs: Sequence[Pair]) -> str:
    metric = next(iter(pairs[0].metrics))
    beaten: dict[int, set[int]] = {system: set() for system in range(len(names))}
    for pair in pairs:
        if pair.verdict == "better":
            beaten[pair.b].add(pair.a)
        elif pair.verdict == "worse":
            beaten[pair.a].add(pair.b)
    for system, others in beaten.items():
        if len(others) == len(names) - 1:
            return f"{names[system]} is better than every other system by {metric}."
    unbeaten = [name for system, name in enumerate(names) if not any(system in b for b in beaten.values())]
    differing = sum(pair.verdict != "no evidence" for pair in pairs)
    if not differing:
        return f"There is no evidence that any two of the {len(names)} systems differ by {metric}."
    if not unbeaten:  # possible if pairs share different queries
        best = f"Each system is worse than another one by {metric}"
    else:
        among = "" if len(unbeaten) == 1 else ", and there is no evidence that these systems differ"
        best = f"No system is better than {listed(unbeaten, 'or')} by {metric}{among}"
    return f"{best}; {differing} of {len(pairs)} pairs differ."


def _reference_sentence(names: Sequence[str], pairs: Sequence[Pair]) -> str:
    """Return a sentence that lists the systems better, worse and not different from the reference."""
    metric, reference = next(iter(pairs[0].metrics)), names[pairs[0].a]
    by_verdict = {
        each: [names[pair.b] for pair in pairs if pair.verdict == each]
        for each in ("better", "worse", "no evidence")
    }
    parts = [
        f"{listed(systems)} {'is' if len(systems) == 1 else 'are'} {each} than {reference}"
        for each in ("better", "worse")
        if (systems := by_verdict[each])
    ]
    if by_verdict["no evidence"]:
        parts.append(
            f"there is no evidence that {listed(by_verdict['no evidence'], 'or')} differs from {reference}"
        )
    return f"By {metric}, {'; '.join(parts)}."


def listed(names: Sequence[str], conjunction: str = "and") -> str:
    """Join names with commas, and the last one with a word: `a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {conjunction} {names[-1]}"
