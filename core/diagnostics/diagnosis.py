"""What the papers say of a loss at given scores."""

from collections.abc import Sequence

import numpy as np

from core.diagnostics import essential_loss as essential
from core.diagnostics import lambdaloss_bounds as lambdaloss
from core.diagnostics import softmax_bounds as softmax
from core.diagnostics.coherency import incoherent_queries, strictly_incoherent_queries
from core.diagnostics.jacobian import LONGEST, asymmetric_share, asymmetries
from core.diagnostics.ranked_query import RankedQuery
from core.diagnostics.registry import BOUNDS
from core.losses import Loss
from core.types import Float64Array, FloatArray, Int64Array

SAMPLE = 256  # queries on which bounds are looked at
_JACOBIANS = 32
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
    gradient: FloatArray | None = None,
) -> Values:
    """Compute everything that `DIAGNOSTICS` names.

    Coherency is looked at on all queries, the bounds on at most 256 of them that hold a relevant document,
    the Jacobian on at most 32 of at most 40 documents.

    Args:
        loss: Whose gradient it is.
        scores: (n_documents,) scores.
        labels: (n_documents,) graded relevance >= 0.
        query_boundaries: (n_queries + 1,) offsets.
        cutoff: k of the top k.
        iteration: For losses that draw random numbers.
        seed: Of the samples.
        gradient: (n_documents,) gradient of the loss at `scores`, where it is at hand.

    Returns:
        Shares of queries, or means over the sample; None where no query could be looked at.
    """
    if gradient is None:
        gradient = loss(scores, labels, query_boundaries, iteration).gradient
    judged = (scores, labels, query_boundaries)
    incoherent = incoherent_queries(gradient, *judged)
    strictly = strictly_incoherent_queries(gradient, *judged, cutoff)
    sample = _sample(labels, query_boundaries, SAMPLE, seed, 2, None)
    queries = [RankedQuery.of(scores[rows], labels[rows]) for rows in _rows(query_boundaries, sample)]
    return {
        "incoherent-queries": float(incoherent.mean()),
        "strictly-incoherent-queries": float(strictly.mean()),
        **_bounds(queries),
        "asymmetric-jacobians": _asymmetric(loss, *judged, iteration, seed),
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
        "w-listmle-bound": mean([essential.weighted_listmle_bounds_ndcg(query)[1] for query in queries]),
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


def _asymmetric(
    loss: Loss,
    scores: FloatArray,
    labels: FloatArray,
    query_boundaries: Int64Array,
    iteration: int,
    seed: int,
) -> float | None:
    sample = _sample(labels, query_boundaries, _JACOBIANS, seed, 2, LONGEST)
    if not sample.size:
        return None
    rows = _rows(query_boundaries, sample)
    boundaries = np.cumsum([0, *(span.stop - span.start for span in rows)])
    found: Float64Array = asymmetries(
        loss,
        np.concatenate([scores[span] for span in rows]),
        np.concatenate([labels[span] for span in rows]),
        boundaries,
        iteration,
    )
    return asymmetric_share(found)


def _sample(
    labels: FloatArray, query_boundaries: Int64Array, size: int, seed: int, least: int, most: int | None
) -> Int64Array:
    """Draw queries with a relevant document and `least` to `most` documents, in dataset order."""
    lengths = np.diff(query_boundaries)
    fit = (np.maximum.reduceat(labels, query_boundaries[:-1]) > 0.0) & (lengths >= least)
    if most is not None:
        fit &= lengths <= most
    drawn = np.random.default_rng(seed).permutation(np.flatnonzero(fit))[:size]
    return np.sort(drawn)


def _rows(query_boundaries: Int64Array, queries: Int64Array) -> list[slice]:
    return [slice(int(query_boundaries[query]), int(query_boundaries[query + 1])) for query in queries]
