"""Pairwise losses whose weights come from NDCG: LambdaRank and the NDCG-Loss2 family of LambdaLoss."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.losses.base import Terms, weights_or_ones
from core.losses.pairwise import PairwiseObjective, pairwise_plan
from core.losses.ranks import exp2_gains, ideal_dcg, log2_discounts
from core.parameters import check, parameter
from core.types import Float64Array, FloatArray, Int64Array

_UNTRUNCATED = np.iinfo(np.int64).max


@dataclass(frozen=True)
class NdcgPairwiseLoss:
    """Σ w_ij ln(1 + e^{−σ(s_i − s_j)}) over pairs with y_i > y_j, w_ij = (a ρ_ij + b δ_ij)(G_i − G_j).

    π is the present 1-based rank, D(r) = log2(1 + r), ρ_ij = |1/D(π_i) − 1/D(π_j)|,
    δ_ij = 1/D(d) − 1/D(d + 1) with d = |π_i − π_j|, and G = (2^y − 1) / maxDCG. The weights are frozen at the
    present ranks, so gradient and hessian are those of the weighted logistic loss. The members of the
    family differ in the factors a and b only.

    With a truncation level τ the pairs with min(π_i, π_j) <= τ are kept and maxDCG is that of the top τ;
    ρ and δ are not zeroed beyond τ.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]

    sigma: float = parameter(
        1.0, "Slope σ of the logistic function.", minimum=0.0, above=True, maximum=1000.0
    )
    truncation_level: int | None = parameter(
        None,
        "Keep pairs with at least one document in the top τ; all pairs when null.",
        minimum=1,
        maximum=1_000_000,
    )

    def __post_init__(self) -> None:
        check(self)

    @property
    def rank_factor(self) -> float:
        """Factor a of ρ."""
        raise NotImplementedError

    @property
    def distance_factor(self) -> float:
        """Factor b of δ."""
        raise NotImplementedError

    def __call__(
        self, scores: FloatArray, labels: FloatArray, query_boundaries: Int64Array, iteration: int = 0
    ) -> Terms:
        """Evaluate the loss once, for inspection."""
        return self.prepare(labels, query_boundaries).terms(scores, iteration)

    def prepare(
        self,
        labels: FloatArray,
        query_boundaries: Int64Array,
        query_weights: Float64Array | None = None,
    ) -> PairwiseObjective:
        """Bind the loss to a dataset."""
        boundaries = np.ascontiguousarray(query_boundaries, np.int64)
        sizes = np.diff(boundaries)
        longest = int(sizes.max(initial=0))
        discounts = log2_discounts(longest + 1)
        gains = exp2_gains(labels)
        ideal = ideal_dcg(labels, gains, boundaries, discounts, self.truncation_level)
        inverse_ideal = np.divide(1.0, ideal, out=np.zeros_like(ideal), where=ideal > 0)
        plan = pairwise_plan(
            labels,
            boundaries,
            weights_or_ones(query_weights, len(sizes)),
            label_values=gains * np.repeat(inverse_ideal, sizes),
            discounts=discounts,
            distance_weights=np.concatenate(([0.0], discounts[:-1] - discounts[1:])),
            rank_factor=self.rank_factor,
            distance_factor=self.distance_factor,
            sigma=self.sigma,
            truncation_level=_UNTRUNCATED if self.truncation_level is None else self.truncation_level,
        )
        return PairwiseObjective(plan)


@dataclass(frozen=True)
class LambdaRank(NdcgPairwiseLoss):
    """LambdaRank for NDCG: the pair weighs the change of NDCG when the two documents swap ranks.

    w_ij = ρ_ij (G_i − G_j). Source: Burges et al. 2006, equation 9, with the cross-entropy cost of
    RankNet; Marcuzzi et al. 2023, equation 1.

    Example:
        The 2023 paper's Table 2, whose λ are the negative gradient (it adds rounded summands to 0.397):

        >>> import numpy as np
        >>> scores, labels = np.array([0.02, 0.01, 0.0]), np.array([4.0, 0.0, 1.0])
        >>> terms = LambdaRank()(scores, labels, np.array([0, 3]))
        >>> np.round(-terms.gradient, 3).tolist()
        [0.398, -0.18, -0.217]
    """

    name: ClassVar[str] = "lambdarank"
    summary: ClassVar[str] = "Pairs weighted by the change of NDCG when they swap ranks"
    formula: ClassVar[str] = "Σ ρ_ij (G_i − G_j) ln(1 + e^{−σ(s_i − s_j)}), y_i > y_j"
    source: ClassVar[str] = "Burges et al. 2006, eq. 9; Marcuzzi et al. 2023, eq. 1"

    @property
    def rank_factor(self) -> float:
        """Factor of ρ: 1."""
        return 1.0

    @property
    def distance_factor(self) -> float:
        """Factor of δ: 0."""
        return 0.0


@dataclass(frozen=True)
class NdcgLoss2(NdcgPairwiseLoss):
    """NDCG-Loss2: the pair weighs the discount between ranks as far apart as the two documents.

    w_ij = δ_ij (G_i − G_j); a tighter bound of the NDCG cost than NDCG-Loss1.
    Source: Wang et al. 2018, equation 16.
    """

    name: ClassVar[str] = "ndcg-loss2"
    summary: ClassVar[str] = "A bound of the NDCG cost: pairs weighted by the discount of their rank distance"
    formula: ClassVar[str] = "Σ δ_ij (G_i − G_j) ln(1 + e^{−σ(s_i − s_j)}), y_i > y_j"
    source: ClassVar[str] = "Wang et al. 2018, eq. 16"

    @property
    def rank_factor(self) -> float:
        """Factor of ρ: 0."""
        return 0.0

    @property
    def distance_factor(self) -> float:
        """Factor of δ: 1."""
        return 1.0


@dataclass(frozen=True)
class NdcgLoss2PlusPlus(NdcgPairwiseLoss):
    """NDCG-Loss2++: LambdaRank and NDCG-Loss2 together, w_ij = (ρ_ij + μ δ_ij)(G_i − G_j).

    Source: Wang et al. 2018, equation 19.
    """

    name: ClassVar[str] = "ndcg-loss2++"
    summary: ClassVar[str] = "LambdaRank plus μ times NDCG-Loss2"
    formula: ClassVar[str] = "Σ (ρ_ij + μ δ_ij)(G_i − G_j) ln(1 + e^{−σ(s_i − s_j)}), y_i > y_j"
    source: ClassVar[str] = "Wang et al. 2018, eq. 19"

    mu: float = parameter(5.0, "Weight μ of the NDCG-Loss2 part.", minimum=0.0, maximum=1000.0)

    @property
    def rank_factor(self) -> float:
        """Factor of ρ: 1."""
        return 1.0

    @property
    def distance_factor(self) -> float:
        """Factor of δ: μ."""
        return self.mu
