"""Judgments from a click model: grades of documents for queries, with their uncertainty."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from core.clicks.judgment_options import JudgmentSpec
from core.clicks.models.intervals import Prior, posterior, quantiles
from core.clicks.models.layout import CLICKED, EXAMINED, SATISFIED
from core.clicks.models.model import ClickModel
from core.errors import InvalidInput
from core.types import Float64Array, Int32Array

_NOT_JUDGED = -1
_MAX_PRIOR_COUNT = 1e6  # pseudo-counts of a prior if pairs differ only by chance
_MIN_PRIOR_COUNT = 1.0  # as Jeffreys' prior, for pairs that vary more than any prior explains


@dataclass(frozen=True)
class Judgments:
    """Grades of the pairs of a log.

    Attributes:
        grades: (n_pairs,) grades from 0, -1 for pairs that are not judged.
        relevances: (n_pairs,) relevances.
        lower: (n_pairs,) lower ends of their 95% intervals.
        upper: (n_pairs,) upper ends.
        impressions: (n_pairs,) impressions.
        cuts: Relevances above which the grades 1, 2, … begin, ascending.
    """

    grades: Int32Array
    relevances: Float64Array
    lower: Float64Array
    upper: Float64Array
    impressions: Float64Array
    cuts: tuple[float, ...]

    def grade_ends(self) -> tuple[Int32Array, Int32Array]:
        """Return the grades of the ends of the intervals, undefined for pairs that are not judged."""
        lower, upper = (
            np.searchsorted(self.cuts, ends).astype(np.int32) for ends in (self.lower, self.upper)
        )
        return lower, upper

    def to_json(self) -> dict[str, Any]:
        """Return the numbers of pairs that are judged, left out and in each grade; the cuts; `certain_share`.

        `certain_share` is the share of judged pairs whose interval has the same grade at both ends.
        """
        judged = self.grades != _NOT_JUDGED
        lower, upper = self.grade_ends()
        counts = np.bincount(self.grades[judged], minlength=len(self.cuts) + 1)
        return {
            "judged": int(judged.sum()),
            "left_out": int((~judged & (self.impressions > 0)).sum()),
            "cuts": list(self.cuts),
            "by_grade": counts.tolist(),
            "certain_share": float((lower == upper)[judged].mean()) if judged.any() else 0.0,
        }


def judge_clicks(model: ClickModel, spec: JudgmentSpec | None = None) -> Judgments:
    """Grade the pairs of a log by their relevance in a click model.

    A relevance equal to a cut has the lower grade. Shrinkage is empirical Bayes. The prior of all pairs is a
    beta distribution (gamma for `coec`). It is fitted by moments to the variation of judged pairs beyond
    chance (Kleinman 1973). Attractiveness and satisfaction have separate priors.

    Args:
        spec: Options of grading, or None for the defaults.

    Raises:
        InvalidInput: No pair has enough impressions.
    """
    spec = JudgmentSpec() if spec is None else spec
    judged = model.impressions >= spec.min_impressions
    if not judged.any():
        max_impressions = int(model.impressions.max(initial=0))
        raise InvalidInput.at(
            "/min_impressions",
            f"no query-document pair has so many impressions; the maximum is {max_impressions}",
        )
    mean, variance = posterior(model, *(_priors(model, judged) if spec.shrink else (None, None)))
    if model.relevance_variance is not None:
        # Raise the variance to that of the bootstrap: users differ, and shared parameters are estimates.
        _, posterior_variance = posterior(model)
        variance = variance * np.maximum(1.0, model.relevance_variance / posterior_variance)
    interval = quantiles(model, mean, variance)
    relevances = mean if spec.shrink else model.relevance
    cuts = np.quantile(relevances[judged], spec.quantiles or ()) if spec.cuts is None else np.array(spec.cuts)
    grades = np.where(judged, np.searchsorted(cuts, relevances), _NOT_JUDGED).astype(np.int32)
    return Judgments(
        grades=grades,
        relevances=relevances,
        lower=interval.lower,
        upper=interval.upper,
        impressions=model.impressions,
        cuts=tuple(cuts.tolist()),
    )


def _priors(model: ClickModel, judged: Any) -> tuple[Prior, Prior | None]:
    sums = model.sums.values[judged]
    if model.spec.model == "coec":
        return gamma_prior(sums[:, CLICKED], sums[:, EXAMINED]), None
    attraction = beta_prior(sums[:, CLICKED], sums[:, EXAMINED])
    if model.parameters.satisfaction is None:
        return attraction, None
    return attraction, beta_prior(sums[:, SATISFIED], sums[:, CLICKED])


def beta_prior(successes: Float64Array, trials: Float64Array) -> Prior:
    """Return the pseudo-counts of a beta prior by the moments of proportions (Kleinman 1973).

    Without trials, both are 1.

    Args:
        successes: (n,) successes.
        trials: (n,) trials; entries without trials are ignored.
    """
    successes, trials = successes[trials > 0.0], trials[trials > 0.0]
    total = trials.sum()
    if not total:
        return 1.0, 1.0
    mean = min(max(float(successes.sum() / total), 1e-6), 1.0 - 1e-6)
    spread = float((trials * (successes / trials - mean) ** 2).sum()) / (mean * (1.0 - mean))
    shares = 1.0 - trials / total
    # The expected spread is sum(shares) + correlation * factor.
    factor = float((shares * (trials - 1.0)).sum())
    correlation = (spread - float(shares.sum())) / factor if factor > 0.0 else 0.0
    strength = 1.0 / correlation - 1.0 if correlation > 0.0 else _MAX_PRIOR_COUNT
    strength = min(max(strength, _MIN_PRIOR_COUNT), _MAX_PRIOR_COUNT)
    return mean * strength, (1.0 - mean) * strength


def gamma_prior(clicks: Float64Array, expected: Float64Array) -> Prior:
    """Return the pseudo-counts of clicks and expected clicks of a gamma prior by moments.

    Without expected clicks, both are 1.

    Args:
        clicks: (n,) clicks.
        expected: (n,) expected clicks; entries without expected clicks are ignored.
    """
    clicks, expected = clicks[expected > 0.0], expected[expected > 0.0]
    total = expected.sum()
    if not total:
        return 1.0, 1.0
    mean = max(float(clicks.sum() / total), 1e-6)
    spread = float((expected * (clicks / expected - mean) ** 2).sum())
    # The expected spread is mean * (n - 1) + variance * factor.
    factor = float(total - (expected**2).sum() / total)
    variance = (spread - mean * (len(clicks) - 1)) / factor if factor > 0.0 else 0.0
    rate = (
        min(max(mean / variance, _MIN_PRIOR_COUNT), _MAX_PRIOR_COUNT) if variance > 0.0 else _MAX_PRIOR_COUNT
    )
    return mean * rate, rate
