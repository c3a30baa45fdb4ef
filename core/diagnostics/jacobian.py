"""Test whether a λ function is the gradient of a cost, and of a convex one (Burges et al. 2006, section 4).

A λ function is the gradient of a cost if its Jacobian is symmetric (equation 5). The cost is convex if the
Jacobian is also positive semi-definite.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from core.losses import Loss, Objective
from core.types import Float64Array, FloatArray, Int64Array

MAX_JACOBIAN_DOCUMENTS = 100  # of a query whose Jacobian is computed
_STEP = 1e-4
_NEAREST, _FARTHEST = 1e-9, 0.02  # up to the first gap scores are tied; from the second, too far apart
_TOLERANCE = 1e-3  # relative to the largest entry; differences of float64 gradients are exact to about 1e-6


def jacobians(
    loss: Loss,
    scores: FloatArray,
    labels: FloatArray,
    query_boundaries: Int64Array,
    iteration: int = 0,
    *,
    across_ranks: bool = False,
) -> list[Float64Array | None]:
    """Return each query's Jacobian J_kj = ∂²C/∂s_j∂s_k = −∂λ_j/∂s_k, by central differences.

    By default, a step is shorter than half the smallest gap between scores, so that ranks do not change.
    Pair weights are then constant, and most λ functions are gradients. Equation 5 requires symmetry
    everywhere, however. Across ranks, a step is twice the smallest gap, so that two documents swap ranks, and
    λ functions with rank-dependent pair weights jump.

    Args:
        scores: (n_documents,) scores.
        labels: (n_documents,) graded relevance.
        query_boundaries: (n_queries + 1,) offsets.
        iteration: Iteration, for losses that draw random numbers.
        across_ranks: Whether a step swaps ranks.

    Returns:
        (n, n) of each query, row k for s_k; None for queries with less than two or more than 100 documents,
        or scores that differ by at most 1e-9. Across ranks, also None where all gaps are at least 0.02, as
        such long steps do not approximate derivatives.
    """
    values = np.asarray(scores, np.float64)
    spans = list(pairwise(query_boundaries.tolist()))
    steps = np.array([_step(values[start:stop], across_ranks) for start, stop in spans])
    columns = _columns(loss.prepare(labels, query_boundaries), values, query_boundaries, steps, iteration)
    return [
        np.array([column[start:stop] for column in columns[: stop - start]]) / (2.0 * step)
        if step > 0.0
        else None
        for (start, stop), step in zip(spans, steps, strict=True)
    ]


def asymmetric_share(matrices: Sequence[Float64Array | None]) -> float | None:
    """Return the share of Jacobians that are not symmetric, None without Jacobians."""
    return _share_above_tolerance(asymmetry(jacobian) for jacobian in matrices if jacobian is not None)


def indefinite_share(matrices: Sequence[Float64Array | None]) -> float | None:
    """Return the share of Jacobians that are not positive semi-definite, None without Jacobians."""
    return _share_above_tolerance(-curvature(jacobian) for jacobian in matrices if jacobian is not None)


def asymmetry(jacobian: Float64Array) -> float:
    """Return max |J − Jᵀ| / max |J|, 0 where J is 0.

    Example:
        >>> asymmetry(np.array([[2.0, 1.0], [0.0, 2.0]]))
        0.5
    """
    largest = float(np.abs(jacobian).max(initial=0.0))
    return float(np.abs(jacobian - jacobian.T).max() / largest) if largest > 0.0 else 0.0


def curvature(jacobian: Float64Array) -> float:
    """Return the least eigenvalue of (J + Jᵀ)/2, divided by max |J|; 0 where J is 0.

    The result is below 0 if the cost curves downwards in some direction.

    Example:
        >>> curvature(np.array([[1.0, 0.0], [0.0, -2.0]]))
        -1.0
    """
    largest = float(np.abs(jacobian).max(initial=0.0))
    if largest == 0.0:
        return 0.0
    return float(np.linalg.eigvalsh((jacobian + jacobian.T) / 2.0)[0] / largest)


def _share_above_tolerance(values: Iterable[float]) -> float | None:
    seen = np.fromiter(values, np.float64)
    return float((seen > _TOLERANCE).mean()) if seen.size else None


def _columns(
    objective: Objective,
    scores: Float64Array,
    query_boundaries: Int64Array,
    steps: Float64Array,
    iteration: int,
) -> list[Float64Array]:
    """Return the changes of the gradient when the scores of the n-th documents of all queries are moved."""
    lengths = np.diff(query_boundaries)
    columns = []
    for position in range(int(lengths[steps > 0.0].max(initial=0))):
        moved = np.flatnonzero((lengths > position) & (steps > 0.0))
        change = np.zeros(len(scores))
        change[query_boundaries[moved] + position] = steps[moved]
        ahead = objective.terms(scores + change, iteration).gradient
        columns.append(ahead - objective.terms(scores - change, iteration).gradient)
    return columns


def _step(scores: Float64Array, across_ranks: bool) -> float:
    if not 2 <= len(scores) <= MAX_JACOBIAN_DOCUMENTS:
        return 0.0
    gap = float(np.diff(np.sort(scores)).min())
    if across_ranks:
        return 2.0 * gap if _NEAREST < gap < _FARTHEST else 0.0
    return min(_STEP, gap / 4.0) if gap > _NEAREST else 0.0
