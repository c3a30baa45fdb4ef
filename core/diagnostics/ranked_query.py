"""One query in rank order, with what the bounds of the papers are written in."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.types import Float64Array, FloatArray, Int64Array


@dataclass(frozen=True, eq=False)
class RankedQuery:
    """The documents of a query by descending score; N = maxDCG, G = (2^y − 1)/N, D(r) = log2(1 + r).

    Attributes:
        scores: (n,) scores in rank order, ties in input order.
        labels: (n,) labels >= 0 in rank order.
    """

    scores: Float64Array
    labels: Float64Array

    @classmethod
    def of(cls, scores: FloatArray, labels: FloatArray) -> "RankedQuery":
        """Rank a query's documents, (n,) each."""
        order = np.argsort(-np.asarray(scores, np.float64), kind="stable")
        return cls(np.asarray(scores, np.float64)[order], np.asarray(labels, np.float64)[order])

    def __len__(self) -> int:
        return len(self.scores)

    @cached_property
    def discounts(self) -> Float64Array:
        """(n,) D(r) of each rank."""
        return np.asarray(np.log2(1.0 + np.arange(1, len(self) + 1)))

    @cached_property
    def max_dcg(self) -> float:
        """N, above 0 where a document is relevant."""
        return float(((np.exp2(np.sort(self.labels)[::-1]) - 1.0) / self.discounts).sum())

    @cached_property
    def gains(self) -> Float64Array:
        """(n,) G of each document."""
        return np.asarray((np.exp2(self.labels) - 1.0) / self.max_dcg)

    @cached_property
    def ndcg(self) -> float:
        """NDCG of the ranking."""
        return float((self.gains / self.discounts).sum())

    @cached_property
    def relevant(self) -> Float64Array:
        """(n,) 1 where the label is above 0, else 0."""
        return np.asarray(self.labels > 0.0, np.float64)

    @cached_property
    def average_precision(self) -> float:
        """Average precision of the ranking."""
        precision = np.cumsum(self.relevant) / np.arange(1, len(self) + 1)
        return float((precision * self.relevant).sum() / self.relevant.sum())

    @cached_property
    def differences(self) -> Float64Array:
        """(n, n) score of the row's document less that of the column's."""
        return self.scores[:, None] - self.scores[None, :]

    @cached_property
    def preferred(self) -> Float64Array:
        """(n, n) 1 where the label of the row's document is the larger one."""
        return np.asarray(self.labels[:, None] > self.labels[None, :], np.float64)

    @cached_property
    def pairs(self) -> tuple[Int64Array, Int64Array]:
        """(n_pairs,) ranks, from 0, of the document of larger and of smaller label of each pair."""
        better, worse = np.nonzero(self.preferred)
        return better, worse

    @cached_property
    def pair_differences(self) -> Float64Array:
        """(n_pairs,) score of the document of larger label less that of the other."""
        return self.differences[self.pairs]

    @cached_property
    def log2_logistic(self) -> Float64Array:
        """(n, n) log2(1 + e^−z) of the differences z."""
        return log2_logistic(self.differences)


def log2_logistic(differences: Float64Array) -> Float64Array:
    """Return log2(1 + e^−z), which is at least 1 where z <= 0 (Wang et al. 2018, equation 12, σ = 1)."""
    logistic = np.log1p(np.exp(-np.abs(differences))) - np.minimum(differences, 0.0)
    return np.asarray(logistic / np.log(2.0))
