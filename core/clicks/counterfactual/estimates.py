"""Off-policy estimates of a metric of new rankings, with support and intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from core.clicks.counterfactual.importance import SlotEstimator
from core.clicks.counterfactual.rows import NewRanking, Rows, examination_rows, logged_rows, slot_rows
from core.clicks.log import ClickLog
from core.errors import InvalidInput
from core.evaluation.bootstrap import MIN_ROWS, interval_of, merge_clusters, resampled_sums
from core.evaluation.intervals import reported_interval
from core.types import Float64Array, Int64Array

if TYPE_CHECKING:
    from scipy import sparse

Estimator = SlotEstimator | Literal["examination"]
LOGGED = "logged"
_RESAMPLES = 1_000
_PAIRS_PER_CHUNK = 1_000  # a chunk takes 8 MB for 1,000 draws


@dataclass(frozen=True)
class MinimumSupport:
    """Minimum support of an estimate for a verdict.

    Attributes:
        effective_sample_size: Least effective sample size.
        unsupported: Largest share of the new ranking's metric weight without support in the log.
        largest_weight: Largest share of a single weight in the sum of all.
        clusters: Least number of users, or of lists in a log without users. With fewer, estimates have
            no interval.
    """

    effective_sample_size: float = 100.0
    unsupported: float = 0.2
    largest_weight: float = 0.1
    clusters: int = MIN_ROWS

    def shortfall(self, size: float, largest: float, unsupported: float, clusters: int) -> str | None:
        """Return the reason why a sample has too little support, or None."""
        if clusters < self.clusters:
            return f"the number of independent users or lists is {clusters}, below {self.clusters}"
        if size < self.effective_sample_size:
            return f"the effective sample size is {size:.0f}, below {self.effective_sample_size:.0f}"
        if unsupported > self.unsupported:
            return (
                f"the log does not support {unsupported:.0%} of the ranking, more than {self.unsupported:.0%}"
            )
        if largest > self.largest_weight:
            return f"one weight is {largest:.0%} of the total weight, more than {self.largest_weight:.0%}"
        return None


@dataclass(frozen=True)
class SystemEstimate:
    """The estimated metric of a ranking.

    Attributes:
        value: Estimate of the metric, a mean over lists.
        lower: Lower end of the 95% interval, by bootstrap over clusters, see `Estimates`; None for
            fewer than eight clusters.
        upper: Upper end of the interval.
        effective_sample_size: (Σ w)² / Σ w² of the weights of impressions, or of lists for `slate`.
        largest_weight: Largest weight over the sum of all.
        clipped: Share of the weights above 0 that were clipped.
        unsupported: Share of the new ranking's metric weight at documents and ranks without support in the
            log.
        missing: Reason why there is no verdict, or None.
    """

    name: str
    value: float
    lower: float | None
    upper: float | None
    effective_sample_size: float
    largest_weight: float
    clipped: float
    unsupported: float
    missing: str | None


@dataclass(frozen=True)
class ResampledEstimate:
    """An estimate with its bootstrap replicates; all estimates of the same lists use the same samples.

    Attributes:
        zeros: Share of the ranking's metric weight that counts as 0 for lack of support or by clipping, see
            `Rows`.
    """

    estimate: SystemEstimate
    resampled: Float64Array
    zeros: float


@dataclass(frozen=True)
class Estimates:
    """Estimates of rankings on the same lists.

    Attributes:
        clusters: Number of bootstrap clusters, at most 20,000: users, or lists in a log without users.
        estimated: The logged ranking, then the others.
    """

    lists: int
    clusters: int
    estimated: list[ResampledEstimate]


def evaluate_rankings(
    log: ClickLog,
    rankings: Sequence[NewRanking],
    by_rank: Float64Array,
    estimator: Estimator,
    *,
    normalised: bool = False,
    clip: float | None = None,
    examination: Sequence[float] | None = None,
    examination_errors: Sequence[float] | None = None,
    floor: MinimumSupport = MinimumSupport(),
    seed: int = 0,
    threads: int = 1,
) -> Estimates:
    """Estimate a metric of the logged ranking and of new rankings, over lists whose query is in all rankings.

    `examination` needs no logged propensities: the sum of click · weight(new rank) / p estimates the metric
    of relevance. p is the mean examination of the document over the lists of its query. For one ranking per
    query, p is the examination of its rank (Joachims et al. 2017). The other estimators need logged
    propensities and estimate the metric of clicks; see `importance_weights`.

    Args:
        rankings: New rankings, with different names.
        by_rank: (k,) weight of a click at each rank, see `rank_weights`.
        normalised: Whether to divide by the mean weight (self-normalisation), for each rank separately where
            weights differ by rank. It adds a small bias and lowers the variance (Swaminathan and Joachims
            2015).
        clip: Largest weight, None for no limit.
        examination: Examination probability of each rank from 1, for the estimator `examination` only.
        examination_errors: Standard error of the logarithm of each of these probabilities, which widens the
            intervals; None where they are exact.

    Raises:
        InvalidInput: The log lacks data for the estimator, no list has a query that all rankings rank, or the
            estimator has no self-normalised form.
    """
    if normalised and estimator in ("examination", "cascade_doubly_robust"):
        raise InvalidInput.at("/normalised", f"{estimator} has no self-normalised form")
    common = _common_lists(log, rankings)
    # Tables of queries and ranks end at the last rank that has a document.
    by_rank = by_rank[: max([common.max_rank, *(int(ranking.lengths.max()) for ranking in rankings)])]
    clusters = _clusters(common)
    n_clusters = int(clusters.max()) + 1

    def estimated(ranking: NewRanking | None) -> ResampledEstimate:
        if estimator == "examination":
            rows = examination_rows(common, ranking, by_rank, examination or (), clip)
        elif ranking is None:
            rows = logged_rows(common, by_rank)
            rows = rows.by_list() if estimator == "slate" else rows
        else:
            rows = slot_rows(common, ranking, by_rank, estimator, normalised=normalised, clip=clip)
        value, resampled = _bootstrapped(rows, clusters, seed, threads)
        if examination_errors is not None:
            # Subtracted, since an estimate with too small probabilities is too large.
            resampled = resampled - examination_changes(
                common,
                ranking,
                by_rank,
                examination or (),
                examination_errors,
                clip=clip,
                draws=_RESAMPLES,
                seed=seed,
            )
        lower, upper = reported_interval(*interval_of(resampled, n_clusters))
        name = LOGGED if ranking is None else ranking.name
        size, largest = effective_size_and_largest_share(rows.weights)
        shortfall = floor.shortfall(size, largest, rows.unsupported, n_clusters)
        support = (size, largest, rows.clipped, rows.unsupported, shortfall)
        return ResampledEstimate(SystemEstimate(name, value, lower, upper, *support), resampled, rows.zeros)

    return Estimates(common.n_lists, n_clusters, [estimated(ranking) for ranking in (None, *rankings)])


def _common_lists(log: ClickLog, rankings: Sequence[NewRanking]) -> ClickLog:
    ranked = np.ones(len(log.query_ids), bool)
    for ranking in rankings:
        ranked &= ranking.lengths > 0
    lists = np.flatnonzero(ranked[log.list_queries])
    if not len(lists):
        raise InvalidInput.at("/rankings", "no list of the log has a query that is in all rankings")
    return log if len(lists) == log.n_lists else log.take_lists(lists)


def _clusters(log: ClickLog) -> Int64Array:
    """Return the (n_lists,) bootstrap clusters: users or lists, at most 20,000 after merging."""
    users = np.arange(log.n_lists) if log.list_users is None else np.asarray(log.list_users, np.int64)
    numbers: Int64Array = np.unique(merge_clusters(users), return_inverse=True)[1]
    return numbers


def _bootstrapped(rows: Rows, clusters: Int64Array, seed: int, threads: int) -> tuple[float, Float64Array]:
    """Return the estimate Σ_g S_g n_g / W_g / n_lists, and its bootstrap replicates.

    S_g and W_g are the sums of values and weights of the n_g rows of group g. Without normalisation,
    n_g / W_g is 1.
    """
    n_groups, n_clusters = int(rows.groups.max(initial=0)) + 1, int(clusters.max()) + 1
    cells = clusters[rows.lists] * n_groups + rows.groups

    def per_cell(weights: Float64Array | None) -> Float64Array:
        sums = np.bincount(cells, weights=weights, minlength=n_clusters * n_groups)
        return sums.reshape(n_clusters, n_groups).astype(np.float64)

    parts = [per_cell(rows.values), np.bincount(clusters, minlength=n_clusters)[:, None].astype(np.float64)]
    if rows.normalised:
        parts += [per_cell(rows.weights), per_cell(None)]
    columns = np.hstack(parts)
    resampled = resampled_sums(columns, resamples=_RESAMPLES, seed=seed, threads=threads)
    values = _estimates_from_sums(np.vstack([columns.sum(axis=0), resampled]), n_groups)
    return float(values[0]), values[1:]


def _estimates_from_sums(sums: Float64Array, n_groups: int) -> Float64Array:
    rewards, lists = sums[:, :n_groups], sums[:, n_groups]
    if sums.shape[1] > n_groups + 1:
        weights, counts = np.split(sums[:, n_groups + 1 :], 2, axis=1)
        rewards = np.divide(rewards * counts, weights, out=np.zeros_like(rewards), where=weights > 0.0)
    return np.asarray(rewards.sum(axis=1) / lists, np.float64)


def effective_size_and_largest_share(weights: Float64Array) -> tuple[float, float]:
    """Return the effective sample size and the largest share of a weight; 0 and 1 where all weights are 0."""
    total = float(weights.sum())
    if total <= 0.0:
        return 0.0, 1.0
    return total**2 / float((weights**2).sum()), float(weights.max()) / total


def examination_changes(
    log: ClickLog,
    ranking: NewRanking | None,
    by_rank: Float64Array,
    examination: Sequence[float],
    errors: Sequence[float],
    *,
    clip: float | None,
    draws: int,
    seed: int,
) -> Float64Array:
    """Return the change of an estimate for draws of the examination probabilities, (draws,).

    A draw multiplies each probability p by exp(e z), for z from a normal distribution. Draws of a seed are
    the same for all rankings, so that differences of rankings are paired. Errors of ranks count as
    independent.

    Args:
        ranking: New ranking, None for the logged one.
        by_rank: (k,) weight of a click at each rank.
        examination: Examination probability p of each rank from 1.
        errors: Standard error e of ln p of each rank.
        clip: Largest weight, None for no limit.
    """
    normal = np.random.default_rng([seed, 1]).standard_normal((draws, len(examination)))
    drawn = np.asarray(examination) * np.exp(normal * np.asarray(errors))
    probabilities = np.vstack([np.asarray(examination), drawn])
    sums, shares = _clicks_and_shares(log, ranking, by_rank, len(examination))
    estimates = np.zeros(len(probabilities))
    for first in range(0, len(sums), _PAIRS_PER_CHUNK):
        part = slice(first, first + _PAIRS_PER_CHUNK)
        weights = 1.0 / (shares[part] @ probabilities.T)
        estimates += sums[part] @ (weights if clip is None else np.minimum(weights, clip))
    changes: Float64Array = (estimates[1:] - estimates[0]) / log.n_lists
    return changes


def _clicks_and_shares(
    log: ClickLog, ranking: NewRanking | None, by_rank: Float64Array, n_ranks: int
) -> tuple[Float64Array, "sparse.csr_array"]:
    """Return the weighted clicks of each pair, or of each rank for the logged ranking, and shares of lists.

    Returns:
        (n,) sums of reward times weight at the new rank; and (n, n_ranks) shares of the lists of the query
        that show the document at each rank. Shares times probabilities are the examination of the pair. For
        the logged ranking, n is the number of ranks, and each rank is examined with its own probability.
    """
    from scipy import sparse  # its import takes a tenth of a second

    worth = np.concatenate([[0.0], by_rank, [0.0]])
    ranks = np.minimum(log.ranks, n_ranks + 1).astype(np.int64)
    if ranking is None:
        rewards = log.rewards * worth[np.minimum(log.ranks, len(by_rank) + 1)]
        by_old_rank = np.bincount(ranks, rewards, n_ranks + 2)[1:-1].astype(np.float64)
        return by_old_rank, sparse.eye_array(n_ranks, format="csr")
    of_pairs = np.bincount(log.pairs, log.rewards, log.n_pairs).astype(np.float64)
    sums = of_pairs * worth[np.minimum(ranking.ranks, len(by_rank) + 1)]
    pairs = np.flatnonzero(sums)
    rows = np.full(log.n_pairs, -1)
    rows[pairs] = np.arange(len(pairs))
    shown = (rows[log.pairs] >= 0) & (ranks <= n_ranks)
    lists = np.bincount(log.list_queries, minlength=len(log.query_ids))[log.pair_queries]
    shares = sparse.csr_array(
        (1.0 / lists[log.pairs[shown]], (rows[log.pairs[shown]], ranks[shown] - 1)), (len(pairs), n_ranks)
    )
    return sums[pairs], shares
