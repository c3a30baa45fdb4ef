"""Base of the pairwise losses: hyperparameters and the plan built from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from core.errors import InvalidInput
from core.gains import DISCOUNTS, Gain, distance_weights, gain_parameter, gains, inverse_discounts
from core.losses.base import LabelledQueries, Loss
from core.losses.pairwise import PairwiseObjective
from core.losses.plan import BY_LABELS, BY_ROW, LOGISTIC, UNTRUNCATED, pairwise_plan
from core.losses.randomness import seed_parameter
from core.losses.ranks import ideal_dcg
from core.losses.selection import BY_SET, PAIR_SELECTIONS, RANDOM_SELECTIONS
from core.parameters import check, parameter
from core.types import Float64Array, FloatArray, Int64Array


@dataclass(frozen=True)
class PairwiseLoss(Loss):
    """Σ w_ij φ(s_i − s_j) over pairs with y_i > y_j, or all i ≠ j; w is frozen at the current ranks.

    With a truncation level τ the pairs with min(π_i, π_j) <= τ are kept. A pair selection adds documents to
    the top τ, so that their pairs are also kept (Marcuzzi et al. 2023, section 4). With the soft assignment a
    pair's weight is its mean over rankings of the scores with normal noise (Wang et al. 2018, equation 9), or
    over rankings of the Plackett–Luce model (section 4.1.2).

    A document's weight multiplies the pairs in which it is i, the document that should rank higher: with
    inverse propensities of clicks the sum is unbiased (Joachims et al. 2017, section 5).

    `normalization="lightgbm"` divides each weight by 0.01 + |s_i − s_j|, unless all scores of the query are
    equal. As LightGBM, it also multiplies the query by log2(1 + S) / S, where S is twice the sum of the
    pairs' gradients. `normalization="score-gap"` is the division alone. The LightGBM of Wang et al. 2018
    always divided, with σ = 2 and a hessian of twice the second derivative: `sigma=2, hessian_factor=2`.
    """

    # Options of the plan that do not depend on hyperparameters.
    PLAN_OPTIONS: ClassVar[Mapping[str, Any]] = {}

    sigma: float = parameter(
        1.0, "Slope σ of the pair's loss.", minimum=0.0, above=True, maximum=1000.0, aliases="sigmoid"
    )
    truncation_level: int | None = parameter(
        None,
        "Keep pairs with a document in the top τ; all pairs when null.",
        minimum=1,
        maximum=1_000_000,
        aliases="lambdarank_truncation_level",
    )
    pair_selection: str | None = parameter(
        None,
        "Lambda-eX: also keep pairs with documents that are missing in the top τ; needs truncation_level.",
        choices=tuple(name for name in PAIR_SELECTIONS if name is not None),
    )
    normalization: str = parameter(
        "none",
        "Normalization: `score-gap` divides pairs by the difference of their scores; `lightgbm` also scales"
        " queries by their gradients.",
        choices=("none", "lightgbm", "score-gap"),
        aliases="lambdarank_norm",
    )
    hessian_factor: float = parameter(
        1.0,
        "Factor of the second derivative; 2 with sigma 2 for experiments of 2018.",
        minimum=0.0,
        above=True,
        maximum=1000.0,
    )
    assignment: str = parameter(
        "hard",
        "Compute weights from the current ranks, or average them over noisy rankings.",
        choices=("hard", "soft"),
    )
    samples: int = parameter(8, "Number of rankings drawn for the soft assignment.", minimum=1, maximum=1000)
    noise: float = parameter(
        1.0,
        "Scale of the noise on scores in the soft assignment; for gaussian, the standard deviation.",
        minimum=0.0,
        maximum=1e6,
    )
    seed: int | None = seed_parameter("Seed of random selections and rankings")
    missed_labels: str = parameter(
        "multiset",
        "Lambda-eX, missing labels: for multiset, those that the top τ has less often than the ideal top τ,"
        " as in the authors' code; for set, all of the ideal top τ, as in the paper.",
        choices=("multiset", "set"),
    )
    ranking_model: str = parameter(
        "gaussian",
        "Rankings of the soft assignment: by scores with normal noise, or drawn from the Plackett–Luce"
        " model of scores divided by `noise`.",
        choices=("gaussian", "plackett-luce"),
    )

    def __post_init__(self) -> None:
        check(self)
        if self.pair_selection is not None and self.truncation_level is None:
            raise InvalidInput.at("/pair_selection", "needs truncation_level")

    @property
    def is_random(self) -> bool:
        """Return whether pairs are selected at random, or weights are averaged over noisy rankings."""
        return self._selects_randomly or (self._averages_rankings and self.noise > 0.0)

    @property
    def _selects_randomly(self) -> bool:
        return PAIR_SELECTIONS[self.pair_selection] in RANDOM_SELECTIONS

    @property
    def _selection(self) -> int:
        by_set = self.pair_selection is not None and self.missed_labels == "set"
        return PAIR_SELECTIONS[self.pair_selection] + (BY_SET if by_set else 0)

    @property
    def _averages_rankings(self) -> bool:
        return self.assignment == "soft" and self._depends_on_ranks

    @property
    def _depends_on_ranks(self) -> bool:
        weighting = self.plan_options().get("weighting", BY_ROW)
        return self.truncation_level is not None or weighting not in (BY_ROW, BY_LABELS)

    def ineffective_hyperparameters(self) -> Mapping[str, str]:
        """Return the hyperparameters of selection, soft assignment and random choices without effect."""
        ineffective: dict[str, str] = {}
        if not self._depends_on_ranks:
            drawn = ("assignment", "samples", "noise", "ranking_model")
            ineffective |= dict.fromkeys(drawn, "truncation_level is set")
        elif self.noise == 0.0 and not self._selects_randomly:
            ineffective |= dict.fromkeys(("assignment", "samples"), "noise is above 0")
        if self.noise == 0.0:
            ineffective.setdefault("ranking_model", "noise is above 0")
        if self.assignment == "hard":
            ineffective |= dict.fromkeys(("samples", "noise", "ranking_model"), "assignment is soft")
        if self.pair_selection is None:
            ineffective["missed_labels"] = "pair_selection is set"
        if not self.is_random:
            ineffective["seed"] = "pair_selection is random or all-random, or assignment is soft"
        return ineffective

    def _bind(self, queries: LabelledQueries) -> PairwiseObjective:
        labels, boundaries = queries.labels, queries.boundaries
        discounts = self.rank_discounts(int(np.diff(boundaries).max(initial=0)) + 1)
        plan_options: dict[str, Any] = {
            "all_pairs": False,
            "rank_factor": 0.0,
            "distance_factor": 0.0,
            "link": LOGISTIC,
            "weighting": BY_ROW,
            **self.plan_options(),
        }
        plan = pairwise_plan(
            labels,
            boundaries,
            queries.query_weights,
            document_weights=queries.document_weights,
            label_values=np.ascontiguousarray(self.label_values(labels, boundaries, discounts), np.float64),
            discounts=discounts,
            distance_weights=distance_weights(discounts),
            sigma=self.sigma,
            selection=self._selection,
            truncation_level=UNTRUNCATED if self.truncation_level is None else self.truncation_level,
            by_score_gap=self.normalization in ("lightgbm", "score-gap"),
            by_strength=self.normalization == "lightgbm",
            hessian_factor=self.hessian_factor,
            samples=self.samples if self.assignment == "soft" else 0,
            noise=self.noise,
            by_plackett_luce=self.ranking_model == "plackett-luce",
            first_query=queries.first_query,
            **plan_options,
        )
        return PairwiseObjective(plan, self.seed or 0)

    def plan_options(self) -> Mapping[str, Any]:
        """Return the options of the pairwise plan that differ for this loss, such as weighting and link."""
        return self.PLAN_OPTIONS

    def rank_discounts(self, n: int) -> Float64Array:
        """Return 1/D(r) for r = 1..n."""
        return inverse_discounts("log2", n)

    def label_values(
        self, labels: Float64Array, query_boundaries: Int64Array, discounts: Float64Array
    ) -> Float64Array:
        """Return v of each document, the factor of pair weights that depends on labels alone."""
        return np.ones(len(labels))


@dataclass(frozen=True)
class NdcgWeightedLoss(PairwiseLoss):
    """A pairwise loss weighted by normalised gains G = g(y) / maxDCG.

    maxDCG counts the top `ideal_cutoff` documents; by default the top τ, or all without truncation.
    """

    gain: Gain = gain_parameter(aliases="label_gain")
    discount: str = parameter("log2", "Discount D(r): log2(1 + r), or r itself.", choices=tuple(DISCOUNTS))
    ideal_cutoff: int | None = parameter(
        None, "Cutoff of maxDCG; truncation_level when null.", minimum=1, maximum=1_000_000
    )

    def check_labels(self, labels: FloatArray) -> None:
        """Refuse labels without a gain."""
        gains(self.gain, labels)

    def rank_discounts(self, n: int) -> Float64Array:
        """Return 1/D(r) for r = 1..n."""
        return inverse_discounts(self.discount, n)

    def label_values(
        self, labels: Float64Array, query_boundaries: Int64Array, discounts: Float64Array
    ) -> Float64Array:
        """Return G of each document; 0 in a query without gain."""
        document_gains = gains(self.gain, labels)
        cutoff = self.truncation_level if self.ideal_cutoff is None else self.ideal_cutoff
        ideal = ideal_dcg(document_gains, query_boundaries, discounts, cutoff)
        inverse = np.divide(1.0, ideal, out=np.zeros_like(ideal), where=ideal > 0.0)
        values: Float64Array = document_gains * np.repeat(inverse, np.diff(query_boundaries))
        return values
