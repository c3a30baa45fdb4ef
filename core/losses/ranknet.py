"""Pairwise classification losses, whose weights do not depend on ranks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from core.gains import Gain, gain_parameter, gains
from core.losses.options import PairwiseLoss
from core.losses.plan import EXPONENTIAL, HINGE
from core.losses.ranks import descending_order
from core.types import Float64Array, FloatArray, Int64Array


@dataclass(frozen=True)
class RankNet(PairwiseLoss):
    """RankNet: the cross entropy of each pair's order, w_ij = 1.

    Source: Burges et al. 2005; Burges et al. 2006, equation 8.
    """

    name: ClassVar[str] = "ranknet"
    summary: ClassVar[str] = "Cross entropy of the order of each pair, with equal weights"
    formula: ClassVar[str] = "Σ ln(1 + e^{−σ(s_i − s_j)}), y_i > y_j"
    source: ClassVar[str] = "Burges et al. 2006, eq. 8"
    choose: ClassVar[str] = "All ranks matter equally, or judgments are preferences between two documents"


@dataclass(frozen=True)
class EssentialWeightedLoss(PairwiseLoss):
    """A pairwise loss with the weights of the essential loss: w_ij = g(y_i) / log2(2 + #{k: y_k > y_i}).

    Divided by maxDCG, its sum bounds 1 − NDCG, where φ(z) ≥ 1 for z ≤ 0. Source: Chen et al. 2009, section 4.
    """

    gain: Gain = gain_parameter()

    def check_labels(self, labels: FloatArray) -> None:
        """Refuse labels without a gain."""
        gains(self.gain, labels)

    def label_values(
        self, labels: Float64Array, query_boundaries: Int64Array, discounts: Float64Array
    ) -> Float64Array:
        """Return g(y) divided by the discount of the document's best rank in an ideal ranking."""
        order = descending_order(labels, query_boundaries)
        positions = np.arange(len(labels))
        starts = np.repeat(query_boundaries[:-1], np.diff(query_boundaries))
        ordered = labels[order]
        is_tied = np.zeros(len(labels), bool)
        is_tied[1:] = (ordered[1:] == ordered[:-1]) & (positions[1:] > starts[1:])
        larger = np.maximum.accumulate(np.where(is_tied, 0, positions)) - starts
        values = np.empty(len(labels))
        values[order] = gains(self.gain, ordered) / np.log2(2.0 + larger)
        return values


@dataclass(frozen=True)
class WeightedRankNet(EssentialWeightedLoss):
    """RankNet weighted so that it bounds 1 − NDCG: w_ij = g(y_i) / log2(2 + #{k: y_k > y_i}).

    Its bound has the factor 1 / (maxDCG ln 2), because φ(0) = ln 2. Source: Chen et al. 2009, section 4.
    """

    name: ClassVar[str] = "w-ranknet"
    summary: ClassVar[str] = "RankNet with the weights of the essential loss, a bound of 1 − NDCG"
    formula: ClassVar[str] = "Σ g(y_i) / log2(2 + #{k: y_k > y_i}) ln(1 + e^{−σ(s_i − s_j)}), y_i > y_j"
    source: ClassVar[str] = "Chen et al. 2009, sec. 4"
    choose: ClassVar[str] = "NDCG is the target, and weights should not depend on the current ranks"


@dataclass(frozen=True)
class RankSvm(PairwiseLoss):
    """Ranking SVM: the hinge of each pair, max(0, 1 − σ(s_i − s_j)).

    The curvature of the hinge is zero almost everywhere. The hessian is σ² w on the active pairs instead: a
    Newton step on one pair then moves each document by the margin 1/σ.

    Source: Chen et al. 2009, equation 2; Herbrich et al. 2000.
    """

    name: ClassVar[str] = "ranksvm"
    summary: ClassVar[str] = "Hinge of each pair's score difference"
    formula: ClassVar[str] = "Σ max(0, 1 − σ(s_i − s_j)), y_i > y_j"
    source: ClassVar[str] = "Chen et al. 2009, eq. 2"
    choose: ClassVar[str] = "Pairs that are already separated by a margin should have no gradient"
    PLAN_OPTIONS: ClassVar[Mapping[str, Any]] = {"link": HINGE}


@dataclass(frozen=True)
class RankBoost(PairwiseLoss):
    """RankBoost: the exponential of each pair, e^{−σ(s_i − s_j)}.

    Beyond σ(s_i − s_j) = −30 it continues as its tangent, with the curvature of the point −30, so that values
    stay finite. Source: Chen et al. 2009, equation 2; Freund et al. 2003.
    """

    name: ClassVar[str] = "rankboost"
    summary: ClassVar[str] = "Exponential of each pair's score difference"
    formula: ClassVar[str] = "Σ e^{−σ(s_i − s_j)}, y_i > y_j"
    source: ClassVar[str] = "Chen et al. 2009, eq. 2"
    choose: ClassVar[str] = (
        "Judgments have no errors: every wrong pair matters, and mislabelled pairs would have the largest"
        " weights"
    )
    PLAN_OPTIONS: ClassVar[Mapping[str, Any]] = {"link": EXPONENTIAL}


@dataclass(frozen=True)
class WeightedRankSvm(EssentialWeightedLoss):
    """Ranking SVM weighted so that it bounds 1 − NDCG: hinges of pairs with w_ij of the essential loss.

    Its hessian is that of `ranksvm`. Source: Chen et al. 2009, section 4.
    """

    name: ClassVar[str] = "w-ranksvm"
    summary: ClassVar[str] = "Ranking SVM with the weights of the essential loss, a bound of 1 − NDCG"
    formula: ClassVar[str] = "Σ g(y_i) / log2(2 + #{k: y_k > y_i}) max(0, 1 − σ(s_i − s_j)), y_i > y_j"
    source: ClassVar[str] = "Chen et al. 2009, sec. 4"
    choose: ClassVar[str] = (
        "NDCG is the target, weights should not depend on the current ranks, and separated pairs should"
        " have no gradient"
    )
    PLAN_OPTIONS: ClassVar[Mapping[str, Any]] = {"link": HINGE}


@dataclass(frozen=True)
class WeightedRankBoost(EssentialWeightedLoss):
    """RankBoost weighted so that it bounds 1 − NDCG: exponentials of pairs with w_ij of the essential loss.

    The loss continues as its tangent where `rankboost` does. Source: Chen et al. 2009, section 4.
    """

    name: ClassVar[str] = "w-rankboost"
    summary: ClassVar[str] = "RankBoost with the weights of the essential loss, a bound of 1 − NDCG"
    formula: ClassVar[str] = "Σ g(y_i) / log2(2 + #{k: y_k > y_i}) e^{−σ(s_i − s_j)}, y_i > y_j"
    source: ClassVar[str] = "Chen et al. 2009, sec. 4"
    choose: ClassVar[str] = (
        "NDCG is the target, and judgments have no errors: every wrong pair at the top matters"
    )
    PLAN_OPTIONS: ClassVar[Mapping[str, Any]] = {"link": EXPONENTIAL}
