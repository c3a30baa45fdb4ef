"""Losses written from the papers' equations, values only, for one query at a time.

Nothing here is shared with the product: ranks, weights and ideal DCG are computed the slow and plain
way. Derivatives come from the complex step (gradient) and from 4th-order central differences of it
(hessian), with the ranks frozen at the scores where the derivative is taken.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from core.types import Float64Array

Value = Callable[[np.ndarray[Any, Any]], Any]


def ranks_of(scores: Float64Array) -> list[int]:
    """1-based rank of each document, ties in input order."""
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
    ranks = [0] * len(scores)
    for position, document in enumerate(order):
        ranks[document] = position + 1
    return ranks


def discount(rank: int) -> float:
    """D(r) = log2(1 + r)."""
    return math.log2(1 + rank)


def max_dcg(labels: Float64Array, cutoff: int | None) -> float:
    """DCG of the ideal ranking's top `cutoff`."""
    ideal = sorted(labels, reverse=True)[:cutoff]
    return math.fsum((2**y - 1) / discount(r) for r, y in enumerate(ideal, start=1))


def rho(rank_i: int, rank_j: int) -> float:
    """|1/D(π_i) − 1/D(π_j)|."""
    return abs(1 / discount(rank_i) - 1 / discount(rank_j))


def delta(rank_i: int, rank_j: int) -> float:
    """δ_ij = 1/D(d) − 1/D(d + 1), d = |π_i − π_j|."""
    d = abs(rank_i - rank_j)
    return 1 / discount(d) - 1 / discount(d + 1)


RANK_WEIGHTS: dict[str, Callable[[int, int, dict[str, Any]], float]] = {
    "lambdarank": lambda i, j, _: rho(i, j),
    "ndcg-loss2": lambda i, j, _: delta(i, j),
    "ndcg-loss2++": lambda i, j, options: rho(i, j) + options.get("mu", 5.0) * delta(i, j),
}


def value_of(name: str, frozen: Float64Array, labels: Float64Array, **options: Any) -> Value:
    """The loss of one query as a function of scores, its ranks frozen at `frozen`."""
    if name == "mse":
        return lambda scores: np.sum((scores - labels) ** 2) / 2
    sigma, tau = options.get("sigma", 1.0), options.get("truncation_level")
    ranks = ranks_of(frozen)
    ideal = max_dcg(labels, tau)
    weights = []
    for i in range(len(labels)):
        for j in range(len(labels)):
            if labels[i] > labels[j] and (tau is None or min(ranks[i], ranks[j]) <= tau):
                gain = ((2 ** labels[i] - 1) - (2 ** labels[j] - 1)) / ideal
                weights.append((i, j, gain * RANK_WEIGHTS[name](ranks[i], ranks[j], options)))

    def value(scores: np.ndarray[Any, Any]) -> Any:
        return sum(w * np.log(1 + np.exp(-sigma * (scores[i] - scores[j]))) for i, j, w in weights)

    return value


def gradient_of(value: Value, scores: Float64Array) -> Float64Array:
    """Gradient by the complex step, exact to rounding."""
    gradient = np.zeros(len(scores))
    for k in range(len(scores)):
        shifted = scores.astype(complex)
        shifted[k] += 1e-30j
        gradient[k] = np.imag(value(shifted)) / 1e-30
    return gradient


def hessian_of(value: Value, scores: Float64Array, step: float = 1e-3) -> Float64Array:
    """Diagonal of the hessian by 4th-order central differences of the complex-step gradient."""
    hessian = np.zeros(len(scores))
    for k in range(len(scores)):
        slopes = []
        for offset in (-2, -1, 1, 2):
            shifted = scores.astype(complex)
            shifted[k] += offset * step + 1e-30j
            slopes.append(np.imag(value(shifted)) / 1e-30)
        hessian[k] = (slopes[0] - 8 * slopes[1] + 8 * slopes[2] - slopes[3]) / (12 * step)
    return hessian
