"""Propensities: the probability that a rank is examined, relative to that of rank 1."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from core.clicks.harvesting import adjacent, all_pairs, contrasts, pivot
from core.clicks.impressions import Impressions, impressions_of
from core.clicks.log import ClickLog
from core.clicks.regression import regression_em, require_clicks_at_each_rank
from core.clicks.trust import trust_em
from core.errors import InvalidInput
from core.evaluation.bootstrap import deviations_of_interval
from core.parameters import Names, check, parameter
from core.types import BoolArray, Float32Array, Float64Array, Int32Array, OnProgress

_NORMAL_95 = 1.96  # standard deviations from the mean of a normal distribution to the ends of 95%
_MIN_ORDERED_SHARE = 0.1
_MAX_P_OF_ORDER = 1e-6  # probability of as much order in shuffled lists
_HARVESTING_METHODS: Mapping[str, Callable[[Float64Array, Float64Array], Float64Array]] = MappingProxyType(
    {"pivot": pivot, "adjacent": adjacent, "all-pairs": all_pairs}
)
# Methods that predict relevance from the features of documents.
FEATURE_METHODS = ("regression-em", "trust-em")
METHODS = ("shuffled", *_HARVESTING_METHODS, *FEATURE_METHODS)
Counts = tuple[Float64Array, Float64Array]  # impressions and clicks, (n_pairs, n_ranks) each


@dataclass(frozen=True)
class PropensityPlan:
    """Options of an estimate of propensities.

    Raises:
        InvalidInput: With one problem per option that is out of bounds.
    """

    method: str = parameter(
        "all-pairs",
        "`shuffled`: click rates by rank of lists in random order; `pivot`, `adjacent`, `all-pairs`:"
        " documents shown at several ranks; `regression-em`: relevance predicted from features; `trust-em`:"
        " the same, with the probability of a click on an irrelevant document, for the affine correction",
        choices=METHODS,
    )
    positions: int = parameter(10, "Number of ranks to estimate, from rank 1", minimum=2, maximum=100)
    versions: Names | None = parameter(
        None, "Model versions whose lists are used, such as those with randomised ranks"
    )
    classifier: str = parameter(
        "trees", "Relevance model of regression-em and trust-em", choices=("trees", "logistic")
    )
    iterations: int = parameter(
        100, "Number of EM iterations of regression-em and trust-em", minimum=1, maximum=1000
    )
    irrelevant_share: float = parameter(
        0.1,
        "Share of impressions with the lowest predicted relevance to treat as irrelevant, for trust-em",
        minimum=0.001,
        maximum=0.5,
    )
    resamples: int = parameter(
        100,
        "Number of bootstrap resamples of users, or of lists, for the intervals; 0 for no intervals",
        minimum=0,
        maximum=1000,
    )
    seed: int = parameter(0, "Seed of the bootstrap resamples", minimum=0, maximum=2**31 - 1)

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True, eq=False)
class Propensities:
    """Estimated propensities.

    Attributes:
        method: One of `METHODS`.
        values: (n_ranks,) propensities relative to rank 1, whose value is 1.
        lower: (n_ranks,) lower ends of 95% intervals, NaN with fewer than two resamples, or one user.
        upper: (n_ranks,) upper ends.
        impressions: (n_ranks,) number of used impressions.
        units: Resampled units: `users` or `lists`.
        failed_resamples: Number of resamples that allow no estimate, such as those without clicks at a rank.
        intercepts: (n_ranks,) probability of a click on an irrelevant document, for `trust-em`; else None.
        intercepts_lower: (n_ranks,) lower ends of their intervals, or None.
        intercepts_upper: (n_ranks,) upper ends, or None.
        rank_by_document: Share of the variance of ranks that the document explains where `shuffled` finds
            lists that are not in random order; else 0.
    """

    method: str
    values: Float64Array
    lower: Float64Array
    upper: Float64Array
    impressions: Float64Array
    n_pairs: int
    units: str
    failed_resamples: int = 0
    intercepts: Float64Array | None = None
    intercepts_lower: Float64Array | None = None
    intercepts_upper: Float64Array | None = None
    rank_by_document: float = 0.0

    @property
    def summary(self) -> str:
        """Return a sentence on the last rank, and warnings of rising propensities and of ordered lists.

        For `trust-em`, the sentence is on the intercepts, without a warning.
        """
        if self.intercepts is not None:
            return self._affine_summary(self.intercepts)
        last = len(self.values)
        interval = "" if np.isnan(self.lower[-1]) else f" ({self.lower[-1]:.3f} to {self.upper[-1]:.3f})"
        text = f"Rank {last} is examined {self.values[-1]:.3f}{interval} times as often as rank 1."
        rising = np.flatnonzero(self.lower[1:] > self.upper[:-1])
        if len(rising):
            text += (
                f" Rank {rising[0] + 2} seems to be examined more than the rank above it: check rank_base of"
                " the log, and whether something besides the rank influences clicks."
            )
        if self.rank_by_document:
            text += (
                " The lists are not in random order: the document explains"
                f" {self.rank_by_document:.0%} of the variance of ranks, so that the rates mix examination"
                " with relevance. Name shuffled versions in `versions`, or use pivot, adjacent or all-pairs."
            )
        return text

    def with_intercepts(
        self, intercepts: Float64Array, resamples: list[Float64Array], n_units: int
    ) -> "Propensities":
        """Return the propensities with intercepts and the intervals of intercepts from resamples."""
        width: Float64Array | float = np.nan
        if len(resamples) > 1:
            width = deviations_of_interval(n_units) * np.std(resamples, axis=0, ddof=1)
        return replace(
            self,
            intercepts=intercepts,
            intercepts_lower=np.clip(intercepts - width, 0.0, 1.0),
            intercepts_upper=np.clip(intercepts + width, 0.0, 1.0),
        )

    def _affine_summary(self, intercepts: Float64Array) -> str:
        last = len(intercepts)
        return (
            f"An irrelevant document is clicked with probability {intercepts[0]:.3f} at rank 1 and"
            f" {intercepts[-1]:.3f} at rank {last}, where relevance adds {self.values[-1]:.3f} times as many"
            " clicks as at rank 1."
        )


def estimate_propensities(
    log: ClickLog,
    plan: PropensityPlan,
    features: Float32Array | None = None,
    on_resample: OnProgress = lambda _done, _total: None,
    threads: int = 1,
) -> Propensities:
    """Estimate the propensities of the first ranks.

    Intervals assume that ln p is normally distributed with the standard deviation of the resamples, and are
    wider for few users; intervals of intercepts assume this of the intercept itself. The bootstrap resamples
    users, or lists in logs without users. All methods but `trust-em` assume that the probability of a click
    is examination by rank times relevance. No method is valid for cascades, where
    examination depends on the documents above.

    Args:
        features: (n_pairs, n_features) features of the log's pairs, for `FEATURE_METHODS`; rows of only NaN
            are ignored.
        on_resample: Called with the estimates done and their total; may raise to stop.

    Raises:
        InvalidInput: All impressions are at rank 1, no document moved between ranks, or a rank has too few
            clicks. Also for an unknown version, and features that are missing or predict no clicks.
    """
    if log.max_rank < 2:
        raise InvalidInput.at(
            "/positions", "all impressions of the log are at rank 1; at least two ranks are needed"
        )
    n_ranks = min(plan.positions, log.max_rank)
    has_features = _has_features(log, plan, features)
    is_shuffled = plan.method == "shuffled"
    used = impressions_of(
        log,
        n_ranks,
        moved_only=has_features is None and not is_shuffled,
        complete_only=is_shuffled,
        versions=plan.versions or (),
        allowed=has_features,
    )
    n_pairs, rank_by_document = len(used.pairs), 0.0
    is_fixed = has_features is None and not n_pairs
    if is_shuffled:
        repeated = used.repeated()
        shown, _ = repeated.counts()
        has_moved = np.count_nonzero(shown, axis=1).max(initial=0) > 1
        chance = float(n_ranks) ** float(len(shown) - shown.sum())  # that no repeated document moves
        is_fixed |= not has_moved and chance < _MAX_P_OF_ORDER
        rank_by_document = _rank_by_document(shown, log.pair_queries[repeated.pairs])
        used = used.merged()
    if is_fixed:
        raise InvalidInput.at(
            "/method",
            "no document was shown at more than one rank, so that examination and relevance cannot be"
            " separated: use regression-em, which predicts relevance from features, or randomise ranks for"
            " a while",
        )
    fit = _fit(plan, used, features, threads)
    shown, clicked = used.counts()
    estimate = fit((shown, clicked))
    n_resamples = plan.resamples if used.n_units > 1 else 0  # resamples of one user are equal
    total = n_resamples + 1
    on_resample(1, total)
    resamples, failed = [], 0
    for number in range(n_resamples):
        stream = np.random.default_rng([plan.seed, number])
        drawn = np.bincount(stream.integers(used.n_units, size=used.n_units), minlength=used.n_units)
        try:
            resamples.append(fit(used.counts(drawn.astype(np.float64))))
        except InvalidInput:
            failed += 1
        on_resample(number + 2, total)
    values = Propensities(
        plan.method,
        estimate[0],
        *_interval(estimate[0], [each[0] for each in resamples], used.n_units),
        shown.sum(axis=0),
        n_pairs,
        "lists" if log.list_users is None else "users",
        failed,
        rank_by_document=rank_by_document,
    )
    if len(estimate) == 1:
        return values
    return values.with_intercepts(estimate[1], [each[1] for each in resamples], used.n_units)


def error_of(estimated: Float64Array, true: Float64Array) -> float:
    """Return mean (1 / p − 1 / p̂)² over the ranks, the error of inverse propensity weights (PropEst)."""
    return float(np.mean((1.0 / true - 1.0 / estimated) ** 2))


def relative_errors(lower: Sequence[float], upper: Sequence[float]) -> list[float]:
    """Return the standard errors of ln p by rank, given the 95% intervals of the propensities p."""
    return (np.log(np.divide(upper, lower)) / (2.0 * _NORMAL_95)).tolist()  # type: ignore[no-any-return]


def _has_features(log: ClickLog, plan: PropensityPlan, features: Float32Array | None) -> BoolArray | None:
    """Return whether each pair has features, (n_pairs,); None for methods that need no features."""
    if plan.method not in FEATURE_METHODS:
        return None
    if features is None or len(features) != log.n_pairs:
        raise InvalidInput.at("/dataset_id", f"{plan.method} needs the features of the documents")
    has_features: BoolArray = np.logical_not(np.isnan(features).all(axis=1))
    return has_features


def _fit(
    plan: PropensityPlan, used: Impressions, features: Float32Array | None, threads: int
) -> Callable[[Counts], Float64Array]:
    """Return the estimator, a function of counts.

    The estimator returns one row of propensities and, for `trust-em`, one row of intercepts.
    """
    if plan.method == "shuffled":
        return lambda counts: _rates(counts)[np.newaxis]
    if features is None or plan.method not in FEATURE_METHODS:
        return lambda counts: _HARVESTING_METHODS[plan.method](*contrasts(*counts))[np.newaxis]
    if not len(used.pairs):
        raise InvalidInput.at("/dataset_id", "has no features of any document of the log")
    used_features = np.ascontiguousarray(features[used.pairs])
    options: dict[str, Any] = {"iterations": plan.iterations, "threads": threads}

    def fitted(counts: Counts) -> Float64Array:
        if plan.method == "regression-em":
            estimate = regression_em(*counts, used_features, plan.classifier, **options)
            return estimate.propensities[np.newaxis]
        share = plan.irrelevant_share
        affine = trust_em(*counts, used_features, plan.classifier, irrelevant_share=share, **options)
        return np.stack([affine.slopes, affine.intercepts])

    return fitted


def _rates(counts: Counts) -> Float64Array:
    """Return click rates by rank relative to rank 1."""
    shown, clicked = (each.sum(axis=0) for each in counts)
    require_clicks_at_each_rank(clicked)
    rates = clicked / shown
    relative: Float64Array = rates / rates[0]
    return relative


def _rank_by_document(shown: Float64Array, queries: Int32Array) -> float:
    """Return the share of the variance of ranks that the document explains, or 0 for lists in random order.

    The share is ω² of a one-way analysis of variance within queries, with Fisher's test. Chance gives 0 on
    average; a significant share below a tenth is ignored, as repeated lists of a user also cause it.

    Args:
        shown: (n_pairs, n_ranks) impressions.
        queries: (n_pairs,) query of each pair.
    """
    ranks = np.arange(1, shown.shape[1] + 1)
    impressions = shown.sum(axis=1)
    sums = shown @ ranks
    with np.errstate(invalid="ignore"):  # queries without pairs
        centres = (np.bincount(queries, sums) / np.bincount(queries, impressions))[queries]
    between = float((impressions * (sums / impressions - centres) ** 2).sum())
    total = float((shown * (ranks - centres[:, np.newaxis]) ** 2).sum())
    freedom, rest = len(shown) - len(np.unique(queries)), impressions.sum() - len(shown)
    within = (total - between) / max(1.0, rest)
    if not freedom or within <= 0.0:
        return 0.0
    from scipy import special

    share = (between - freedom * within) / (total + within)
    p = special.fdtrc(freedom, rest, between / (freedom * within))
    return share if share > _MIN_ORDERED_SHARE and p < _MAX_P_OF_ORDER else 0.0


def _interval(
    values: Float64Array, resamples: list[Float64Array], n_units: int
) -> tuple[Float64Array, Float64Array]:
    if len(resamples) < 2:
        return np.full(len(values), np.nan), np.full(len(values), np.nan)
    width = deviations_of_interval(n_units) * np.std(np.log(resamples), axis=0, ddof=1)
    return values * np.exp(-width), values * np.exp(width)
