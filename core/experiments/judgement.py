"""Judge a paper's claims by our results: held, not shown or contradicted, with effect and p-value."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import singledispatchmethod
from typing import Any, Literal

import numpy as np

from core.evaluation.paired import SIGNIFICANCE, PairedDifference, format_p, holm, paired_differences
from core.experiments import rules
from core.experiments.paper import Claim, Significance, Test
from core.experiments.results import CellValue
from core.names import query_count
from core.types import Float64Array

Verdict = Literal["held", "not-shown", "contradicted"]
_EARLY = 0.1  # share of the trees at which a rising curve is compared with its end


@dataclass(frozen=True)
class Comparison:
    """One comparison of a judgement; differences are first − second.

    Attributes:
        first: Row and column of the first number.
        second: Row and column of the second number.
        difference: Difference in natural units; of means, where there are values by query.
        lower: Lower end of the 95% interval, None with fewer than two values by query.
        upper: Upper end of the 95% interval.
        p: Two-sided p-value of the table's test, None without values by query.
        adjusted_p: For a difference that contradicts an `Above` claim, p after Holm's correction over the
            claim's comparisons. In the correction, supporting comparisons have p = 1. Otherwise p.
    """

    first: rules.CellKey
    second: rules.CellKey
    difference: float
    lower: float | None = None
    upper: float | None = None
    p: float | None = None
    adjusted_p: float | None = None
    queries: int | None = None


@dataclass(frozen=True)
class Judgement:
    """The verdict on a claim.

    Attributes:
        verdict: `held`, `not-shown` or `contradicted`.
        effect: Difference of the decisive comparison, in natural units; for `AtMost` the excess over the
            bound, for `Reaches` the share of trees. None where numbers are missing or never reached.
        p: p-value of the decisive comparison, None without a test.
        comparisons: All comparisons; none for `AtMost` and `Reaches`.
    """

    claim: Claim
    verdict: Verdict
    effect: float | None
    p: float | None
    sentence: str
    comparisons: tuple[Comparison, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON to store."""
        return {
            "name": self.claim.name,
            "statement": self.claim.statement,
            "source": self.claim.source,
            "verdict": self.verdict,
            "effect": self.effect,
            "p": self.p,
            "sentence": self.sentence,
            "comparisons": [asdict(comparison) for comparison in self.comparisons],
        }


class PairedTests:
    """Paired tests of systems, cached so that marks and claims share them.

    Args:
        permutations: Random assignments of Fisher's test.
    """

    def __init__(self, permutations: int = 100_000, threads: int = 1) -> None:
        self._permutations = permutations
        self._threads = threads
        self._results: dict[tuple[int, int], tuple[Float64Array, Float64Array, PairedDifference | None]] = {}

    def __call__(self, first: Float64Array, second: Float64Array) -> PairedDifference | None:
        """Compare two systems over the same queries; differences are first − second.

        Returns:
            None where no query has both values, or the numbers of queries differ.
        """
        if first.shape != second.shape:
            return None
        self.run_all([(first, second)])
        return self._results[id(first), id(second)][2]

    def run_all(self, pairs: Iterable[tuple[Float64Array, Float64Array]]) -> None:
        """Run several tests together; tests of equally many queries share random numbers and work."""
        by_length: dict[int, list[tuple[Float64Array, Float64Array]]] = {}
        for first, second in pairs:
            if first.shape == second.shape and (id(first), id(second)) not in self._results:
                by_length.setdefault(len(first), []).append((first, second))
        for same_length in by_length.values():
            firsts, seconds = (np.column_stack(column) for column in zip(*same_length, strict=True))
            tests = paired_differences(
                seconds, firsts, permutations=self._permutations, threads=self._threads
            )
            for (first, second), test in zip(same_length, tests, strict=True):
                # Keep references to the arrays, as the id of a deleted array could be reused.
                self._results[id(first), id(second)] = first, second, test


def p_value(paired: PairedDifference, test: Test) -> float:
    """Return the p-value of a paper's test; of Fisher's test where the paper has no test."""
    if test == "t-test":
        if paired.t_test_p is None:
            return 1.0 if paired.difference == 0.0 or paired.queries == 1 else 0.0
        return paired.t_test_p
    return paired.randomisation_p


class Judge:
    """Judges the claims of one table.

    Args:
        values: Measured values by row and column.
        significance: The table's test; None for Fisher's test.
        unit: Factor from natural units to the units of sentences: 100 for percent.
    """

    def __init__(
        self,
        values: Mapping[rules.CellKey, CellValue],
        significance: Significance | None,
        unit: float = 1.0,
        tests: PairedTests | None = None,
    ) -> None:
        self._values = values
        self._test: Test = significance.test if significance else "randomisation"
        self._unit = unit
        self._paired = tests or PairedTests()

    def judge(self, claim: Claim) -> Judgement:
        """Judge a claim by its rule."""
        return self._apply(claim.rule, claim)

    @singledispatchmethod
    def _apply(self, rule: Any, claim: Claim) -> Judgement:
        raise TypeError(f"no judgement of {type(rule).__name__}")

    @_apply.register
    def _above(self, rule: rules.Above, claim: Claim) -> Judgement:
        compared = self._adjusted([self._compare(pair) for pair in rule.pairs])
        absent = [pair for pair, comparison in zip(rule.pairs, compared, strict=True) if comparison is None]
        comparisons = [comparison for comparison in compared if comparison is not None]
        below = [c for c in comparisons if c.difference < 0.0 and _or_default(c.adjusted_p) < SIGNIFICANCE]
        if below:
            return self._decided(claim, "contradicted", min(below, key=lambda c: c.difference), comparisons)
        if absent:
            return self._absent(claim, absent, comparisons)
        is_significant = all(c.difference > 0.0 and _or_default(c.p) < SIGNIFICANCE for c in comparisons)
        weakest = max(comparisons, key=lambda c: (c.difference <= 0.0, _or_default(c.p)))
        return self._decided(claim, "held" if is_significant else "not-shown", weakest, comparisons)

    @_apply.register
    def _narrower(self, rule: rules.Narrower, claim: Claim) -> Judgement:
        wide, narrow = (self._relative_gap(pair) for pair in (rule.wide, rule.narrow))
        paired = None if wide is None or narrow is None else self._paired(wide, narrow)
        if paired is None:
            return self._absent(claim, (rule.wide, rule.narrow), [])
        comparison = self._comparison((rule.wide[0], rule.narrow[0]), paired)
        verdict = _verdict_of(comparison)
        sentence = (
            f"The relative gap is {100.0 * paired.mean_b:+.2f}% where the claim expects the wider gap, and"
            f" {100.0 * paired.mean_a:+.2f}% where it expects the narrower gap;"
            f" {format_p(_or_default(comparison.p))}, {query_count(paired.queries)}."
        )
        return Judgement(claim, verdict, comparison.difference, comparison.p, sentence, (comparison,))

    @_apply.register
    def _alike(self, rule: rules.Alike, claim: Claim) -> Judgement:
        compared = [self._compare(pair) for pair in rule.pairs]
        comparisons = [comparison for comparison in compared if comparison is not None]
        if len(comparisons) < len(rule.pairs):
            absent = [pair for pair, c in zip(rule.pairs, compared, strict=True) if c is None]
            return self._absent(claim, absent, comparisons)
        widened = _simultaneous(len(comparisons))
        beyond = [c for c in comparisons if _distance_from_zero(c, widened) > rule.margin]
        farthest = max(comparisons, key=_farthest_end)
        if beyond:
            farthest = max(beyond, key=lambda c: abs(c.difference))
            verdict: Verdict = "contradicted"
        else:
            verdict = "held" if _farthest_end(farthest) < rule.margin else "not-shown"
        lower, upper = map(self._signed, _interval_ends(farthest))
        sentence = (
            f"The interval that extends farthest is {lower} to {upper} ({_named(farthest)}); the margin is"
            f" ±{self._unit * rule.margin:.2f}."
        )
        return Judgement(claim, verdict, farthest.difference, farthest.p, sentence, tuple(comparisons))

    @_apply.register
    def _larger(self, rule: rules.Larger, claim: Claim) -> Judgement:
        absent = [pair for pair in rule.pairs if None in (self._number(pair[0]), self._number(pair[1]))]
        comparisons = [
            Comparison(first, second, _or_default(self._number(first)) - _or_default(self._number(second)))
            for first, second in rule.pairs
            if (first, second) not in absent
        ]
        if absent:
            return self._absent(claim, absent, comparisons)
        smallest = min(comparisons, key=lambda c: c.difference)
        margins = [rule.margin * _or_default(self._number(c.second)) for c in comparisons]
        verdict: Verdict = "not-shown"
        if all(c.difference > margin for c, margin in zip(comparisons, margins, strict=True)):
            verdict = "held"
        elif any(c.difference < -margin for c, margin in zip(comparisons, margins, strict=True)):
            verdict = "contradicted"
        sentence = (
            f"The smallest lead is {self._formatted(smallest.first)} against"
            f" {self._formatted(smallest.second)} ({_named(smallest)}); the verdict uses no significance"
            " test."
        )
        return Judgement(claim, verdict, smallest.difference, None, sentence, tuple(comparisons))

    @_apply.register
    def _rises(self, rule: rules.Rises, claim: Claim) -> Judgement:
        rises = []
        for cell_key in rule.cell_keys:
            cell = self._values.get(cell_key)
            if cell is None or not cell.curve:
                return self._absent(claim, [(cell_key, cell_key)], [])
            early = cell.curve[min(len(cell.curve) - 1, int(_EARLY * len(cell.curve)))]
            rises.append(Comparison(cell_key, cell_key, cell.curve[-1] - early))
        smallest = min(rises, key=lambda c: c.difference)
        verdict: Verdict = "held" if smallest.difference > 0.0 else "contradicted"
        sentence = (
            f"The smallest rise after a tenth of the trees is {self._signed(smallest.difference)}"
            f" ({smallest.first[0]}); the verdict uses no significance test."
        )
        return Judgement(claim, verdict, smallest.difference, None, sentence, tuple(rises))

    @_apply.register
    def _reaches(self, rule: rules.Reaches, claim: Claim) -> Judgement:
        fast, slow = (self._values.get(cell_key) for cell_key in rule.pair)
        if fast is None or slow is None or not fast.curve or not slow.curve:
            return self._absent(claim, (rule.pair,), [])
        goal = max(slow.curve)
        trees_of_slow = slow.trees[slow.curve.index(goal)]
        reached = [tree for tree, value in zip(fast.trees, fast.curve, strict=True) if value >= goal]
        (first, _), (second, _) = rule.pair
        if not reached:
            sentence = (
                f"{first} never reaches the best value of {second}; the verdict uses no significance test."
            )
            return Judgement(claim, "contradicted", None, None, sentence)
        share = reached[0] / trees_of_slow
        verdict: Verdict = "held" if share <= rule.share else "not-shown" if share < 1.0 else "contradicted"
        sentence = (
            f"{first} needs {reached[0]} trees for the value that {second} reaches after {trees_of_slow}."
        )
        return Judgement(claim, verdict, share, None, sentence)

    @_apply.register
    def _at_most(self, rule: rules.AtMost, claim: Claim) -> Judgement:
        absent = [(cell_key, cell_key) for cell_key in rule.cell_keys if self._number(cell_key) is None]
        if absent:
            return self._absent(claim, absent, [])
        highest = max(rule.cell_keys, key=lambda cell_key: _or_default(self._number(cell_key)))
        excess = _or_default(self._number(highest)) - rule.bound
        sentence = (
            f"The largest number is {self._unit * (rule.bound + excess):.3f} ({', '.join(highest)}), the"
            f" bound is {self._unit * rule.bound:.3f}; the verdict uses no significance test."
        )
        return Judgement(claim, "held" if excess <= 0.0 else "contradicted", excess, None, sentence)

    def _number(self, cell_key: rules.CellKey) -> float | None:
        cell = self._values.get(cell_key)
        return None if cell is None else cell.value

    def _formatted(self, cell_key: rules.CellKey) -> str:
        return f"{self._unit * _or_default(self._number(cell_key)):.2f}"

    def _signed(self, difference: float) -> str:
        return f"{100.0 * difference:+.2f}" if self._unit == 100.0 else f"{difference:+.4f}"

    def _compare(self, pair: rules.Pair) -> Comparison | None:
        first, second = (self._values.get(cell_key) for cell_key in pair)
        if first is None or second is None or first.per_query is None or second.per_query is None:
            return None
        paired = self._paired(first.per_query, second.per_query)
        return None if paired is None else self._comparison(pair, paired)

    def _comparison(self, pair: rules.Pair, paired: PairedDifference) -> Comparison:
        p = p_value(paired, self._test)
        return Comparison(*pair, paired.difference, paired.lower, paired.upper, p, p, paired.queries)

    def _relative_gap(self, pair: rules.Pair) -> Float64Array | None:
        first, second = (self._values.get(cell_key) for cell_key in pair)
        if first is None or second is None or first.per_query is None or second.per_query is None:
            return None
        if first.per_query.shape != second.per_query.shape or not second.value:
            return None
        # The mean in the denominator is treated as a constant, as it varies far less than the gap.
        gap: Float64Array = (first.per_query - second.per_query) / second.value
        return gap

    @staticmethod
    def _adjusted(comparisons: Sequence[Comparison | None]) -> list[Comparison | None]:
        present = [comparison for comparison in comparisons if comparison is not None]
        against = [_or_default(c.p) if c.difference < 0.0 else 1.0 for c in present]
        adjusted = dict(zip(map(id, present), holm(against), strict=True))
        return [
            replace(c, adjusted_p=adjusted[id(c)]) if c and c.difference < 0.0 else c for c in comparisons
        ]

    def _decided(
        self, claim: Claim, verdict: Verdict, by: Comparison, comparisons: Sequence[Comparison]
    ) -> Judgement:
        openings = {"held": "The weakest difference", "contradicted": "The largest opposite difference"}
        sentence = (
            f"{openings.get(verdict, 'The weakest difference')} is {self._signed(by.difference)}"
            f" ({_named(by)}); {format_p(_or_default(by.p))}, {query_count(by.queries or 0)}."
        )
        return Judgement(claim, verdict, by.difference, by.p, sentence, tuple(comparisons))

    def _absent(
        self, claim: Claim, pairs: Sequence[rules.Pair], comparisons: Sequence[Comparison]
    ) -> Judgement:
        cell_keys = dict.fromkeys(cell_key for pair in pairs for cell_key in pair)
        missing = [cell_key for cell_key in cell_keys if self._number(cell_key) is None]
        reason = "numbers are missing" if missing else "no query has both numbers"
        names = "; ".join(f"{row}, {column}" for row, column in missing or cell_keys)
        sentence = f"The claim cannot be judged, because {reason}: {names}."
        return Judgement(claim, "not-shown", None, None, sentence, tuple(comparisons))


def _simultaneous(n_comparisons: int) -> float:
    """Return the factor that makes 95% intervals simultaneous (Bonferroni, normal approximation)."""
    from scipy import special

    alone, together = special.ndtri([1.0 - SIGNIFICANCE / 2.0, 1.0 - SIGNIFICANCE / (2.0 * n_comparisons)])
    return float(together / alone)


def _distance_from_zero(comparison: Comparison, widened: float) -> float:
    """Return the distance from 0 to the nearest end of the widened interval, negative if it contains 0."""
    difference = comparison.difference
    lower, upper = _interval_ends(comparison)
    return abs(difference) - widened * abs(difference - (lower if difference > 0.0 else upper))


def _farthest_end(comparison: Comparison) -> float:
    """Return the distance from 0 to the end of the interval that is farther from 0."""
    lower, upper = _interval_ends(comparison)
    return max(-lower, upper)


def _interval_ends(comparison: Comparison) -> tuple[float, float]:
    """Return the interval, infinite where a comparison of one query has none."""
    return _or_default(comparison.lower, -math.inf), _or_default(comparison.upper, math.inf)


def _verdict_of(comparison: Comparison) -> Verdict:
    if _or_default(comparison.p) >= SIGNIFICANCE or comparison.difference == 0.0:
        return "not-shown"
    return "held" if comparison.difference > 0.0 else "contradicted"


def _or_default(value: float | None, default: float = 1.0) -> float:
    return default if value is None else value


def _named(comparison: Comparison) -> str:
    (first, column), (second, other) = comparison.first, comparison.second
    if first == second:
        return f"{first}: {column} over {other}"
    return f"{first} over {second}, {column}"
