"""The losses of the LambdaLoss framework: bounds of the average relevance position (ARP) and of NDCG."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from core.losses.options import NdcgWeightedLoss, PairwiseLoss
from core.losses.plan import BY_DISCOUNTED_ROW, BY_DISTANCE, BY_LABELS, BY_ROW
from core.parameters import parameter
from core.types import Float64Array, Int64Array


@dataclass(frozen=True)
class ArpLoss1(PairwiseLoss):
    """ARP-Loss1: every other document is a partner, weighted by the document's label.

    w_ij = y_i over all i ≠ j, ties and y_j > y_i included. Source: Wang et al. 2018, section 5.1.
    """

    name: ClassVar[str] = "arp-loss1"
    summary: ClassVar[str] = (
        "A bound of the average relevance position: each relevant document compared with all others"
    )
    formula: ClassVar[str] = "Σ y_i ln(1 + e^{−σ(s_i − s_j)}), all i ≠ j"
    source: ClassVar[str] = "Wang et al. 2018, sec. 5.1"
    choose: ClassVar[str] = (
        "Relevant documents should rank high on average at any depth, and a loose bound is enough"
    )
    PLAN_OPTIONS: ClassVar[Mapping[str, Any]] = {"weighting": BY_ROW, "all_pairs": True}

    def label_values(
        self, labels: Float64Array, query_boundaries: Int64Array, discounts: Float64Array
    ) -> Float64Array:
        """Return the labels themselves, from which the weights of pairs follow."""
        return labels


@dataclass(frozen=True)
class ArpLoss2(PairwiseLoss):
    """ARP-Loss2: pairs weighted by the difference of their labels, w_ij = y_i − y_j.

    Source: Wang et al. 2018, section 5.1.
    """

    name: ClassVar[str] = "arp-loss2"
    summary: ClassVar[str] = "A bound of the average relevance position: pairs weighted by label difference"
    formula: ClassVar[str] = "Σ (y_i − y_j) ln(1 + e^{−σ(s_i − s_j)}), y_i > y_j"
    source: ClassVar[str] = "Wang et al. 2018, sec. 5.1"
    choose: ClassVar[str] = "Relevant documents should rank high on average at any depth"
    PLAN_OPTIONS: ClassVar[Mapping[str, Any]] = {"weighting": BY_LABELS}

    def label_values(
        self, labels: Float64Array, query_boundaries: Int64Array, discounts: Float64Array
    ) -> Float64Array:
        """Return the labels themselves, from which the weights of pairs follow."""
        return labels


@dataclass(frozen=True)
class NdcgLoss1(NdcgWeightedLoss):
    """NDCG-Loss1: every other document is a partner, weighted by the document's own discounted gain.

    w_ij = G_i / D(π_i) over all i ≠ j, ties and y_j > y_i included. Source: Wang et al. 2018, section 5.2.
    """

    name: ClassVar[str] = "ndcg-loss1"
    summary: ClassVar[str] = "A loose bound of the NDCG cost: each relevant document compared with all others"
    formula: ClassVar[str] = "Σ G_i / D(π_i) ln(1 + e^{−σ(s_i − s_j)}), all i ≠ j"
    source: ClassVar[str] = "Wang et al. 2018, sec. 5.2"
    choose: ClassVar[str] = "A loose bound is enough, as a baseline for other losses"
    PLAN_OPTIONS: ClassVar[Mapping[str, Any]] = {"weighting": BY_DISCOUNTED_ROW, "all_pairs": True}


@dataclass(frozen=True)
class NdcgLoss2(NdcgWeightedLoss):
    """NDCG-Loss2: pairs weighted by the discount difference at the distance of the two ranks.

    w_ij = δ_ij (G_i − G_j), δ_ij = 1/D(d) − 1/D(d + 1), d = |π_i − π_j|; potentially a
    tighter bound of the NDCG cost than NDCG-Loss1. Source: Wang et al. 2018, equation 16.
    """

    name: ClassVar[str] = "ndcg-loss2"
    summary: ClassVar[str] = "A bound of the NDCG cost: pairs weighted by the discount of their rank distance"
    formula: ClassVar[str] = "Σ δ_ij (G_i − G_j) ln(1 + e^{−σ(s_i − s_j)}), y_i > y_j"
    source: ClassVar[str] = "Wang et al. 2018, eq. 16"
    choose: ClassVar[str] = (
        "NDCG is the target, and you prefer a proven bound of NDCG to LambdaRank's heuristic"
    )
    PLAN_OPTIONS: ClassVar[Mapping[str, Any]] = {"weighting": BY_DISTANCE, "distance_factor": 1.0}


@dataclass(frozen=True)
class NdcgLoss2PlusPlus(NdcgWeightedLoss):
    """NDCG-Loss2++: LambdaRank and NDCG-Loss2 together, w_ij = (ρ_ij + μ δ_ij)(G_i − G_j).

    Source: Wang et al. 2018, equation 19.
    """

    name: ClassVar[str] = "ndcg-loss2++"
    summary: ClassVar[str] = "LambdaRank plus μ times NDCG-Loss2"
    formula: ClassVar[str] = "Σ (ρ_ij + μ δ_ij)(G_i − G_j) ln(1 + e^{−σ(s_i − s_j)}), y_i > y_j"
    source: ClassVar[str] = "Wang et al. 2018, eq. 19"
    choose: ClassVar[str] = "NDCG is the target: the best loss of its paper on web search data"

    mu: float = parameter(5.0, "Weight μ of the NDCG-Loss2 part.", minimum=0.0, maximum=1000.0)

    def plan_options(self) -> Mapping[str, Any]:
        """Return the plan options: weights by ranks and by rank distance."""
        return {"weighting": BY_DISTANCE, "rank_factor": 1.0, "distance_factor": self.mu}
