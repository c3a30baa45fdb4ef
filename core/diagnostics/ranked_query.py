"""One query in rank order, with the terms of the papers' bounds."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from core.gains import Gain, gains, inverse_discounts
from core.losses import Loss
from core.types import Float64Array, FloatArray, Int64Array

Sides = tuple[float, float]  # the lower and the upper side of an inequality


@dataclass(frozen=True)
class BoundTerms:
    """Parameters of the bounds: gain, discount, σ and μ.

    Attributes:
        sigma: Slope σ; scores are multiplied by it.
        mu: Weight μ of NDCG-Loss2 in NDCG-Loss2++.
    """

    sigma: float = 1.0
    gain: Gain = "exp2"
    discount: str = "log2"
    mu: float = 5.0

    @classmethod
    def of(cls, loss: Loss) -> "BoundTerms":
        """Return the parameters of a loss; parameters that it lacks have the papers' values.

        Example:
            >>> from core.losses import make_loss
            >>> BoundTerms.of(make_loss("ndcg-loss2++", mu=2.0, gain="linear"))
            BoundTerms(sigma=1.0, gain='linear', discount='log2', mu=2.0)
        """
        names = ("sigma", "gain", "discount", "mu")
        return cls(**{name: getattr(loss, name) for name in names if hasattr(loss, name)})


@dataclass(frozen=True, eq=False)
class RankedQuery:
    """The documents of a query by descending score; N = maxDCG, G = g(y)/N, D(r) the discount of rank r.

    Attributes:
        scores: (n,) scores times σ in rank order, ties in input order.
        labels: (n,) labels >= 0 in rank order.
        terms: g, D, σ and μ.
    """

    scores: Float64Array
    labels: Float64Array
    terms: BoundTerms = field(default_factory=BoundTerms)

    @classmethod
    def of(cls, scores: FloatArray, labels: FloatArray, terms: BoundTerms | None = None) -> "RankedQuery":
        """Rank a query's documents, (n,) each."""
        terms = terms or BoundTerms()
        order = np.argsort(-np.asarray(scores, np.float64), kind="stable")
        ranked = terms.sigma * np.asarray(scores, np.float64)[order]
        return cls(ranked, np.asarray(labels, np.float64)[order], terms)

    def __len__(self) -> int:
        return len(self.scores)

    @cached_property
    def discounts(self) -> Float64Array:
        """(n,) D(r) of each rank."""
        if self.terms.discount == "log2":
            return np.asarray(np.log2(1.0 + np.arange(1, len(self) + 1)))
        return np.asarray(1.0 / inverse_discounts(self.terms.discount, len(self)))

    @cached_property
    def _unscaled_gains(self) -> Float64Array:
        """(n,) g(y); 2^y − 1 without the limit that losses have for labels."""
        if self.terms.gain == "exp2":
            return np.asarray(np.exp2(self.labels) - 1.0)
        return gains(self.terms.gain, self.labels)

    @cached_property
    def max_dcg(self) -> float:
        """N, above 0 where a document has a gain."""
        return float((np.sort(self._unscaled_gains)[::-1] / self.discounts).sum())

    @cached_property
    def gains(self) -> Float64Array:
        """(n,) G of each document."""
        return np.asarray(self._unscaled_gains / self.max_dcg)

    @cached_property
    def ndcg(self) -> float:
        """NDCG over all ranks, with the gains and discounts of the terms."""
        return float((self.gains / self.discounts).sum())

    @cached_property
    def relevant(self) -> Float64Array:
        """(n,) 1 where the label is above 0, else 0."""
        return np.asarray(self.labels > 0.0, np.float64)

    @cached_property
    def average_precision(self) -> float:
        """Mean over the relevant documents of the precision at their ranks."""
        precision = np.cumsum(self.relevant) / np.arange(1, len(self) + 1)
        return float((precision * self.relevant).sum() / self.relevant.sum())

    @cached_property
    def differences(self) -> Float64Array:
        """(n, n) score of the row's document minus score of the column's document."""
        return self.scores[:, None] - self.scores[None, :]

    @cached_property
    def preferred(self) -> Float64Array:
        """(n, n) 1 where the label of the row's document is the larger one."""
        return np.asarray(self.labels[:, None] > self.labels[None, :], np.float64)

    @cached_property
    def pairs(self) -> tuple[Int64Array, Int64Array]:
        """Ranks, from 0, of the documents with larger and with smaller label, (n_pairs,) each."""
        better, worse = np.nonzero(self.preferred)
        return better, worse

    @cached_property
    def pair_differences(self) -> Float64Array:
        """(n_pairs,) score of the document with the larger label minus score of the other document."""
        return self.differences[self.pairs]

    @cached_property
    def log2_logistic(self) -> Float64Array:
        """(n, n) log2(1 + e^−z) of the differences z."""
        return log2_logistic(self.differences)


def log2_logistic(differences: Float64Array) -> Float64Array:
    """Return log2(1 + e^−z), which is at least 1 where z <= 0 (Wang et al. 2018, equation 12)."""
    logistic = np.log1p(np.exp(-np.abs(differences))) - np.minimum(differences, 0.0)
    return np.asarray(logistic / np.log(2.0))
