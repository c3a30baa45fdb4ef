"""Propensities: the probability that a rank is examined, relative to that of rank 1."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from core.clicks.harvesting import adjacent, all_pairs, contrasts, pivot
from core.clicks.log import ClickLog
from core.clicks.moves import Impressions, impressions_of
from core.clicks.regression import regression_em
from core.errors import InvalidInput
from core.parameters import Names, check, parameter
from core.types import Float32Array, Float64Array

_NORMAL = 1.959964  # 97.5% quantile
_HARVESTS: Mapping[str, Callable[[Float64Array, Float64Array], Float64Array]] = MappingProxyType(
    {"pivot": pivot, "adjacent": adjacent, "all-pairs": all_pairs}
)
METHODS = ("shuffled", *_HARVESTS, "regression-em")
Table = tuple[Float64Array, Float64Array]


@dataclass(frozen=True)
class PropensityPlan:
    """An estimate of propensities.

    Raises:
        InvalidInput: With one problem a field that is out of bounds.
    """

    method: str = parameter(
        "all-pairs",
        "`shuffled`: click rates by rank of lists in random order; `pivot`, `adjacent`, `all-pairs`:"
        " documents shown at several ranks; `regression-em`: relevance predicted from features",
        choices=METHODS,
    )
    positions: int = parameter(10, "Ranks from 1", minimum=2, maximum=100)
    versions: Names | None = parameter(
        None, "Versions of the model whose lists count, those with randomised ranks for example"
    )
    classifier: str = parameter("trees", "Model of relevance of regression-em", choices=("trees", "logistic"))
    iterations: int = parameter(100, "Iterations of regression-em", minimum=1, maximum=1000)
    resamples: int = parameter(
        100, "Resamples of users, or of lists, for the intervals; 0 for none", minimum=0, maximum=1000
    )
    seed: int = parameter(0, "Seed of the resamples", minimum=0, maximum=2**31 - 1)

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True, eq=False)
class Propensities:
    """Estimated propensities.

    Attributes:
        method: One of `METHODS`.
        values: (n_ranks,) relative to rank 1, which has 1.
        lower: (n_ranks,) lower ends of 95% intervals, NaN without resamples.
        upper: (n_ranks,) upper ends.
        impressions: (n_ranks,) impressions that were used.
        n_pairs: Pairs that were used.
        units: What was resampled: `users` or `lists`.
        failed_resamples: Resamples without an estimate, for lack of clicks.
    """

    method: str
    values: Float64Array
    lower: Float64Array
    upper: Float64Array
    impressions: Float64Array
    n_pairs: int
    units: str
    failed_resamples: int = 0

    @property
    def summary(self) -> str:
        """Return a sentence on the last rank, and a warning where lower ranks seem examined more."""
        last = len(self.values)
        interval = "" if np.isnan(self.lower[-1]) else f" ({self.lower[-1]:.3f} to {self.upper[-1]:.3f})"
        text = f"Rank {last} is examined {self.values[-1]:.3f}{interval} times as often as rank 1."
        rising = np.flatnonzero(self.lower[1:] > self.upper[:-1])
        if len(rising):
            text += (
                f" Rank {rising[0] + 2} seems to be examined more than the rank above it: check the rank base"
                " of the log, and whether clicks depend on the rank alone."
            )
        return text


def estimate_propensities(
    log: ClickLog,
    plan: PropensityPlan,
    features: Float32Array | None = None,
    on_resample: Callable[[int, int], None] = lambda _done, _total: None,
    threads: int = 1,
) -> Propensities:
    """Estimate the propensities of the first ranks.

    Intervals are those of a normal distribution of ln p with the standard deviation of the resamples
    (bootstrap over users, or over lists where the log has no users). All methods take clicks for the product
    of examination by rank and relevance: what users of a cascade examine depends on the documents above.

    Args:
        log: The log.
        plan: Method and its options.
        features: (n_pairs, n_features) of the pairs of the log, for `regression-em`; rows of NaN alone are
            left out.
        on_resample: Called with the estimates done and their total; may raise to stop.
        threads: Threads of the classifier.

    Raises:
        InvalidInput: Ranks never move, ranks have no clicks, or features are missing.
    """
    if log.max_rank < 2:
        raise InvalidInput.at("/positions", "the log has no impression below rank 1")
    n_ranks = min(plan.positions, log.max_rank)
    is_shuffled, is_regression = plan.method == "shuffled", plan.method == "regression-em"
    used = impressions_of(
        log, n_ranks, moving=not is_regression, whole=is_shuffled, versions=plan.versions or ()
    )
    if not is_regression and not len(used.pairs):
        raise InvalidInput.at(
            "/method",
            "no document was shown at two ranks, so that examination and relevance cannot be separated:"
            " use regression-em, which predicts relevance from features, or randomise ranks for a while",
        )
    fit = _fit(log, plan, used, features, threads)
    shown, clicked = used.counts()
    values = fit((shown, clicked))
    total = plan.resamples + 1
    on_resample(1, total)
    resamples, failed = [], 0
    for number in range(plan.resamples):
        stream = np.random.default_rng([plan.seed, number])
        drawn = np.bincount(stream.integers(used.n_units, size=used.n_units), minlength=used.n_units)
        try:
            resamples.append(fit(used.counts(drawn.astype(np.float64))))
        except InvalidInput:
            failed += 1
        on_resample(number + 2, total)
    lower, upper = _interval(values, resamples)
    units = "lists" if log.list_users is None else "users"
    return Propensities(plan.method, values, lower, upper, shown.sum(axis=0), len(used.pairs), units, failed)


def error_of(estimated: Float64Array, true: Float64Array) -> float:
    """Return mean (1 / p − 1 / p̂)² over the ranks, the error of inverse propensity weights (PropEst)."""
    return float(np.mean((1.0 / true - 1.0 / estimated) ** 2))


def _fit(
    log: ClickLog, plan: PropensityPlan, used: Impressions, features: Float32Array | None, threads: int
) -> Callable[[Table], Float64Array]:
    if plan.method == "shuffled":
        return _rates
    if plan.method != "regression-em":
        return lambda table: _HARVESTS[plan.method](*contrasts(*table))
    if features is None or len(features) != log.n_pairs:
        raise InvalidInput.at("/dataset_id", "regression-em needs the features of the documents")
    described = features[used.pairs]
    has_features = ~np.isnan(described).all(axis=1)
    if not has_features.any():
        raise InvalidInput.at("/dataset_id", "has no features of any document of the log")
    described = np.ascontiguousarray(described[has_features])

    def fitted(table: Table) -> Float64Array:
        shown, clicked = (each[has_features] for each in table)
        return regression_em(
            shown, clicked, described, plan.classifier, iterations=plan.iterations, threads=threads
        ).propensities

    return fitted


def _rates(table: Table) -> Float64Array:
    """Return click rates by rank relative to that of rank 1."""
    shown, clicked = (each.sum(axis=0) for each in table)
    if not clicked.all():
        rank = int(np.flatnonzero(clicked == 0.0)[0]) + 1
        raise InvalidInput.at("/positions", f"there is no click at rank {rank}; lower positions")
    rates = clicked / shown
    relative: Float64Array = rates / rates[0]
    return relative


def _interval(values: Float64Array, resamples: list[Float64Array]) -> tuple[Float64Array, Float64Array]:
    if len(resamples) < 2:
        return np.full(len(values), np.nan), np.full(len(values), np.nan)
    width = _NORMAL * np.std(np.log(resamples), axis=0, ddof=1)
    return values * np.exp(-width), values * np.exp(width)
