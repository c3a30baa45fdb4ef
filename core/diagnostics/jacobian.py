"""Whether a λ function is the gradient of any cost: its Jacobian is symmetric (Burges et al. 2006, eq. 5)."""

import numpy as np

from core.losses import Loss
from core.types import Float64Array, FloatArray, Int64Array

LONGEST = 40  # documents of a query whose Jacobian is looked at
_STEP = 1e-4
_TOLERANCE = 1e-3  # of the largest entry; differences of float64 gradients are good to about 1e-6


def asymmetries(
    loss: Loss, scores: FloatArray, labels: FloatArray, query_boundaries: Int64Array, iteration: int = 0
) -> Float64Array:
    """Measure max |J − Jᵀ| / max |J| of each query's Jacobian J_jk = ∂λ_j/∂s_k, by central differences.

    A step is shorter than half the least gap of two scores, so that no ranks change on the way: what is seen
    is the Jacobian within the region of one ranking. Where ranks change, λ functions that weigh pairs by
    rank jump.

    Args:
        loss: Whose gradient it is.
        scores: (n_documents,) scores.
        labels: (n_documents,) graded relevance.
        query_boundaries: (n_queries + 1,) offsets.
        iteration: For losses that draw random numbers.

    Returns:
        (n_queries,) asymmetry; NaN where a query has one document, more than 40, or tied scores.
    """
    values = np.asarray(scores, np.float64)
    lengths = np.diff(query_boundaries)
    steps = np.array([_step(values[start:stop]) for start, stop in _spans(query_boundaries)])
    longest = int(lengths[steps > 0.0].max(initial=0))
    columns = []
    for place in range(longest):
        moved = np.flatnonzero((lengths > place) & (steps > 0.0))
        rows = query_boundaries[moved] + place
        change = np.zeros(len(values))
        change[rows] = steps[moved]
        gradients = [
            loss(values + sign * change, labels, query_boundaries, iteration).gradient for sign in (1.0, -1.0)
        ]
        columns.append(gradients[0] - gradients[1])
    return np.array(
        [
            _asymmetry(np.array([column[start:stop] for column in columns[: stop - start]]) / (2.0 * step))
            if step > 0.0
            else np.nan
            for (start, stop), step in zip(_spans(query_boundaries), steps, strict=True)
        ]
    )


def asymmetric_share(found: Float64Array) -> float | None:
    """Return the share of queries whose Jacobian is not symmetric, None where none could be looked at."""
    seen = found[~np.isnan(found)]
    return float((seen > _TOLERANCE).mean()) if seen.size else None


def _spans(query_boundaries: Int64Array) -> list[tuple[int, int]]:
    return list(zip(query_boundaries[:-1].tolist(), query_boundaries[1:].tolist(), strict=True))


def _step(scores: Float64Array) -> float:
    if not 2 <= len(scores) <= LONGEST:
        return 0.0
    gap = float(np.diff(np.sort(scores)).min())
    return min(_STEP, gap / 4.0) if gap > 1e-9 else 0.0


def _asymmetry(jacobian: Float64Array) -> float:
    largest = float(np.abs(jacobian).max(initial=0.0))
    return float(np.abs(jacobian - jacobian.T).max() / largest) if largest > 0.0 else 0.0
