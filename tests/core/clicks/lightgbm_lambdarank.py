"""LightGBM's `lambdarank` in plain Python, every operation rounded as in rank_objective.hpp of 4.7."""

import itertools
import math

import numpy as np

_BINS, _LARGEST_DIFFERENCE = 1024 * 1024, 25.0


class PlainLambdarank:
    """LightGBM's objective with sigmoid 1, without normalisation; it is called like Rankery's objectives."""

    def __init__(self, labels: np.ndarray, boundaries: np.ndarray, truncation_level: int = 30) -> None:
        labels = np.asarray(labels, np.float64)
        self._labels, self._boundaries, self._top = labels, boundaries, truncation_level
        factor = _BINS / (2 * _LARGEST_DIFFERENCE)
        self._factor = factor
        self._sigmoid = [1.0 / (1.0 + math.exp(i / factor - _LARGEST_DIFFERENCE)) for i in range(_BINS)]
        self._inverse = []
        for first, last in itertools.pairwise(boundaries):
            ideal = 0.0
            for rank, label in enumerate(sorted(labels[first:last], reverse=True)[:truncation_level]):
                ideal += (2.0**label - 1.0) * (1.0 / math.log2(2.0 + rank))
            self._inverse.append(1.0 / ideal if ideal > 0.0 else 0.0)

    def __call__(self, scores: np.ndarray, iteration: int) -> tuple[np.ndarray, np.ndarray]:
        """Return gradient and hessian in float32."""
        gradient, hessian = (np.zeros(len(scores), np.float32) for _ in range(2))
        for query, (first, last) in enumerate(itertools.pairwise(self._boundaries)):
            self._add_query(query, int(first), int(last), scores, gradient, hessian)
        return gradient, hessian

    def _add_query(
        self, query: int, first: int, last: int, scores: np.ndarray, gradient: np.ndarray, hessian: np.ndarray
    ) -> None:
        order = first + np.argsort(-scores[first:last], kind="stable")
        for i in range(min(last - first - 1, self._top)):
            for j in range(i + 1, last - first):
                if self._labels[order[i]] == self._labels[order[j]]:
                    continue
                high, low = (i, j) if self._labels[order[i]] > self._labels[order[j]] else (j, i)
                one, other = order[high], order[low]
                gap = (2.0 ** self._labels[one] - 1.0) - (2.0 ** self._labels[other] - 1.0)
                discounts = 1.0 / math.log2(2.0 + high), 1.0 / math.log2(2.0 + low)
                delta = float(gap) * abs(discounts[0] - discounts[1]) * self._inverse[query]
                difference = float(scores[one] - scores[other])
                share = self._sigmoid[int((difference + _LARGEST_DIFFERENCE) * self._factor)]
                of_pair = np.float32(share * -delta), np.float32(share * (1.0 - share) * delta)
                gradient[other] -= of_pair[0]
                hessian[other] += of_pair[1]
                gradient[one] += of_pair[0]
                hessian[one] += of_pair[1]
