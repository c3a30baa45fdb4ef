"""Compute the diagnostics of a loss at given scores."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import numpy as np

from core.diagnostics.bounds import BOUNDS
from core.diagnostics.coherency import incoherent_queries, strictly_incoherent_queries
from core.diagnostics.jacobian import MAX_JACOBIAN_DOCUMENTS, asymmetric_share, indefinite_share, jacobians
from core.diagnostics.ranked_query import BoundTerms, RankedQuery
from core.losses import Loss
from core.types import FloatArray, Int64Array

SAMPLE = 256  # queries in the sample for bounds
_ROUNDING = 1e-9
_LOWER, _UPPER = 0, 1
# Diagnostics that are one side of a bound, averaged over queries: the bound and the side.
_SIDES: Mapping[str, tuple[str, int]] = MappingProxyType(
    {
        "ndcg-cost": ("ndcg-loss2", _LOWER),
        "lambdarank-metric": ("lambdarank-metric", _UPPER),
        "ndcg-loss2": ("ndcg-loss2", _UPPER),
        "ndcg-error": ("essential-ndcg", _LOWER),
        "essential-loss": ("essential-ndcg", _UPPER),
        "w-listmle-bound": ("w-listmle", _UPPER),
        "rr-error": ("softmax-rr", _LOWER),
        "binary-ndcg-error": ("softmax-ndcg", _LOWER),
        "softmax-loss": ("softmax-ndcg", _UPPER),
    }
)

Values = dict[str, float | None]


def diagnose(
    loss: Loss,
    scores: FloatArray,
    labels: FloatArray,
    query_boundaries: Int64Array,
    *,
    cutoff: int,
    iteration: int = 0,
    seed: int = 0,
    queries: int = SAMPLE,
    gradient: FloatArray | None = None,
) -> Values:
    """Compute all `DIAGNOSTICS`.

    Coherency is checked on all queries, and bounds on a sample of queries with two or more documents, one of
    them relevant. Jacobians are checked on an eighth as many such queries, of at most 100 documents. Bounds
    use the gain, discount, σ and μ of the loss, if it has them.

    Args:
        scores: (n_documents,) scores.
        labels: (n_documents,) graded relevance >= 0.
        query_boundaries: (n_queries + 1,) offsets.
        cutoff: k of the top k.
        iteration: Iteration, for losses that draw random numbers.
        queries: Maximum number of queries in the sample for bounds.
        gradient: (n_documents,) gradient of the loss at `scores`, if already computed.

    Returns:
        Shares of queries, or means over the sample; None if no query could be checked.
    """
    if gradient is None:
        gradient = loss(scores, labels, query_boundaries, iteration).gradient
    judged = (scores, labels, query_boundaries)
    incoherent = incoherent_queries(gradient, *judged)
    strictly = strictly_incoherent_queries(gradient, *judged, cutoff)
    sample = _rows(query_boundaries, _sample(labels, query_boundaries, queries, seed, None))
    terms = BoundTerms.of(loss)
    ranked = (RankedQuery.of(scores[rows], labels[rows], terms) for rows in sample)
    return {
        "incoherent-queries": float(incoherent.mean()),
        "strictly-incoherent-queries": float(strictly.mean()),
        **_bounds(query for query in ranked if query.max_dcg > 0.0),
        **_symmetry(loss, *judged, iteration, seed, queries // 8),
    }


def _bounds(queries: Iterable[RankedQuery]) -> Values:
    # All bounds of a query before the next query, as each query caches matrices of its pairs.
    by_query = [[bound.sides(query) for bound in BOUNDS.values()] for query in queries]
    if not by_query:
        return dict.fromkeys((*_SIDES, "broken-bounds"))
    sides = dict(zip(BOUNDS, np.swapaxes(by_query, 0, 1), strict=True))
    broken = [
        ~(lower <= upper + _ROUNDING * np.maximum(1.0, np.abs(upper)))  # NaN is broken, too
        for lower, upper in map(np.transpose, sides.values())
    ]
    return {
        **{name: float(sides[bound][:, side].mean()) for name, (bound, side) in _SIDES.items()},
        "broken-bounds": float(np.any(broken, axis=0).mean()),
    }


def _symmetry(
    loss: Loss,
    scores: FloatArray,
    labels: FloatArray,
    query_boundaries: Int64Array,
    iteration: int,
    seed: int,
    queries: int,
) -> Values:
    sample = _rows(query_boundaries, _sample(labels, query_boundaries, queries, seed, MAX_JACOBIAN_DOCUMENTS))
    if not sample:
        return dict.fromkeys(("asymmetric-jacobians", "asymmetric-across-ranks", "indefinite-jacobians"))
    boundaries = np.cumsum([0, *(rows.stop - rows.start for rows in sample)])
    judged = (
        np.concatenate([scores[rows] for rows in sample]),
        np.concatenate([labels[rows] for rows in sample]),
        boundaries,
    )
    within_ranks, across_ranks = (
        jacobians(loss, *judged, iteration, across_ranks=crosses) for crosses in (False, True)
    )
    return {
        "asymmetric-jacobians": asymmetric_share(within_ranks),
        "asymmetric-across-ranks": asymmetric_share(across_ranks),
        "indefinite-jacobians": indefinite_share(within_ranks),
    }


def _sample(
    labels: FloatArray, query_boundaries: Int64Array, size: int, seed: int, longest: int | None
) -> Int64Array:
    """Draw queries with a relevant document and 2 to `longest` documents, in dataset order."""
    lengths = np.diff(query_boundaries)
    is_eligible = (np.maximum.reduceat(labels, query_boundaries[:-1]) > 0.0) & (lengths >= 2)
    if longest is not None:
        is_eligible &= lengths <= longest
    drawn = np.random.default_rng(seed).permutation(np.flatnonzero(is_eligible))[:size]
    return np.sort(drawn)


def _rows(query_boundaries: Int64Array, queries: Int64Array) -> list[slice]:
    return [slice(int(query_boundaries[query]), int(query_boundaries[query + 1])) for query in queries]
