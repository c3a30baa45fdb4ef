"""Choose a weighted sum of candidates by their held-out scores, and estimate its quality without bias.

Greedy selection with replacement from a library of models is that of Caruana, Niculescu-Mizil, Crew and Ksikes
(2004). Weights are the mean over several starts, which their section 2.3 shows to help on few data, half of
the way to equal weights of the chosen candidates.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.autotrain.held_out import HeldOut
from core.evaluation.paired import SIGNIFICANCE, t_test_p
from core.types import Float64Array, Int64Array

_STARTS = 3
_ROUNDS = 10
_EQUAL_SHARE = 0.5
_LEAST_WEIGHT = 0.05
# Means so close are no reason to prefer a model that is harder to read.
TOLERANCE = 0.003


@dataclass(frozen=True, eq=False)
class Choice:
    """A weighted sum of candidates.

    Attributes:
        weights: float64 (n_candidates,) of scaled scores, none negative, adding up to 1.
        values: float64 (n_queries,) of each query by weights that were chosen without it, the larger the
            better; NaN where undefined.
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
        scores: (repetitions, n_documents) scaled held-out scores of each candidate, NaN where a query was not
            held out; of all candidates the same queries.
        parts: How hard each candidate is to read, see `Candidate.parts`.
    """

    def __init__(self, held_out: HeldOut, scores: Sequence[Float64Array], parts: Sequence[int]) -> None:
        self._held_out = held_out
        self._scores = scores
        self._parts = parts
        self.values = np.stack([held_out.values(each) for each in scores])
        self._groups = self._query_groups()

    def single(self) -> Choice:
        """Return the best candidate alone, or a simpler one that cannot be told from it."""
        chosen = self._simplest(~np.isnan(self.values).any(axis=0))
        return Choice(self._alone(chosen), self._nested(lambda kept: self._alone(self._simplest(kept))))

    def sum(self) -> Choice:
        """Return the sum that greedy selection finds."""
        everywhere = np.ones(self.values.shape[1], np.bool_)
        return Choice(self._greedy(everywhere), self._nested(self._greedy))

    def choose(self, prefer: str) -> Choice:
        """Return the sum, or a single candidate where `simple` is preferred and the sum is not shown better.

        Args:
            prefer: `simple` or `best`.
        """
        single = self.single()
        if len(self._scores) == 1:
            return single
        added = self.sum()
        if len(added.members) == 1:
            return single if prefer == "simple" else added
        gains = added.values - single.values
        gains = gains[~np.isnan(gains)]
        mean = float(gains.mean()) if len(gains) else 0.0
        if prefer == "best":
            return added if mean > 0.0 else single
        is_shown = len(gains) > 1 and mean > 0.0 and t_test_p(mean, float(gains.std(ddof=1)), len(gains)) < (
            2 * SIGNIFICANCE
        )
        return added if is_shown else single

    def _nested(self, choose) -> Float64Array:
        """Return the values of each group of queries by weights chosen on the other groups."""
        values = np.full(self.values.shape[1], np.nan)
        for group in np.unique(self._groups):
            inside = self._groups == group
            if inside.all():
                return self._measured(choose(inside))
            values[inside] = self._measured(choose(~inside))[inside]
        return values

    def _query_groups(self) -> Int64Array:
        return self._held_out.first_folds

    def _measured(self, weights: Float64Array) -> Float64Array:
        members = np.flatnonzero(weights)
        if len(members) == 1:
            return self.values[members[0]]
        total = sum(weights[place] * self._scores[place] for place in members)
        return self._held_out.values(np.asarray(total))

    def _alone(self, place: int) -> Float64Array:
        weights = np.zeros(len(self._scores))
        weights[place] = 1.0
        return weights

    def _means(self, kept: "np.ndarray") -> Float64Array:
        shared = kept & ~np.isnan(self.values).any(axis=0)
        if not shared.any():
            return np.zeros(len(self._scores))
        return self.values[:, shared].mean(axis=1)

    def _simplest(self, kept: "np.ndarray") -> int:
        means = self._means(kept)
        best = int(means.argmax())
        shared = kept & ~np.isnan(self.values).any(axis=0)
        if shared.sum() < 2:
            return best
        differences = self.values[best, shared] - self.values[:, shared]
        errors = differences.std(axis=1, ddof=1) / np.sqrt(shared.sum())
        close = means >= means[best] - np.minimum(errors, TOLERANCE)
        simplest = min(self._parts[place] for place in np.flatnonzero(close))
        return int(max((p for p in np.flatnonzero(close) if self._parts[p] == simplest), key=means.__getitem__))

    def _greedy(self, kept: "np.ndarray") -> Float64Array:
        means = self._means(kept)
        order = np.argsort(-means, kind="stable")
        starts = order[: min(_STARTS, len(order))]
        found = np.mean([self._from(int(start), kept) for start in starts], axis=0)
        found[found < _LEAST_WEIGHT] = 0.0
        chosen = found > 0.0
        found = found / found.sum()
        return (1.0 - _EQUAL_SHARE) * found + _EQUAL_SHARE * chosen / chosen.sum()

    def _from(self, start: int, kept: "np.ndarray") -> Float64Array:
        """Return the weights of the best sum on the way from a candidate."""
        counts = self._alone(start)
        total = self._scores[start]
        best, reached = counts / counts.sum(), self._mean(self.values[start], kept)
        for _ in range(_ROUNDS - 1):
            tried = [
                self._mean(self._held_out.values((total + each) / (counts.sum() + 1)), kept)
                for each in self._scores
            ]
            place = int(np.argmax(tried))
            counts[place] += 1.0
            total = total + self._scores[place]
            if tried[place] > reached:
                best, reached = counts / counts.sum(), tried[place]
        return best

    @staticmethod
    def _mean(values: Float64Array, kept: "np.ndarray") -> float:
        found = values[kept]
        found = found[~np.isnan(found)]
        return float(found.mean()) if len(found) else -np.inf
