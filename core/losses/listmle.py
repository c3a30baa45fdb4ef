"""ListMLE: the likelihood of the ideal ranking under the Plackett–Luce model of the scores."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from core.gains import Gain, gain_parameter, gains
from core.jit import compiled, nonallocating
from core.losses.base import LabelledQueries, Loss
from core.losses.listwise import ListwiseObjective, list_weights, write_zeros
from core.losses.randomness import mix, seed_parameter, shuffle
from core.losses.ranks import descending_order, label_levels
from core.parameters import check, parameter
from core.ranges import over_ranges
from core.types import Float64Array, FloatArray, Int64Array


@nonallocating
def _draw_ties(rows: Int64Array, ordered_labels: Float64Array, key: int) -> None:
    """Shuffle the rows of equal label, which are contiguous."""
    begin = 0
    for end in range(1, len(rows) + 1):
        if end == len(rows) or ordered_labels[end] != ordered_labels[begin]:
            shuffle(rows[begin:end], mix(key, begin))
            begin = end


@compiled
def _likelihood(
    rows: Int64Array,
    scores: Float64Array,
    betas: Float64Array,
    document_weights: Float64Array,
    weight: float,
    log_tails: Float64Array,
    gradient: FloatArray,
    hessian: FloatArray,
) -> float:
    """Return the weight times Σ_{t<n} β_t [ln Z_t − s_t], Z_t = Σ_{k>=t} e^{s_k}, in logarithms.

    A_t = Σ_{u<=t} β_u / Z_u and B_t = Σ_{u<=t} β_u / Z_u² give gradient e^{s_t} A_t − β_t and hessian
    e^{s_t} A_t − e^{2 s_t} B_t. A is kept as a multiple of 1/Z, and B of 1/Z², for the smallest Z so far.
    """
    n = len(rows)
    log_tails[n - 1] = scores[rows[n - 1]]
    for t in range(n - 2, -1, -1):
        s = scores[rows[t]]
        high, low = max(s, log_tails[t + 1]), min(s, log_tails[t + 1])
        log_tails[t] = high + np.log1p(np.exp(low - high))
    loss = 0.0
    a, b = 0.0, 0.0
    for t in range(n):
        s = scores[rows[t]]
        beta = betas[t] * document_weights[rows[t]]
        scale = log_tails[min(t, n - 2)]
        if t < n - 1:
            if t > 0:
                shrink = np.exp(scale - log_tails[t - 1])
                a *= shrink
                b *= shrink * shrink
            a += beta
            b += beta
            loss += beta * (scale - s)
        share = np.exp(s - scale)
        weight_of_term = beta if t < n - 1 else 0.0
        gradient[rows[t]] = weight * (share * a - weight_of_term)
        hessian[rows[t]] = weight * max(share * a - share * share * b, 0.0)
    return weight * loss


@compiled
def _listmle(
    first: int,
    last: int,
    scores: Float64Array,
    query_boundaries: Int64Array,
    query_weights: Float64Array,
    document_weights: Float64Array,
    order: Int64Array,
    ordered_labels: Float64Array,
    betas: Float64Array,
    draws_ties: bool,
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
            rows = order[start:stop]
            if draws_ties:
                rows = rows.copy()
                _draw_ties(rows, ordered_labels[start:stop], mix(key, first_query + np.int64(query)))
            log_tails = np.empty(stop - start)
            value[query] = _likelihood(
                rows, scores, betas[start:stop], document_weights, weight, log_tails, gradient, hessian
            )


@dataclass(frozen=True)
class ListMle(Loss):
    """ListMLE: −ln P(ideal ranking), Σ_{t<n} [ln Σ_{k>=t} e^{s_k} − s_t], documents by descending label.

    Documents of equal label are in an order drawn in each iteration, or in input order. The value is for the
    drawn order; training minimises its mean over orders. A document's weight multiplies term t, where t is
    its position. Zero on a query of one label, where any order is ideal. Source: Xia et al. 2008; Chen et al.
    2009, equation 3.
    """

    name: ClassVar[str] = "listmle"
    summary: ClassVar[str] = "Likelihood of the ideal ranking"
    formula: ClassVar[str] = "Σ_{t<n} [ln Σ_{k≥t} e^{s_k} − s_t], documents by label"
    source: ClassVar[str] = "Chen et al. 2009, eq. 3"
    choose: ClassVar[str] = "The whole order matters, and labels have many grades or few ties"

    ties: str = parameter(
        "random",
        "Order of documents with equal labels: drawn in each iteration, or as in the data.",
        choices=("random", "input"),
        earlier="input",
    )
    seed: int | None = seed_parameter("Seed of the order of ties")

    def __post_init__(self) -> None:
        check(self)

    @property
    def is_random(self) -> bool:
        """Return whether the order of ties is drawn."""
        return self.ties == "random"

    def ineffective_hyperparameters(self) -> Mapping[str, str]:
        """Return the seed where no order is drawn."""
        return {} if self.is_random else {"seed": "ties is random"}

    def _bind(self, queries: LabelledQueries) -> ListwiseObjective:
        labels, boundaries = queries.labels, queries.boundaries
        weights = list_weights(queries)
        weights[label_levels(labels, boundaries)[1] < 2] = 0.0
        order = descending_order(labels, boundaries)
        ordered = labels[order]
        betas = self.position_weights(ordered, boundaries)
        document_weights = queries.each_document_weight()

        def fill(scores: Float64Array, iteration: int, *outputs: FloatArray) -> None:
            key = np.uint64(mix(np.uint64(self.seed or 0), iteration))
            over_ranges(
                _listmle,
                len(weights),
                scores,
                boundaries,
                weights,
                document_weights,
                order,
                ordered,
                betas,
                self.is_random,
                key,
                queries.first_query,
                *outputs,
                work=len(scores),
            )

        return ListwiseObjective(fill, len(weights), len(labels))

    def position_weights(self, ordered_labels: Float64Array, query_boundaries: Int64Array) -> Float64Array:
        """Return β of each position of the ideal ranking."""
        return np.ones(len(ordered_labels))


@dataclass(frozen=True)
class WeightedListMle(ListMle):
    """ListMLE weighted so that it bounds 1 − NDCG: g(y_t) / log2(1 + t) on term t.

    Its bound has the factor 1 / (maxDCG ln 2). Source: Chen et al. 2009, section 4.
    """

    name: ClassVar[str] = "w-listmle"
    summary: ClassVar[str] = "ListMLE with the weights of the essential loss, a bound of 1 − NDCG"
    formula: ClassVar[str] = "Σ_{t<n} g(y_t) / log2(1 + t) [ln Σ_{k≥t} e^{s_k} − s_t], documents by label"
    source: ClassVar[str] = "Chen et al. 2009, sec. 4"
    choose: ClassVar[str] = "NDCG is the target, and a listwise loss should emphasise the top of the list"

    gain: Gain = gain_parameter()

    def check_labels(self, labels: FloatArray) -> None:
        """Refuse labels without a gain."""
        gains(self.gain, labels)

    def position_weights(self, ordered_labels: Float64Array, query_boundaries: Int64Array) -> Float64Array:
        """Return g(y_t) / log2(1 + t) of each position t."""
        sizes = np.diff(query_boundaries)
        positions = np.arange(len(ordered_labels)) - np.repeat(query_boundaries[:-1], sizes) + 1.0
        weights: Float64Array = gains(self.gain, ordered_labels) / np.log2(1.0 + positions)
        return weights
