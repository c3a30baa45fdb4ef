"""Losses written from the papers' equations, values only, for one query at a time.

Nothing here is shared with the product: ranks, weights, selections and target metrics are computed by plain,
slow code; a target metric's change is the metric itself before and after the swap. Derivatives are computed
by the complex step (gradient) and by 4th-order central differences of it (hessian). The ranks are frozen at
the scores of the derivative.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from core.types import Float64Array

Array = np.ndarray[Any, Any]
Value = Callable[[Array], Any]  # of the scores of one query, or of several rows of them
Options = dict[str, Any]

POINTWISE = {"mse"}
HINGES = {"ranksvm", "w-ranksvm"}
EXPONENTIALS = {"rankboost", "w-rankboost"}
LISTWISE = {"listnet", "listmle", "w-listmle", "xe-ndcg"}
# The losses that are not zero on queries of one label.
NONZERO_ON_ONE_LABEL = {"mse", "arp-loss1", "ndcg-loss1", "listnet", "xe-ndcg"}


def ranks_of(scores: Any) -> list[int]:
    """Return the 1-based rank of each document, ties in input order."""
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
    ranks = [0] * len(scores)
    for position, document in enumerate(order):
        ranks[document] = position + 1
    return ranks


def gain_of(label: float, options: Options) -> float:
    """Return the gain of a label: 2^y − 1, y, or the entry of the given list."""
    gain = options.get("gain", "exp2")
    if gain == "exp2":
        return float(2**label - 1)
    return float(label) if gain == "linear" else float(gain[int(label)])


def discount_of(rank: int, options: Options) -> float:
    """Return D(r) = log2(1 + r), or r."""
    return rank if options.get("discount") == "reciprocal" else math.log2(1 + rank)


def max_dcg(labels: Float64Array, options: Options) -> float:
    """Return the DCG of the ideal ranking's top `ideal_cutoff`, or of its top τ without that option."""
    cutoff = options.get("ideal_cutoff", options.get("truncation_level"))
    ideal = sorted((gain_of(y, options) for y in labels), reverse=True)[:cutoff]
    return math.fsum(g / discount_of(r, options) for r, g in enumerate(ideal, start=1))


def average_precision(by_rank: Sequence[float], options: Options) -> float:
    """Return AP, where documents with a label above 0 are relevant."""
    found = [r for r, y in enumerate(by_rank, start=1) if y > 0]
    return math.fsum((n / r) for n, r in enumerate(found, start=1)) / max(len(found), 1)


def reciprocal_rank(by_rank: Sequence[float], options: Options) -> float:
    """Return one over the rank of the first relevant document."""
    return next((1 / r for r, y in enumerate(by_rank, start=1) if y > 0), 0.0)


def expected_reciprocal_rank(by_rank: Sequence[float], options: Options) -> float:
    """Return ERR, Chapelle et al. 2009, with R = (2^y − 1) / 2^max."""
    reach, total = 1.0, 0.0
    for r, y in enumerate(by_rank, start=1):
        satisfied = gain_of(y, options) / (1 + gain_of(options.get("max_label", 4), options))
        total += reach * satisfied / r
        reach *= 1 - satisfied
    return total


def rank_biased_precision(by_rank: Sequence[float], options: Options) -> float:
    """Return RBP, Moffat and Zobel 2008, with graded gains in 0..1."""
    p = options.get("persistence", 0.8)
    top = gain_of(options.get("max_label", 4), options)
    return math.fsum(
        (1 - p) * p ** (r - 1) * gain_of(y, options) / top for r, y in enumerate(by_rank, start=1)
    )


TARGETS: dict[str, Callable[[Sequence[float], Options], float]] = {
    "map": average_precision,
    "mrr": reciprocal_rank,
    "err": expected_reciprocal_rank,
    "rbp": rank_biased_precision,
}


def change_by_swap(labels: Float64Array, ranks: list[int], i: int, j: int, options: Options) -> float:
    """Return |ΔZ|, the absolute change of the target metric if documents i and j swap ranks."""
    metric = TARGETS[options["target"]]
    swapped = list(ranks)
    swapped[i], swapped[j] = swapped[j], swapped[i]

    def by_rank(of: list[int]) -> list[float]:
        return [float(labels[of.index(r)]) for r in range(1, len(of) + 1)]

    return abs(metric(by_rank(swapped), options) - metric(by_rank(ranks), options))


def selected_documents(labels: Float64Array, ranks: list[int], options: Options) -> list[set[int]]:
    """Return the sets X that the pair selection allows: one, or for random strategies every possible one."""
    n, k = len(labels), options.get("truncation_level")
    top = {i for i in range(n) if k is None or ranks[i] <= k}
    strategy = options.get("pair_selection")
    if strategy is None or len(top) == n:
        return [top]
    ideal = sorted(labels, reverse=True)[:k]
    deficit = Counter(ideal) - Counter(float(labels[i]) for i in top)
    missed = [
        i
        for i in sorted(range(n), key=lambda i: ranks[i])
        if i not in top and labels[i] > 0 and deficit[labels[i]] > 0
    ]
    by_set = options.get("missed_labels") == "set"
    if by_set:
        below = sorted(set(range(n)) - top, key=lambda i: ranks[i])
        missed = [i for i in below if labels[i] > 0 and labels[i] in ideal]
    largest = max(labels)
    p = min((y for y in labels if 0 < y < largest), default=largest)
    q = min((y for y in ideal if 0 < y < largest), default=largest)
    if strategy == "all" or (strategy.startswith("all-") and p != q):
        return [top | set(missed)]
    if by_set:
        false = sum(labels[i] not in ideal for i in top)
        return _as_many_as_false(top, missed, false, strategy.endswith("static"))
    if strategy.endswith("static"):
        chosen: set[int] = set()
        for i in missed:
            if deficit[labels[i]] > 0:
                deficit[labels[i]] -= 1
                chosen.add(i)
        return [top | chosen]
    sets = [top]
    for label, short in deficit.items():
        if label > 0:
            candidates = [i for i in missed if labels[i] == label]
            sets = [s | set(c) for s in sets for c in combinations(candidates, min(short, len(candidates)))]
    return sets


def _as_many_as_false(top: set[int], missed: list[int], false: int, by_rank: bool) -> list[set[int]]:
    """Return the top k with `false` missed documents, as the paper prints it: the best ranked, or any."""
    if by_rank:
        return [top | set(missed[:false])]
    return [top | set(chosen) for chosen in combinations(missed, min(false, len(missed)))]


def weights_of(
    name: str, frozen: Float64Array, labels: Float64Array, selected: set[int], options: Options
) -> list[tuple[int, int, float]]:
    """Return the pairs (i, j) with their weights at the ranks of the scores `frozen`."""
    n = len(labels)
    ranks = ranks_of(frozen)
    ideal = max_dcg(labels, options)
    normal = [gain_of(y, options) / ideal if ideal > 0 else 0.0 for y in labels]
    inverse = [1 / discount_of(r, options) for r in ranks]

    def delta(i: int, j: int) -> float:
        d = abs(ranks[i] - ranks[j])
        return 1 / discount_of(d, options) - 1 / discount_of(d + 1, options)

    def essential(i: int, _j: int) -> float:
        return gain_of(labels[i], options) / math.log2(2 + sum(y > labels[i] for y in labels))

    by_labels: dict[str, Callable[[int, int], float]] = {
        "ranknet": lambda _i, _j: 1.0,
        "ranksvm": lambda _i, _j: 1.0,
        "rankboost": lambda _i, _j: 1.0,
        "w-ranknet": essential,
        "w-ranksvm": essential,
        "w-rankboost": essential,
        "arp-loss1": lambda i, _j: float(labels[i]),
        "arp-loss2": lambda i, j: float(labels[i] - labels[j]),
        "ndcg-loss1": lambda i, _j: normal[i] * inverse[i],
    }

    def weight(i: int, j: int) -> float:
        if name in by_labels:
            return by_labels[name](i, j)
        if options.get("target", "ndcg") != "ndcg":
            return change_by_swap(labels, ranks, i, j, options)
        rho = abs(inverse[i] - inverse[j])
        rank_part = rho
        if name == "ndcg-loss2":
            rank_part = delta(i, j)
        elif name == "ndcg-loss2++":
            rank_part = rho + options.get("mu", 5.0) * delta(i, j)
        return float(rank_part * (normal[i] - normal[j]))

    every = name in ("arp-loss1", "ndcg-loss1")
    return [
        (i, j, weight(i, j))
        for i in range(n)
        for j in range(n)
        if i != j and (every or labels[i] > labels[j]) and (i in selected or j in selected)
    ]


def pair_loss(name: str, z: Array) -> Array:
    """Return φ at each z = σ(s_i − s_j)."""
    low = np.real(z) < -30
    if name in HINGES:
        return (1 - z) * (np.real(z) < 1)
    if name in EXPONENTIALS:
        return np.where(low, np.exp(30) * (1 - (z + 30)), np.exp(-np.where(low, 0, z)))
    return np.asarray(np.where(low, -z, 0) + np.log(1 + np.exp(np.where(low, z, -z))))


def pairwise_value(
    name: str, frozen: Float64Array, labels: Float64Array, options: Options, selected: set[int] | None = None
) -> Value:
    """Return Σ w φ(σ(s_i − s_j)) as a function of scores, with frozen w, normalised as in `options`.

    A document's weight in `options` multiplies the pairs in which the document is i.
    """
    sigma = options.get("sigma", 1.0)
    if selected is None:
        (selected,) = selected_documents(labels, ranks_of(frozen), options)
    documents = options.get("document_weights", np.ones(len(labels)))
    pairs = [(i, j, w * documents[i]) for i, j, w in weights_of(name, frozen, labels, selected, options)]
    factor = 1.0
    if options.get("normalization") in ("lightgbm", "score-gap") and max(frozen) != min(frozen):
        pairs = [(i, j, w / (0.01 + abs(frozen[i] - frozen[j]))) for i, j, w in pairs]
    if options.get("normalization") == "lightgbm":
        strength = 0.0
        for i, j, w in pairs:
            z = sigma * (frozen[i] - frozen[j])
            slope = 1 / (1 + math.exp(z))
            if name in HINGES:
                slope = float(z < 1)
            elif name in EXPONENTIALS:
                slope = math.exp(min(-z, 30))
            strength += 2 * sigma * w * slope
        factor = math.log2(1 + strength) / strength if strength > 0 else 1.0
    first, second = (np.array([pair[side] for pair in pairs], dtype=int) for side in (0, 1))
    weights = np.array([w for _, _, w in pairs])
    return lambda scores: (
        factor
        * np.sum(weights * pair_loss(name, sigma * (scores[..., first] - scores[..., second])), axis=-1)
    )


def listwise_value(name: str, labels: Float64Array, options: Options) -> Value:
    """Return a listwise loss as a function of scores; `options` has the targets and orders that were drawn.

    A document's weight multiplies its target, or the term in which the document is chosen.
    """
    sigma = options.get("sigma", 1.0)
    documents = options.get("document_weights", np.ones(len(labels)))
    if name in ("listnet", "xe-ndcg"):
        targets: dict[str, Callable[[], Any]] = {
            "label": lambda: labels / labels.sum() if labels.any() else labels,
            "softmax": lambda: np.exp(labels) / np.exp(labels).sum(),
            "gain-softmax": lambda: np.exp(2**labels - 1) / np.exp(2**labels - 1).sum(),
            "given": lambda: options["targets"],
        }
        target = documents * targets[options.get("target", "label")]()
        return lambda scores: (
            -np.sum(
                target * (sigma * scores - np.log(np.sum(np.exp(sigma * scores), axis=-1, keepdims=True))),
                axis=-1,
            )
        )
    order = options.get("order") or sorted(range(len(labels)), key=lambda i: (-labels[i], i))
    beta = [float(documents[i]) for i in order]
    if name == "w-listmle":
        beta = [
            documents[i] * gain_of(labels[i], options) / math.log2(1 + t)
            for t, i in enumerate(order, start=1)
        ]
    return lambda scores: sum(
        beta[t] * (np.log(np.sum(np.exp(scores[..., order[t:]]), axis=-1)) - scores[..., order[t]])
        for t in range(len(order) - 1)
    )


def value_of(name: str, frozen: Float64Array, labels: Float64Array, options: Options) -> Value:
    """Return the loss of one query as a function of scores, with the ranks of the scores `frozen`."""
    if name == "mse":
        documents = options.get("document_weights", np.ones(len(labels)))
        return lambda scores: np.sum(documents * (scores - labels) ** 2, axis=-1) / 2
    if len(labels) < 2 or (len(set(labels)) < 2 and name not in NONZERO_ON_ONE_LABEL):
        return lambda scores: 0.0 * np.sum(scores, axis=-1)
    if name in LISTWISE:
        return listwise_value(name, labels, options)
    return pairwise_value(name, frozen, labels, options)


def gradient_of(value: Value, scores: Float64Array) -> Float64Array:
    """Return the gradient by the complex step, exact to rounding."""
    return _slopes(value, scores, 0.0)


def hessian_of(value: Value, scores: Float64Array, step: float = 1e-3) -> Float64Array:
    """Return the diagonal of the hessian by 4th-order central differences of the complex-step gradient."""
    slopes = [_slopes(value, scores, offset * step) for offset in (-2, -1, 1, 2)]
    return np.asarray((slopes[0] - 8 * slopes[1] + 8 * slopes[2] - slopes[3]) / (12 * step))


def _slopes(value: Value, scores: Float64Array, step: float) -> Float64Array:
    """Return for each document the derivative by its score after a step of that score alone."""
    shifted = scores + np.eye(len(scores)) * (step + 1e-30j)
    return np.asarray(np.imag(value(shifted)) / 1e-30)


def hinge_curvature(name: str, frozen: Float64Array, labels: Float64Array, options: Options) -> Float64Array:
    """Return RankSVM's documented substitute for its hessian: σ² w on both documents of an active pair."""
    sigma = options.get("sigma", 1.0)
    (selected,) = selected_documents(labels, ranks_of(frozen), options)
    curvature = np.zeros(len(labels))
    for i, j, w in weights_of(name, frozen, labels, selected, options):
        if sigma * (frozen[i] - frozen[j]) < 1:
            curvature[[i, j]] += sigma**2 * w
    return curvature
