"""Estimates of a model's quality on held-out clicks, corrected for position bias."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.clicks.correction import ClickCorrection
from core.clicks.counterfactual.estimates import MinimumSupport, effective_size_and_largest_share
from core.data import RankingDataset
from core.losses.ranks import descending_order
from core.types import Float64Array, FloatArray


@dataclass(frozen=True)
class HeldOutClicks:
    """Held-out lists with clicks.

    Attributes:
        dataset: Dataset with one query per list, clicks as labels, and the column of shown ranks.
        correction: A correction with the propensity of each rank.
        by_rank: (k,) weight of a click at each rank, see `rank_weights`.
    """

    dataset: RankingDataset
    correction: ClickCorrection
    by_rank: Float64Array

    def values(self, scores: FloatArray) -> Float64Array:
        """Return Σ click · weight(new rank) / p(shown rank) of each list, (n_queries,).

        The values estimate the metric of relevance (Joachims et al. 2017, equation 6), with propensities
        clipped as in training. Ties keep their order.

        Args:
            scores: (n_documents,) scores of the model.

        Raises:
            InvalidInput: The dataset lacks the ranks, or a rank has no propensity.
        """
        boundaries = self.dataset.query_boundaries
        lengths = np.diff(boundaries)
        queries = np.repeat(np.arange(len(lengths)), lengths)
        ranks = np.empty(len(scores), np.int64)
        ranks[descending_order(scores, boundaries)] = np.arange(len(scores)) - boundaries[queries]
        clicked = np.flatnonzero(self.dataset.labels > 0.0)
        rank_weights = np.append(self.by_rank, 0.0)[np.minimum(ranks[clicked], len(self.by_rank))]
        sums = np.bincount(queries[clicked], weights=rank_weights * self._weights, minlength=len(lengths))
        return np.asarray(sums, np.float64)

    def shortfall(self) -> str | None:
        """Return the reason why the clicks support no verdict, or None."""
        size, largest = effective_size_and_largest_share(self._weights)
        return MinimumSupport().shortfall(size, largest, 0.0, self.dataset.n_queries)

    @cached_property
    def _weights(self) -> Float64Array:
        return self.correction.weights_of_clicks(self.dataset)
