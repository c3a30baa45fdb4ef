"""Softmax cross entropy between the distribution from labels and the distribution from scores."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.gains import gains
from core.jit import compiled
from core.losses.base import LabelledQueries, Loss
from core.losses.listwise import ListwiseObjective, list_weights, softmax_by_query, write_zeros
from core.losses.randomness import mix, seed_parameter, uniform
from core.parameters import check, parameter
from core.ranges import over_ranges
from core.types import Float64Array, FloatArray, Int64Array


@compiled
def _cross_entropy(
    start: int,
    stop: int,
    scores: Float64Array,
    sigma: float,
    targets: Float64Array,
    weight: float,
    gradient: FloatArray,
    hessian: FloatArray,
) -> float:
    """Return the weighted −Σ t ln softmax(σs) of one query; its `targets` need not sum to one."""
    highest = sigma * scores[start:stop].max()
    total = 0.0
    for i in range(start, stop):
        total += np.exp(sigma * scores[i] - highest)
    mass = 0.0
    for i in range(stop - start):
        mass += targets[i]
    loss = 0.0
    for i in range(start, stop):
        gap = sigma * scores[i] - highest
        share = np.exp(gap) / total
        gradient[i] = weight * sigma * (mass * share - targets[i - start])
        hessian[i] = weight * sigma * sigma * mass * share * (1.0 - share)
        if targets[i - start] > 0.0:
            loss -= targets[i - start] * (gap - np.log(total))
    return weight * loss


@compiled
def _listnet(
    first: int,
    last: int,
    scores: Float64Array,
    query_boundaries: Int64Array,
    query_weights: Float64Array,
    targets: Float64Array,
    sigma: float,
    gradient: FloatArray,
    hessian: FloatArray,
    value: Float64Array,
) -> None:
    for query in range(first, last):
        start, stop = query_boundaries[query], query_boundaries[query + 1]
        weight = query_weights[query]
        if weight == 0.0:
            write_zeros(query, start, stop, gradient, hessian, value)
        else:
            value[query] = _cross_entropy(
                start, stop, scores, sigma, targets[start:stop], weight, gradient, hessian
            )


@compiled
def _xe_ndcg(
    first: int,
    last: int,
    scores: Float64Array,
    query_boundaries: Int64Array,
    query_weights: Float64Array,
    powers: Float64Array,
    document_weights: Float64Array,
    key: int,
    first_query: int,
    gradient: FloatArray,
    hessian: FloatArray,
    value: Float64Array,
) -> None:
    for query in range(first, last):
        start, stop = query_boundaries[query], query_boundaries[query + 1]
        weight = query_weights[query]
        if weight == 0.0:
            write_zeros(query, start, stop, gradient, hessian, value)
        else:
            query_key = mix(key, first_query + np.int64(query))
            targets = np.empty(stop - start)
            for i in range(stop - start):
                targets[i] = powers[start + i] - uniform(query_key, i)
            targets *= document_weights[start:stop] / targets.sum()
            value[query] = _cross_entropy(start, stop, scores, 1.0, targets, weight, gradient, hessian)


@dataclass(frozen=True)
class ListNet(Loss):
    """ListNet (top one): −Σ t ln softmax(σs), the cross entropy between targets from labels and scores.

    Gradient σ (T softmax − t) with T = Σ t, hessian σ² T softmax (1 − softmax). Targets: `label`, y / Σ y,
    and 0 where no label is above 0; `softmax`, softmax(y); `gain-softmax`, softmax(2^y − 1). Weights of
    documents multiply the targets: inverse propensities undo a bias in the labels (Bruch et al. 2019,
    section 5). On a query of one label the loss pulls its scores together.

    Source: Cao et al. 2007; Bruch et al. 2019, equation 7.

    Example:
        >>> import numpy as np
        >>> ListNet()(np.zeros(2), np.array([1.0, 0.0]), np.array([0, 2])).gradient.tolist()
        [-0.5, 0.5]
    """

    name: ClassVar[str] = "listnet"
    summary: ClassVar[str] = "Softmax cross entropy between label targets and scores"
    formula: ClassVar[str] = "−Σ t ln softmax(σs)"
    source: ClassVar[str] = "Bruch et al. 2019, eq. 7"
    choose: ClassVar[str] = (
        "Documents have weights, such as inverse click propensities, or you need a smooth convex loss"
    )

    sigma: float = parameter(1.0, "Factor σ of the scores.", minimum=0.0, above=True, maximum=1000.0)
    target: str = parameter(
        "label",
        "Targets t: y / Σ y, softmax(y) or softmax(2^y − 1).",
        choices=("label", "softmax", "gain-softmax"),
    )

    def __post_init__(self) -> None:
        check(self)

    def check_labels(self, labels: FloatArray) -> None:
        """Refuse labels without a gain, for the target gain-softmax."""
        if self.target == "gain-softmax":
            gains("exp2", labels, "/loss/target")

    def _bind(self, queries: LabelledQueries) -> ListwiseObjective:
        boundaries, weights = queries.boundaries, list_weights(queries)
        targets = self._targets(queries.labels, boundaries) * queries.each_document_weight()

        def fill(scores: Float64Array, _iteration: int, *outputs: FloatArray) -> None:
            over_ranges(
                _listnet,
                len(weights),
                scores,
                boundaries,
                weights,
                targets,
                self.sigma,
                *outputs,
                work=len(scores),
            )

        return ListwiseObjective(fill, len(weights), len(queries.labels))

    def _targets(self, labels: Float64Array, query_boundaries: Int64Array) -> Float64Array:
        if self.target == "softmax":
            return softmax_by_query(labels, query_boundaries)
        if self.target == "gain-softmax":
            return softmax_by_query(gains("exp2", labels, "/loss/target"), query_boundaries)
        queries = np.repeat(np.arange(len(query_boundaries) - 1), np.diff(query_boundaries))
        sums = np.bincount(queries, labels, minlength=len(query_boundaries) - 1)
        shares: Float64Array = labels / np.where(sums > 0.0, sums, 1.0)[queries]
        return shares


@dataclass(frozen=True)
class XeNdcg(Loss):
    """XE-NDCG: cross entropy with randomised targets, a convex bound of NDCG.

    −Σ p ln softmax(s) with p ∝ 2^y − γ, γ drawn from U(0, 1) for each document in each iteration.
    Gradient softmax − p, hessian softmax (1 − softmax): the exact derivatives, the first of the three
    terms that LightGBM's `rank_xendcg` sums up. Weights of documents multiply p. Source: Bruch 2021.
    """

    name: ClassVar[str] = "xe-ndcg"
    summary: ClassVar[str] = "Softmax cross entropy with randomised gains as targets"
    formula: ClassVar[str] = "−Σ p ln softmax(s), p ∝ 2^y − γ, γ ~ U(0, 1)"
    source: ClassVar[str] = "Bruch 2021; LightGBM rank_xendcg"
    choose: ClassVar[str] = (
        "NDCG is the target and training must be fast: the cost is linear in the number of documents"
    )

    seed: int | None = seed_parameter("Seed of γ")

    def __post_init__(self) -> None:
        check(self)

    @property
    def is_random(self) -> bool:
        """Return True, because γ is drawn."""
        return True

    def check_labels(self, labels: FloatArray) -> None:
        """Refuse labels without a gain."""
        gains("exp2", labels, "/loss")

    def _bind(self, queries: LabelledQueries) -> ListwiseObjective:
        boundaries, weights = queries.boundaries, list_weights(queries)
        powers = gains("exp2", queries.labels, "/loss") + 1.0
        document_weights = queries.each_document_weight()

        def fill(scores: Float64Array, iteration: int, *outputs: FloatArray) -> None:
            key = np.uint64(mix(np.uint64(self.seed or 0), iteration))
            over_ranges(
                _xe_ndcg,
                len(weights),
                scores,
                boundaries,
                weights,
                powers,
                document_weights,
                key,
                queries.first_query,
                *outputs,
                work=len(scores),
            )

        return ListwiseObjective(fill, len(weights), len(queries.labels))
