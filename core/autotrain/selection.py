"""Selection of a weighted sum of candidates by held-out scores, with an estimate of its quality.

The estimate measures each query by weights chosen without it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core.autotrain.held_out import HeldOut
from core.autotrain.weights import PairLoss
from core.evaluation.selection import against_best
from core.training.weights import mean_deviation
from core.types import BoolArray, Float64Array, Int64Array

_MIN_WEIGHT = 0.05  # share of the sum of the weights; of many equal weights, half the largest weight
_ROUNDING = 1e-9  # more than rounding errors of mean losses
_QUERY_GROUPS = 5  # groups of queries for the quality estimate


@dataclass(frozen=True, eq=False)
class Choice:
    """A weighted sum of candidates.

    Attributes:
        weights: float64 (n_candidates,) non-negative weights of scaled scores; their sum is 1.
        values: float64 (n_queries,) value of each query with weights chosen without that query; larger is
            better, NaN where undefined.
        losses: float64 (n_tested,) loss of each query that was held out, by the same weights, see `PairLoss`;
            NaN where undefined.
    """

    weights: Float64Array
    values: Float64Array
    losses: Float64Array

    @property
    def members(self) -> Int64Array:
        """Return the positions of the candidates that have a weight."""
        return np.flatnonzero(self.weights)


class Selection:
    """Selection among candidates with held-out scores.

    Args:
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
        deviations = [mean_deviation(each, held_out.dataset.query_boundaries) for each in scores]
        self.scales = tuple(deviation or 1.0 for deviation in deviations)
        rows = held_out.rows(self._tested)
        self._scores = np.stack(
            [each[:, rows] / scale for each, scale in zip(scores, self.scales, strict=True)]
        )
        # Scores without differences within queries add nothing to a sum.
        self._addable = np.flatnonzero(deviations) if any(deviations) else np.arange(len(scores))
        self._pair_loss = PairLoss(self._quality.dataset, self._scores)
        n_tested = len(self._tested)
        self._groups = np.random.default_rng(0).permutation(n_tested) % min(_QUERY_GROUPS, max(n_tested, 1))

    def tied_with_best(self) -> list[bool]:
        """Return for each candidate whether the best one is not significantly better, see `against_best`."""
        return [each.tied for each in against_best(list(self._single_values()))]

    def single(self) -> Choice:
        """Return the simplest candidate within one standard error of the least loss, see `PairLoss`."""
        return self._chosen(self._simplest)

    def sum(self) -> Choice:
        """Return the sum of candidates with the least loss, which may be one candidate."""
        return self._chosen(self._stacked)

    def choose(self, prefer: str) -> Choice:
        """Return the sum of candidates, or a single candidate.

        Args:
            prefer: `best` returns the sum, unless the mean loss of a single candidate is lower by more than
                one standard error; `simple` returns a single candidate, unless that of the sum is.
        """
        several, single = self.sum(), self.single()
        gains = single.losses - several.losses
        gains = gains[~np.isnan(gains)]
        if len(gains) < 2:
            return single
        error = gains.std(ddof=1) / np.sqrt(len(gains)) + _ROUNDING
        return several if gains.mean() > (error if prefer == "simple" else -error) else single

    def _chosen(self, choose: Callable[[BoolArray], Float64Array]) -> Choice:
        """Choose weights on all queries, and measure each group by weights chosen on the other groups."""
        everywhere = np.ones(len(self._tested), np.bool_)
        tested_values, losses = np.empty((2, len(self._tested)))
        for group in range(self._groups.max(initial=-1) + 1):
            in_group = self._groups == group
            of_values, of_losses = self._measured(choose(everywhere if in_group.all() else ~in_group))
            tested_values[in_group], losses[in_group] = of_values[in_group], of_losses[in_group]
        values = np.full(self.values.shape[1], np.nan)
        values[self._tested] = tested_values
        return Choice(choose(everywhere), values, losses)

    def _single_values(self) -> Float64Array:
        values: Float64Array = self.values[:, self._tested]
        return values

    def _measured(self, weights: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return the values and the losses of a sum on the queries that were held out."""
        if np.count_nonzero(weights) == 1:
            alone = int(weights.argmax())
            return self._single_values()[alone], self._pair_loss.of_candidates[alone]
        total: Float64Array = np.tensordot(weights, self._scores, 1)
        return self._quality.values(total), self._pair_loss.of_sum(weights)

    def _simplest(self, queries: BoolArray) -> Float64Array:
        losses = self._pair_loss.of_candidates[:, queries]
        losses = losses[:, ~np.isnan(losses[0])]
        means = losses.mean(axis=1) if losses.size else np.zeros(len(losses))
        close = means == means.min()
        if losses.shape[1] > 1:
            differences = losses - losses[int(means.argmin())]
            errors = differences.std(axis=1, ddof=1) / np.sqrt(losses.shape[1])
            close = means <= means.min() + errors
        close &= self._complexities == self._complexities[close].min()
        weights = np.zeros(len(means))
        weights[np.where(close, means, np.inf).argmin()] = 1.0
        return weights

    def _stacked(self, queries: BoolArray) -> Float64Array:
        """Return the weights of the sum with the least loss, without small ones."""
        weights = self._pair_loss.fitted_weights(self._addable, queries)
        if not weights.any():
            return self._simplest(queries)
        weights[weights < min(_MIN_WEIGHT * weights.sum(), weights.max() / 2.0)] = 0.0
        weights /= weights.sum()
        return weights
