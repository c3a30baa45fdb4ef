"""The ARP losses of the LambdaLoss framework: bounds of the average relevance position."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from core.losses.options import PairwiseLoss
from core.losses.plan import BY_LABELS, BY_ROW
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

    def plan_options(self) -> Mapping[str, Any]:
        """Return the plan options: all pairs, weighted by row."""
        return {"weighting": BY_ROW, "all_pairs": True}

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

    def plan_options(self) -> Mapping[str, Any]:
        """Return the plan options: weights by label difference."""
        return {"weighting": BY_LABELS}

    def label_values(
        self, labels: Float64Array, query_boundaries: Int64Array, discounts: Float64Array
    ) -> Float64Array:
        """Return the labels themselves, from which the weights of pairs follow."""
        return labels
