"""95% intervals of a click model, by bootstrap over users and by the posterior of each pair."""

from dataclasses import replace

import numpy as np

from core.clicks.log import ClickLog
from core.clicks.models.estimation import estimate
from core.clicks.models.layout import CLICKED, EXAMINED, SATISFIED, QueryBlocks
from core.clicks.models.model import ClickModel, Interval
from core.evaluation.bootstrap import deviations_of_interval
from core.types import Float64Array, OnPhaseProgress

Prior = tuple[float, float]
_Z_SCORE = 1.959963984540054  # 97.5% quantile of the standard normal distribution
_LEVELS = 0.025, 0.975
_MIN_PSEUDO_COUNT = 0.5  # Jeffreys' prior, so that a pair without clicks has an interval
_EDGE = 1e-9  # minimum distance of a probability from 0 and 1, so that its logit is finite


def with_intervals(
    model: ClickModel, lists: QueryBlocks, weights: Float64Array, report: OnPhaseProgress
) -> ClickModel:
    """Return the model with the variances and 95% intervals of a bootstrap.

    Users (lists in a log without users) are drawn with replacement, and the model is estimated again. Shared
    parameters have normal intervals on the logit scale, ratios on the log scale, with the standard deviation
    over resamples. For few users, these and the variances are greater, see `deviations_of_interval`.

    Args:
        model: The estimated model, with at least two resamples.
        weights: (n_lists,) weight of each list, in the order of the blocks.
        report: Called with a step, the number of resamples done and their total; may raise to stop.
    """
    shared: dict[str, list[Float64Array]] = {name: [] for name in model.shared()}
    mean, squares = np.zeros(lists.log.n_pairs), np.zeros(lists.log.n_pairs)
    generator = np.random.default_rng(model.spec.seed)
    for done in range(model.spec.resamples):
        report("resamples", done, model.spec.resamples)
        drawn = weights * lists.in_order(_draw(lists.log, generator))
        fitted = estimate(lists, model.spec, drawn)
        for name, values in fitted.shared().items():
            shared[name].append(_on_interval_scale(name, values))
        difference = fitted.relevance - mean
        mean += difference / (done + 1)
        squares += difference * (fitted.relevance - mean)
    report("resamples", model.spec.resamples, model.spec.resamples)
    deviations = deviations_of_interval(lists.log.n_units)
    intervals = {
        name: _shared_interval(name, values, deviations * np.std(shared[name], axis=0, ddof=1))
        for name, values in model.shared().items()
    }
    variance = squares / (model.spec.resamples - 1) * (deviations / _Z_SCORE) ** 2
    return replace(model, relevance_variance=variance, intervals=intervals)


def posterior(
    model: ClickModel, attraction: Prior | None = None, satisfaction: Prior | None = None
) -> tuple[Float64Array, Float64Array]:
    """Return mean and variance of each pair's relevance given its counts and the shared parameters.

    Args:
        attraction: Pseudo-counts of attractive and other examinations; for `coec`, of clicks and expected
            clicks. None for the model's pseudo-counts, raised to at least 0.5. The mean is then the model's
            estimate, unless a pseudo-count is 0 or, for `coec`, below 0.5.
        satisfaction: Pseudo-counts of satisfied and other clicks. None for the model's pseudo-counts,
            raised to at least 0.5.
    """
    sums, prior = model.sums.values, tuple(max(count, _MIN_PSEUDO_COUNT) for count in model.spec.prior)
    clicks, examined = sums[:, CLICKED], sums[:, EXAMINED]
    if model.spec.model == "coec":
        shape, rate = attraction or (prior[0], prior[0])
        return (clicks + shape) / (examined + rate), (clicks + shape) / (examined + rate) ** 2
    mean, second = _beta_moments(clicks, examined - clicks, attraction or prior)
    if model.parameters.satisfaction is not None:
        satisfied = sums[:, SATISFIED]
        factors = _beta_moments(satisfied, clicks - satisfied, satisfaction or prior)
        mean, second = mean * factors[0], second * factors[1]
    relative_variance = second / mean**2 - 1.0
    if attraction is not None:
        mean = mean * model.first_examination
    elif min(model.spec.prior) > 0.0:
        mean = model.relevance
    mean = np.clip(mean, _EDGE, 1.0 - _EDGE)
    return mean, relative_variance * mean**2


def quantiles(model: ClickModel, mean: Float64Array, variance: Float64Array) -> Interval:
    """Return the 2.5% and 97.5% quantiles of distributions with the given means and variances.

    Args:
        model: The model; the distribution is gamma for `coec`, else beta.
        mean: (n_pairs,) means.
        variance: (n_pairs,) variances.
    """
    from scipy import special  # its import takes a tenth of a second

    if model.spec.model == "coec":
        shape = mean**2 / variance
        lower, upper = (special.gammaincinv(shape, level) * mean / shape for level in _LEVELS)
        return Interval(lower, upper)
    max_variance = mean * (1.0 - mean) * (1.0 - _EDGE)  # no distribution on 0..1 has a greater variance
    size = mean * (1.0 - mean) / np.minimum(variance, max_variance) - 1.0
    lower, upper = (special.betaincinv(mean * size, (1.0 - mean) * size, level) for level in _LEVELS)
    return Interval(lower, upper)


def _beta_moments(
    successes: Float64Array, failures: Float64Array, prior: Prior | tuple[float, ...]
) -> tuple[Float64Array, Float64Array]:
    """Return the means of x and x² of beta posteriors."""
    a, b = successes + prior[0], np.maximum(failures, 0.0) + prior[1]
    mean = a / (a + b)
    return mean, mean * (a + 1.0) / (a + b + 1.0)


def _draw(log: ClickLog, generator: np.random.Generator) -> Float64Array:
    """Return the number of times that each list is drawn, (n_lists,)."""
    n_units = log.n_units
    counts = np.bincount(generator.integers(0, n_units, n_units), minlength=n_units).astype(np.float64)
    return counts if log.list_users is None else counts[log.list_users]


def _on_interval_scale(name: str, values: Float64Array) -> Float64Array:
    """Return the logarithms of ratios, or the logits of probabilities."""
    if name == "relative_examination":
        return np.log(np.maximum(values, _EDGE))
    probabilities = np.clip(values, _EDGE, 1.0 - _EDGE)
    return np.log(probabilities / (1.0 - probabilities))


def _shared_interval(name: str, values: Float64Array, width: Float64Array) -> Interval:
    centre = _on_interval_scale(name, values)
    lower, upper = centre - width, centre + width
    if name == "relative_examination":
        return Interval(np.exp(lower), np.exp(upper))
    return Interval(1.0 / (1.0 + np.exp(-lower)), 1.0 / (1.0 + np.exp(-upper)))
