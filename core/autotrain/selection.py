"""Selection of a weighted sum of candidates by held-out scores, with an estimate of its quality.

The estimate measures each query by weights chosen without it.

Greedy selection with replacement from a library of models is by Caruana, Niculescu-Mizil, Crew and
Ksikes (2004). It overfits few queries. The weights are therefore averages over greedy selections on bootstrap
draws of the queries; the paper draws from the models instead (section 2.3).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.autotrain.held_out import HeldOut
from core.evaluation.paired import SIGNIFICANCE, p_of_differences
from core.evaluation.selection import against_best
from core.types import Float64Array, Int64Array

BoolArray = npt.NDArray[np.bool_]
_DRAWS = 20  # bootstrap draws of the queries
_ROUNDS = 5  # candidates that one greedy selection adds at most
_MIN_WEIGHT = 0.05
_QUERY_GROUPS = 5  # groups of queries for the quality estimate
# A smaller difference of means does not justify a more complex model.
TOLERANCE = 0.003


@dataclass(frozen=True, eq=False)
class Choice:
    """A weighted sum of candidates.

    Attributes:
        weights: float64 (n_candidates,) non-negative weights of scaled scores; their sum is 1.
        values: float64 (n_queries,) value of each query with weights chosen without that query; larger is
            better, NaN where undefined.
    """

    weights: Float64Array
    values: Float64Array

    @property
    def members(self) -> Int64Array:
        """Return the positions of the candidates that have a weight."""
        return np.flatnonzero(self.weights)


class Selection:
    """Selection among candidates with held-out scores.

    Args:
        held_out: The folds.
        scores: (repetitions, n_documents) held-out scores of each candidate, NaN where a query was not held
            out; the same queries for all candidates.
        complexities: Complexity of each candidate, see `Candidate.complexity`.

    Attributes:
        values: float64 (n_candidates, n_queries) values of the candidates.
        scales: Divisor of each candidate's scores: the mean deviation of its held-out scores within queries.
    """

    def __init__(
        self, held_out: HeldOut, scores: Sequence[Float64Array], complexities: Sequence[int]
    ) -> None:
        self.values = np.stack([held_out.values(each) for each in scores])
        self._complexities = np.array(complexities)
        # Restrict repeated measurements to queries that were held out.
        self._tested = np.flatnonzero(~np.isnan(self.values).any(axis=0))
        self._quality = held_out.of_queries(self._tested)
        deviations = [held_out.deviation(each) for each in scores]
        self.scales = tuple(deviation or 1.0 for deviation in deviations)
        rows = held_out.rows(self._tested)
        self._scores = np.stack(
            [each[:, rows] / scale for each, scale in zip(scores, self.scales, strict=True)]
        )
        # Scores without differences within queries add nothing to a sum.
        addable = np.flatnonzero(deviations) if any(deviations) else np.arange(len(scores))
        self._additions = np.eye(len(scores), dtype=np.int64)[addable]
        self._values_of_sums: dict[tuple[int, ...], Float64Array] = {}
        n_tested = len(self._tested)
        self._groups = np.random.default_rng(0).permutation(n_tested) % min(_QUERY_GROUPS, max(n_tested, 1))

    def tied_with_best(self) -> list[bool]:
        """Return for each candidate whether the best one is not significantly better, see `against_best`."""
        return [each.tied for each in against_best(list(self._single_values()))]

    def single(self) -> Choice:
        """Return the best candidate, or the simplest candidate that is not clearly worse.

        The mean of the returned candidate may be below the best mean by the standard error of their
        difference, but at most by `TOLERANCE`.
        """
        return self._chosen(self._simplest)

    def sum(self) -> Choice:
        """Return the sum of candidates by greedy selection, which may be one candidate."""
        return self._chosen(self._greedy)

    def choose(self, prefer: str) -> Choice:
        """Return the sum of candidates, or a single candidate.

        Args:
            prefer: `best` returns the sum; `simple` returns it only if it is significantly better than the
                single candidate.
        """
        several = self.sum()
        if prefer == "best":
            return several
        single = self.single()
        is_single = len(several.members) == 1
        return single if is_single or not _is_better(several.values, single.values) else several

    def _chosen(self, choose: Callable[[BoolArray], Float64Array]) -> Choice:
        """Choose weights on all queries, and measure each group by weights chosen on the other groups."""
        everywhere = np.ones(len(self._tested), np.bool_)
        tested_values = np.empty(len(self._tested))
        for group in range(self._groups.max(initial=-1) + 1):
            in_group = self._groups == group
            others = everywhere if in_group.all() else ~in_group
            tested_values[in_group] = self._measured(choose(others))[in_group]
        values = np.full(self.values.shape[1], np.nan)
        values[self._tested] = tested_values
        return Choice(choose(everywhere), values)

    def _single_values(self) -> Float64Array:
        values: Float64Array = self.values[:, self._tested]
        return values

    def _measured(self, weights: Float64Array) -> Float64Array:
        if np.count_nonzero(weights) == 1:
            alone: Float64Array = self._single_values()[int(weights.argmax())]
            return alone
        total: Float64Array = np.tensordot(weights, self._scores, 1)
        return self._quality.values(total)

    def _measured_counts(self, counts: Int64Array) -> Float64Array:
        """Return the values of a sum, given how often each candidate was added."""
        key = tuple((counts // np.gcd.reduce(counts)).tolist())
        if key not in self._values_of_sums:
            self._values_of_sums[key] = self._measured(counts / counts.sum())
        return self._values_of_sums[key]

    def _simplest(self, queries: BoolArray) -> Float64Array:
        values = self._single_values()[:, queries]
        means = values.mean(axis=1)
        close = means == means.max()
        if values.shape[1] > 1:
            differences = values[int(means.argmax())] - values
            errors = differences.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
            close = means >= means.max() - np.minimum(errors, TOLERANCE)
        close &= self._complexities == self._complexities[close].min()
        weights = np.zeros(len(means))
        weights[np.where(close, means, -np.inf).argmax()] = 1.0
        return weights

    def _greedy(self, queries: BoolArray) -> Float64Array:
        """Return the mean weights of greedy selections on draws of the queries, without small ones."""
        generator = np.random.default_rng(0)
        chosen = np.flatnonzero(queries)
        draws = [generator.choice(chosen, len(chosen)) for _ in range(_DRAWS)]
        weights: Float64Array = np.mean([self._greedy_on(drawn) for drawn in draws], axis=0)
        weights[weights < min(_MIN_WEIGHT, weights.max())] = 0.0
        weights /= weights.sum()
        return weights

    def _greedy_on(self, queries: Int64Array) -> Float64Array:
        """Return the weights of the best sum during a greedy selection on some queries, with repetitions."""
        counts = np.zeros(len(self._scores), np.int64)
        best, best_mean = counts, -np.inf
        for _ in range(_ROUNDS):
            added = counts + self._additions
            means = [float(self._measured_counts(each)[queries].mean()) for each in added]
            counts = added[int(np.argmax(means))]
            if max(means) > best_mean:
                best, best_mean = counts, max(means)
        weights: Float64Array = best / best.sum()
        return weights


def _is_better(values: Float64Array, others: Float64Array) -> bool:
    """Return whether values are significantly larger, by a one-sided paired t-test over shared queries."""
    gains = values - others
    gains = gains[~np.isnan(gains)]
    return p_of_differences(gains) < 2 * SIGNIFICANCE and bool(gains.mean() > 0.0)
