"""LambdaRank: pairs weighted by the change of a target metric when their ranks are swapped."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from core.errors import InvalidInput
from core.gains import gains
from core.losses.options import NdcgWeightedLoss
from core.losses.plan import BY_RANKS, ERR_TARGET, MAP_TARGET, MRR_TARGET
from core.parameters import parameter
from core.types import Float64Array, FloatArray, Int64Array

_WEIGHTINGS = {
    "ndcg": BY_RANKS,
    "map": MAP_TARGET,
    "mrr": MRR_TARGET,
    "err": ERR_TARGET,
    "rbp": BY_RANKS,
}
_TARGETS_BY_PARAMETER = {
    "gain": ("ndcg", "err", "rbp"),
    "discount": ("ndcg",),
    "ideal_cutoff": ("ndcg",),
    "max_label": ("err", "rbp"),
    "persistence": ("rbp",),
}


@dataclass(frozen=True)
class LambdaRank(NdcgWeightedLoss):
    """LambdaRank: w_ij = |ΔZ_ij|, the change of the target metric Z when the two documents swap ranks.

    Targets: `ndcg`, ρ_ij (G_i − G_j); `map`, average precision with relevant meaning label > 0; `mrr`,
    reciprocal rank; `err`, expected reciprocal rank with R = g(y) / (1 + g(max_label)); `rbp`, rank-biased
    precision (1 − p) Σ p^{r − 1} g(y) / g(max_label), while the metric `rbp` counts relevant documents as 1.
    `gain` applies to ndcg, err and rbp, `discount` to ndcg.

    Source: Burges et al. 2006, equation 9, with the cross-entropy cost of RankNet; Marcuzzi et al. 2023,
    equation 1; the definitions of ERR (Chapelle et al. 2009) and RBP (Moffat and Zobel 2008).

    Example:
        Table 2 of Marcuzzi et al. 2023, where λ is the negative gradient. The paper prints 0.397, a sum of
        rounded terms, in place of 0.398:

        >>> import numpy as np
        >>> scores, labels = np.array([0.02, 0.01, 0.0]), np.array([4.0, 0.0, 1.0])
        >>> terms = LambdaRank()(scores, labels, np.array([0, 3]))
        >>> np.round(-terms.gradient, 3).tolist()
        [0.398, -0.18, -0.217]
    """

    name: ClassVar[str] = "lambdarank"
    summary: ClassVar[str] = "Pairs weighted by the change of a target metric when they swap ranks"
    formula: ClassVar[str] = (
        "Σ |ΔZ_ij| ln(1 + e^{−σ(s_i − s_j)}), y_i > y_j; for ndcg |ΔZ_ij| = ρ_ij (G_i − G_j)"
    )
    source: ClassVar[str] = "Burges et al. 2006, eq. 9; Marcuzzi et al. 2023, eq. 1"
    choose: ClassVar[str] = (
        "A metric of the top ranks is the target: the standard choice, and the baseline for other losses"
    )

    target: str = parameter(
        "ndcg",
        "Metric Z whose change weights a pair. The target rbp uses gains, while the metric rbp is binary.",
        choices=tuple(_WEIGHTINGS),
    )
    max_label: int = parameter(4, "Largest label, for the targets err and rbp.", minimum=1, maximum=1000)
    persistence: float = parameter(
        0.8, "Persistence p of the target rbp.", minimum=0.0, above=True, maximum=0.9999
    )

    def plan_options(self) -> Mapping[str, Any]:
        """Return the plan options: weights by the change of the target metric."""
        return {"weighting": _WEIGHTINGS[self.target], "rank_factor": 1.0}

    def ineffective_hyperparameters(self) -> Mapping[str, str]:
        """Return the hyperparameters without effect, those of other targets included."""
        ineffective = dict(super().ineffective_hyperparameters())
        for name, targets in _TARGETS_BY_PARAMETER.items():
            if self.target not in targets:
                ineffective[name] = f"target is {' or '.join(targets)}"
        return ineffective

    def check_labels(self, labels: FloatArray) -> None:
        """Refuse labels without a gain or above `max_label`, for the targets that use them."""
        if self.target in ("map", "mrr"):
            return
        super().check_labels(labels)
        if self.target in ("err", "rbp"):
            if labels.max(initial=0.0) > self.max_label:
                raise InvalidInput.at(
                    "/loss/max_label", f"is {self.max_label}, the data has label {labels.max():g}"
                )
            super().check_labels(np.array([float(self.max_label)]))

    def rank_discounts(self, n: int) -> Float64Array:
        """Return the target's weight of each rank."""
        if self.target == "rbp":
            return np.asarray((1.0 - self.persistence) * self.persistence ** np.arange(n), np.float64)
        return super().rank_discounts(n)

    def label_values(
        self, labels: Float64Array, query_boundaries: Int64Array, discounts: Float64Array
    ) -> Float64Array:
        """Return the factor of the pair weights that depends on labels alone."""
        if self.target == "ndcg":
            return super().label_values(labels, query_boundaries, discounts)
        if self.target in ("map", "mrr"):
            return self._relevance(labels, query_boundaries)
        self.check_labels(labels)
        largest = gains(self.gain, np.array([float(self.max_label)]))[0]
        document_gains = gains(self.gain, labels)
        return np.asarray(document_gains / (1.0 + largest if self.target == "err" else largest))

    def _relevance(self, labels: Float64Array, query_boundaries: Int64Array) -> Float64Array:
        relevant = (labels > 0.0).astype(np.float64)
        if self.target == "mrr":
            return relevant
        queries = np.repeat(np.arange(len(query_boundaries) - 1), np.diff(query_boundaries))
        counts = np.bincount(queries, relevant, minlength=len(query_boundaries) - 1)
        shares: Float64Array = relevant / np.maximum(counts, 1.0)[queries]
        return shares
