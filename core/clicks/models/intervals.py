"""95% intervals of a click model, by bootstrap over users and by the counts of each pair."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from core.clicks.models.layout import QueryBlocks
from core.clicks.models.model import ClickModel, Interval
from core.clicks.models.sums import CLICKED, EXAMINED, SATISFIED, SUCCESSES, TRIALS
from core.types import Float64Array, Int32Array

Report = Callable[[str, int, int], None]
_Z = 1.959963984540054  # 97.5% quantile of the standard normal distribution
_LEVELS = 0.025, 0.975
_JEFFREYS = 0.5  # least pseudo-count of an interval: without, a pair without clicks has none
_EDGE = 1e-9  # distance of a probability from 0 and 1 on the logit scale


def with_intervals(
    model: ClickModel, lists: QueryBlocks, weights: Float64Array, report: Report
) -> ClickModel:
    """Return the model with 95% intervals.

    Users are drawn with replacement, lists where the log has no users, and the model is estimated again.
    Shared parameters have normal intervals on the logit scale, ratios on the log scale, with the deviation
    over resamples. The relevance of a pair has the quantiles of a beta distribution with the mean of its
    estimate and the greater of two variances: over resamples, and of its posterior given the counts. The
    latter holds up where a pair has too few clicks for resamples to differ. `coec` has a gamma distribution.

    Args:
        model: The estimated model.
        lists: The lists.
        weights: (n_lists,) how often each list counts, in the order of the blocks.
        report: Called with a step, its resamples so far and in all; it may raise to cancel.
    """
    from core.clicks.models.fitting import estimate

    shared: dict[str, list[Float64Array]] = {name: [] for name in model.shared()}
    mean, squares = np.zeros(lists.log.n_pairs), np.zeros(lists.log.n_pairs)
    generator = np.random.default_rng(model.spec.seed)
    for done in range(model.spec.resamples):
        report("resamples", done, model.spec.resamples)
        drawn = weights * lists.in_order(_draw(lists.log.list_users, lists.log.n_lists, generator))
        fitted = estimate(lists, model.spec, drawn)
        for name, values in fitted.shared().items():
            shared[name].append(_scale(name, values))
        difference = fitted.relevance - mean
        mean += difference / (done + 1)
        squares += difference * (fitted.relevance - mean)
    report("resamples", model.spec.resamples, model.spec.resamples)
    variance = squares / max(1, model.spec.resamples - 1)
    return replace(
        model,
        relevance_interval=relevance_interval(model, variance),
        intervals={
            name: _shared_interval(name, values, np.array(shared[name]))
            for name, values in model.shared().items()
        },
    )


def relevance_interval(model: ClickModel, variance: Float64Array | float = 0.0) -> Interval:
    """Return the 95% interval of each pair's relevance.

    Args:
        model: The model.
        variance: (n_pairs,) variances over resamples, or 0 for the counts alone.
    """
    from scipy import special  # its import takes a tenth of a second

    if model.spec.model == "coec":
        expected = model.sums.values[:, TRIALS] + max(model.spec.prior[0], _JEFFREYS)
        clicks = model.sums.values[:, SUCCESSES] + max(model.spec.prior[0], _JEFFREYS)
        mean = clicks / expected
        shape = mean**2 / np.maximum(mean / expected, variance)
        ends = [special.gammaincinv(shape, level) * mean / shape for level in _LEVELS]
        return Interval(*ends)
    mean, counted = _moments(model)
    most = mean * (1.0 - mean) * (1.0 - _EDGE)  # no distribution on 0..1 has a greater variance
    size = mean * (1.0 - mean) / np.minimum(np.maximum(counted, variance), most) - 1.0
    ends = [special.betaincinv(mean * size, (1.0 - mean) * size, level) for level in _LEVELS]
    return Interval(*ends)


def _moments(model: ClickModel) -> tuple[Float64Array, Float64Array]:
    """Return mean and variance of each relevance, given the counts and the shared parameters."""
    sums, prior = model.sums.values, tuple(max(count, _JEFFREYS) for count in model.spec.prior)
    successes = sums[:, CLICKED] + prior[0]
    failures = np.maximum(sums[:, EXAMINED] - sums[:, CLICKED], 0.0) + prior[1]
    mean, second = _beta_moments(successes, failures)
    if model.parameters.satisfaction is not None:
        satisfied = sums[:, SATISFIED] + prior[0]
        went_on = np.maximum(sums[:, CLICKED] - sums[:, SATISFIED], 0.0) + prior[1]
        of_satisfaction = _beta_moments(satisfied, went_on)
        mean, second = mean * of_satisfaction[0], second * of_satisfaction[1]
    relative = second / mean**2 - 1.0  # variance by squared mean
    held = np.clip(np.where(min(model.spec.prior) > 0.0, model.relevance, mean), _EDGE, 1.0 - _EDGE)
    return held, relative * held**2


def _beta_moments(successes: Float64Array, failures: Float64Array) -> tuple[Float64Array, Float64Array]:
    total = successes + failures
    mean = successes / total
    return mean, mean * (successes + 1.0) / (total + 1.0)


def _draw(users: Int32Array | None, n_lists: int, generator: np.random.Generator) -> Float64Array:
    """Return how often each list is drawn."""
    n_units = n_lists if users is None else int(users.max()) + 1
    counts = np.bincount(generator.integers(0, n_units, n_units), minlength=n_units).astype(np.float64)
    return counts if users is None else counts[users]


def _scale(name: str, values: Float64Array) -> Float64Array:
    if name == "relative_examination":
        return np.log(np.maximum(values, _EDGE))
    held = np.clip(values, _EDGE, 1.0 - _EDGE)
    return np.log(held / (1.0 - held))


def _shared_interval(name: str, values: Float64Array, resampled: Float64Array) -> Interval:
    centre = _scale(name, values)
    width = _Z * (resampled.std(axis=0, ddof=1) if len(resampled) > 1 else np.zeros_like(values))
    lower, upper = centre - width, centre + width
    if name == "relative_examination":
        return Interval(np.exp(lower), np.exp(upper))
    return Interval(1.0 / (1.0 + np.exp(-lower)), 1.0 / (1.0 + np.exp(-upper)))
