"""What the papers say of a loss at given scores."""

from collections.abc import Sequence

import numpy as np

from core.diagnostics import essential_loss as essential
from core.diagnostics import lambdaloss_bounds as lambdaloss
from core.diagnostics import softmax_bounds as softmax
from core.diagnostics.bounds import BOUNDS
from core.diagnostics.coherency import incoherent_queries, strictly_incoherent_queries
from core.diagnostics.jacobian import LONGEST, asymmetric_share, asymmetries
from core.diagnostics.ranked_query import RankedQuery
from core.losses import Loss
from core.types import FloatArray, Int64Array

SAMPLE = 256  # queries on which bounds are looked at
_ROUNDING = 1e-9

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
    """Compute everything that `DIAGNOSTICS` names.

    Coherency is looked at on all queries, the bounds on a sample of those that hold a relevant document, the
    Jacobian on an eighth as many of at most 100 documents.

    Args:
        loss: Whose gradient it is.
        scores: (n_documents,) scores.
        labels: (n_documents,) graded relevance >= 0.
        query_boundaries: (n_queries + 1,) offsets.
        cutoff: k of the top k.
        iteration: For losses that draw random numbers.
        seed: Of the samples.
        queries: How many the sample of the bounds holds at most.
        gradient: (n_documents,) gradient of the loss at `scores`, where it is at hand.

    Returns:
        Shares of queries, or means over the sample; None where no query could be looked at.
    """
    if gradient is None:
        gradient = loss(scores, labels, query_boundaries, iteration).gradient
    judged = (scores, labels, query_boundaries)
    incoherent = incoherent_queries(gradient, *judged)
    strictly = strictly_incoherent_queries(gradient, *judged, cutoff)
    sample = _rows(query_boundaries, _sample(labels, query_boundaries, queries, seed, None))
    return {
        "incoherent-queries": float(incoherent.mean()),
        "strictly-incoherent-queries": float(strictly.mean()),
        **_bounds([RankedQuery.of(scores[rows], labels[rows]) for rows in sample]),
        **_symmetry(loss, *judged, iteration, seed, queries // 8),
    }


def _bounds(queries: Sequence[RankedQuery]) -> Values:
    def mean(values: Sequence[float]) -> float | None:
        return float(np.mean(values)) if values else None

    errors, losses = (
        [essential.essential_loss_bounds_ndcg(query)[side] for query in queries] for side in (0, 1)
    )
    return {
        "ndcg-cost": mean([lambdaloss.ndcg_cost(query) for query in queries]),
        "lambdarank-metric": mean([lambdaloss.lambdarank_metric(query) for query in queries]),
        "ndcg-loss2": mean([lambdaloss.ndcg_loss2(query) for query in queries]),
        "ndcg-error": mean(errors),
        "essential-loss": mean(losses),
        "w-listmle-bound": mean(
            [essential.weighted_listmle_bounds_essential_loss(query)[1] for query in queries]
        ),
        "rr-error": mean([softmax.softmax_bounds_reciprocal_rank(query)[0] for query in queries]),
        "binary-ndcg-error": mean([softmax.softmax_bounds_ndcg(query)[0] for query in queries]),
        "softmax-loss": mean([softmax.softmax_loss(query) for query in queries]),
        "broken-bounds": mean([float(bool(broken_bounds(query))) for query in queries]),
    }


def broken_bounds(query: RankedQuery) -> list[str]:
    """Name the bounds that do not hold for a query with a relevant document, rounding aside."""
    broken = []
    for name, bound in BOUNDS.items():
        lower, upper = bound.sides(query)
        if not lower <= upper + _ROUNDING * max(1.0, abs(upper)):
            broken.append(name)
    return broken


def _symmetry(
    loss: Loss,
    scores: FloatArray,
    labels: FloatArray,
    query_boundaries: Int64Array,
    iteration: int,
    seed: int,
    queries: int,
) -> Values:
    sample = _rows(query_boundaries, _sample(labels, query_boundaries, queries, seed, LONGEST))
    if not sample:
        return {"asymmetric-jacobians": None, "asymmetric-across-ranks": None}
    boundaries = np.cumsum([0, *(rows.stop - rows.start for rows in sample)])
    judged = (
        np.concatenate([scores[rows] for rows in sample]),
        np.concatenate([labels[rows] for rows in sample]),
        boundaries,
    )
    frozen, across = (
        asymmetric_share(asymmetries(loss, *judged, iteration, across_ranks=swap)) for swap in (False, True)
    )
    return {"asymmetric-jacobians": frozen, "asymmetric-across-ranks": across}


def _sample(
    labels: FloatArray, query_boundaries: Int64Array, size: int, seed: int, longest: int | None
) -> Int64Array:
    """Draw queries with a relevant document, 2 documents and at most `longest`, in dataset order."""
    lengths = np.diff(query_boundaries)
    fit = (np.maximum.reduceat(labels, query_boundaries[:-1]) > 0.0) & (lengths >= 2)
    if longest is not None:
        fit &= lengths <= longest
    drawn = np.random.default_rng(seed).permutation(np.flatnonzero(fit))[:size]
    return np.sort(drawn)


def _rows(query_boundaries: Int64Array, queries: Int64Array) -> list[slice]:
    return [slice(int(query_boundaries[query]), int(query_boundaries[query + 1])) for query in queries]
