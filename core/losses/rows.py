"""Gradients and losses of the pairs of one document with a contiguous range of partners: the inner loops.

Every function here is inlined into the query kernel. Indices are unsigned, so that numba need not wrap
negative indices around, and loops have no branches, so that LLVM vectorises them. Except in the exact sums
of losses, ranges run in whole blocks, so that no loop has a remainder: entries between the end of a range and
the end of its last block must have weight or gradient zero.

The document at i is paired with each partner at j. `score` is σs, z is s_i − s_j, `exponential` is E as in
`core.losses.pairwise`, and `weight` is w. For positive weights, the gradient falls at i and rises at j.
"""

import numpy as np

from core.jit import inlined
from core.types import Float64Array

BLOCK = 16  # positions: four vectors of four, as LLVM unrolls loops

_LN2 = 0.6931471805599453
_LARGEST = 10686474581524.463  # e^30
STEEPEST = 30.0  # beyond σz = −30 the exponential loss continues as its tangent


@inlined
def add_logistic_gradient(
    i: int,
    begin: int,
    blocks: int,
    exponential: Float64Array,
    weight: Float64Array,
    gradient: Float64Array,
    hessian: Float64Array,
) -> float:
    """Add w r and w r (1 − r) with r_ij = E_j / (E_i + E_j); return Σ w r."""
    e = exponential[i]
    own_gradient, own_hessian = 0.0, 0.0
    for j in range(np.uint64(begin), np.uint64(begin) + np.uint64(BLOCK) * np.uint64(blocks)):
        inverse = 1.0 / (e + exponential[j])
        pair_gradient = weight[j] * exponential[j] * inverse
        pair_hessian = pair_gradient * (e * inverse)
        gradient[j] += pair_gradient
        hessian[j] += pair_hessian
        own_gradient += pair_gradient
        own_hessian += pair_hessian
    gradient[i] -= own_gradient
    hessian[i] += own_hessian
    return own_gradient


@inlined
def add_logistic_gradient_far(
    i: int,
    begin: int,
    blocks: int,
    score: Float64Array,
    weight: Float64Array,
    gradient: Float64Array,
    hessian: Float64Array,
) -> float:
    """Do as `add_logistic_gradient` for scores that are too far apart to share exponentials."""
    total = 0.0
    for j in range(np.uint64(begin), np.uint64(begin) + np.uint64(BLOCK) * np.uint64(blocks)):
        gap = score[i] - score[j]
        t = np.exp(-abs(gap))
        pair_gradient = weight[j] * (t / (1.0 + t) if gap > 0.0 else 1.0 / (1.0 + t))
        pair_hessian = weight[j] * t / ((1.0 + t) * (1.0 + t))
        gradient[j] += pair_gradient
        hessian[j] += pair_hessian
        gradient[i] -= pair_gradient
        hessian[i] += pair_hessian
        total += pair_gradient
    return total


@inlined
def add_hinge_gradient(
    i: int,
    begin: int,
    blocks: int,
    score: Float64Array,
    weight: Float64Array,
    gradient: Float64Array,
    hessian: Float64Array,
) -> float:
    """Add w for gradient and curvature of the pairs with σz < 1."""
    s = score[i]
    own_gradient = 0.0
    for j in range(np.uint64(begin), np.uint64(begin) + np.uint64(BLOCK) * np.uint64(blocks)):
        pair_gradient = weight[j] if s - score[j] < 1.0 else 0.0
        gradient[j] += pair_gradient
        hessian[j] += pair_gradient
        own_gradient += pair_gradient
    gradient[i] -= own_gradient
    hessian[i] += own_gradient
    return own_gradient


@inlined
def add_exponential_gradient(
    i: int,
    begin: int,
    blocks: int,
    exponential: Float64Array,
    weight: Float64Array,
    gradient: Float64Array,
    hessian: Float64Array,
) -> float:
    """Add w e^{−σz} for gradient and curvature, σz no less than −30, through shared exponentials."""
    inverse = 1.0 / exponential[i]
    own_gradient = 0.0
    for j in range(np.uint64(begin), np.uint64(begin) + np.uint64(BLOCK) * np.uint64(blocks)):
        pair_gradient = weight[j] * min(exponential[j] * inverse, _LARGEST)
        gradient[j] += pair_gradient
        hessian[j] += pair_gradient
        own_gradient += pair_gradient
    gradient[i] -= own_gradient
    hessian[i] += own_gradient
    return own_gradient


@inlined
def add_exponential_gradient_far(
    i: int,
    begin: int,
    blocks: int,
    score: Float64Array,
    weight: Float64Array,
    gradient: Float64Array,
    hessian: Float64Array,
) -> float:
    """Do as `add_exponential_gradient` for scores that are too far apart to share exponentials."""
    s = score[i]
    own_gradient = 0.0
    for j in range(np.uint64(begin), np.uint64(begin) + np.uint64(BLOCK) * np.uint64(blocks)):
        pair_gradient = weight[j] * np.exp(min(score[j] - s, STEEPEST))
        gradient[j] += pair_gradient
        hessian[j] += pair_gradient
        own_gradient += pair_gradient
    gradient[i] -= own_gradient
    hessian[i] += own_gradient
    return own_gradient


@inlined
def add_rank_gradient(
    i: int,
    begin: int,
    blocks: int,
    own_value: float,
    own_discount: float,
    value: Float64Array,
    discount: Float64Array,
    exponential: Float64Array,
    gradient: Float64Array,
    hessian: Float64Array,
) -> None:
    """Do `pair_weights.weigh_ranks` and `add_logistic_gradient` in one pass: the fast path of LambdaRank."""
    e = exponential[i]
    own_gradient, own_hessian = 0.0, 0.0
    for j in range(np.uint64(begin), np.uint64(begin) + np.uint64(BLOCK) * np.uint64(blocks)):
        inverse = 1.0 / (e + exponential[j])
        pair_gradient = (own_value - value[j]) * abs(own_discount - discount[j]) * exponential[j] * inverse
        pair_hessian = pair_gradient * (e * inverse)
        gradient[j] += pair_gradient
        hessian[j] += pair_hessian
        own_gradient += pair_gradient
        own_hessian += pair_hessian
    gradient[i] -= own_gradient
    hessian[i] += own_hessian


@inlined
def add_rank_gradients_of_two(
    i: int,
    begin: int,
    blocks: int,
    own_value: float,
    value: Float64Array,
    discount: Float64Array,
    exponential: Float64Array,
    gradient: Float64Array,
    hessian: Float64Array,
) -> None:
    """Do `add_rank_gradient` for the documents at i and i + 1, of one label and the same partners.

    The two documents' sums of exponentials a and b share a division, 1/a = b/(a b). The partners are read
    once for both.
    """
    following = np.uint64(i) + np.uint64(1)
    e, e2 = exponential[i], exponential[following]
    d, d2 = discount[i], discount[following]
    own_gradient, own_hessian, own_gradient2, own_hessian2 = 0.0, 0.0, 0.0, 0.0
    for j in range(np.uint64(begin), np.uint64(begin) + np.uint64(BLOCK) * np.uint64(blocks)):
        a, b = e + exponential[j], e2 + exponential[j]
        inverse = 1.0 / (a * b)
        inverse_a, inverse_b = inverse * b, inverse * a
        common = (own_value - value[j]) * exponential[j]
        pair_gradient = common * abs(d - discount[j]) * inverse_a
        pair_gradient2 = common * abs(d2 - discount[j]) * inverse_b
        pair_hessian = pair_gradient * (e * inverse_a)
        pair_hessian2 = pair_gradient2 * (e2 * inverse_b)
        gradient[j] += pair_gradient + pair_gradient2
        hessian[j] += pair_hessian + pair_hessian2
        own_gradient += pair_gradient
        own_hessian += pair_hessian
        own_gradient2 += pair_gradient2
        own_hessian2 += pair_hessian2
    gradient[i] -= own_gradient
    hessian[i] += own_hessian
    gradient[following] -= own_gradient2
    hessian[following] += own_hessian2


@inlined
def sum_logistic(i: int, begin: int, end: int, score: Float64Array, weight: Float64Array) -> float:
    """Return Σ w ln(1 + e^{−σz})."""
    total = 0.0
    for j in range(np.uint64(begin), np.uint64(end)):
        gap = score[i] - score[j]
        total += weight[j] * (max(-gap, 0.0) + np.log1p(np.exp(-abs(gap))))
    return total


@inlined
def _softplus(q: float, own_score: float, other_score: float) -> float:
    """Return ln(1 + e^{−σz}) to 1e-9 from q = |E_i − E_j| / (E_i + E_j), with nothing but arithmetic.

    As q = tanh |σz / 2| it is max(−σz, 0) + ln 2 − ln(1 + q).
    """
    # Least squares at Chebyshev's nodes of [0, 1]; a loop over the coefficients would not be vectorised.
    ln1p = -0.0023178547377218314
    ln1p = ln1p * q + 0.01534189790521561
    ln1p = ln1p * q - 0.047665486526122444
    ln1p = ln1p * q + 0.09548566353214422
    ln1p = ln1p * q - 0.14586473749720844
    ln1p = ln1p * q + 0.19375165878483686
    ln1p = ln1p * q - 0.24878424210671157
    ln1p = ln1p * q + 0.3331919078518335
    ln1p = ln1p * q - 0.4999914228339018
    ln1p = ln1p * q + 0.9999997947732093
    ln1p = ln1p * q + 8.18445033967663e-10
    return max(other_score - own_score, 0.0) + (_LN2 - ln1p)


@inlined
def sum_logistic_near(
    i: int, begin: int, blocks: int, score: Float64Array, exponential: Float64Array, weight: Float64Array
) -> float:
    """Return Σ w ln(1 + e^{−σz}), to 1e-9 of each pair's weight, through shared exponentials."""
    total = 0.0
    e, s = exponential[i], score[i]
    for j in range(np.uint64(begin), np.uint64(begin) + np.uint64(BLOCK) * np.uint64(blocks)):
        q = abs(e - exponential[j]) / (e + exponential[j])
        total += weight[j] * _softplus(q, s, score[j])
    return total


@inlined
def sum_rank_losses_of_two(
    i: int,
    begin: int,
    blocks: int,
    own_value: float,
    value: Float64Array,
    discount: Float64Array,
    score: Float64Array,
    exponential: Float64Array,
) -> float:
    """Return the sum of the losses of the documents at i and i + 1, of one label and the same partners.

    Weights are those of `pair_weights.weigh_ranks`, and losses are as precise as in `sum_logistic_near`.
    """
    following = np.uint64(i) + np.uint64(1)
    e, e2 = exponential[i], exponential[following]
    d, d2 = discount[i], discount[following]
    s, s2 = score[i], score[following]
    total = 0.0
    for j in range(np.uint64(begin), np.uint64(begin) + np.uint64(BLOCK) * np.uint64(blocks)):
        a, b = e + exponential[j], e2 + exponential[j]
        inverse = 1.0 / (a * b)
        loss = abs(d - discount[j]) * _softplus(abs(e - exponential[j]) * (inverse * b), s, score[j])
        loss2 = abs(d2 - discount[j]) * _softplus(abs(e2 - exponential[j]) * (inverse * a), s2, score[j])
        total += (own_value - value[j]) * (loss + loss2)
    return total


@inlined
def sum_hinge(i: int, begin: int, end: int, score: Float64Array, weight: Float64Array) -> float:
    """Return Σ w max(0, 1 − σz)."""
    total = 0.0
    for j in range(np.uint64(begin), np.uint64(end)):
        total += weight[j] * max(0.0, 1.0 - (score[i] - score[j]))
    return total


@inlined
def sum_exponential(i: int, begin: int, end: int, score: Float64Array, weight: Float64Array) -> float:
    """Return Σ w e^{−σz}, continued by its tangent beyond σz = −30."""
    total = 0.0
    for j in range(np.uint64(begin), np.uint64(end)):
        steep = score[j] - score[i]
        excess = max(steep - STEEPEST, 0.0)
        total += weight[j] * np.exp(min(steep, STEEPEST)) * (1.0 + excess)
    return total
