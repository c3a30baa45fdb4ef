"""Agreement of judgments from clicks with judged labels."""

import itertools
from dataclasses import dataclass

import numpy as np

from core.clicks.joining import pairs_of
from core.clicks.judgments import Judgments
from core.clicks.log import ClickLog
from core.data import RankingDataset
from core.evaluation.intervals import mean_intervals
from core.types import Float64Array, Int64Array


@dataclass(frozen=True)
class Agreement:
    """Agreement of grades with judged labels.

    Attributes:
        kappa: Cohen's kappa of grades and labels as categories, or None where it is undefined.
        weighted_kappa: Kappa with quadratic weights (Cohen 1968), or None.
        queries: Queries with at least two different relevances and two different labels.
        kendall_tau: Mean over these queries of Kendall's tau-b between relevances and labels, or None.
        kendall_lower: Lower end of the 95% interval of the mean over queries, or None.
    """

    pairs: int
    kappa: float | None
    weighted_kappa: float | None
    queries: int
    kendall_tau: float | None
    kendall_lower: float | None
    kendall_upper: float | None


def agreement_with(judgments: Judgments, log: ClickLog, judged: RankingDataset) -> Agreement:
    """Return the agreement of judgments with the labels of a judged dataset.

    Args:
        judged: The judged dataset; negative and missing labels are ignored.
    """
    pairs = pairs_of(judged, log)
    labels = judged.labels.astype(np.float64)
    queries = np.repeat(np.arange(judged.n_queries), np.diff(judged.query_boundaries))
    has_both = (pairs >= 0) & (labels >= 0.0)
    has_both[has_both] = judgments.grades[pairs[has_both]] >= 0
    pairs, labels, queries = pairs[has_both], labels[has_both], queries[has_both]
    grades = judgments.grades[pairs].astype(np.float64)
    tau = _kendall_by_query(judgments.relevances[pairs], labels, queries)
    lower, upper = mean_intervals(tau[:, np.newaxis], (-1.0, 1.0)) if len(tau) else (None, None)
    return Agreement(
        pairs=len(pairs),
        kappa=cohen_kappa(grades, labels, squared=False),
        weighted_kappa=cohen_kappa(grades, labels, squared=True),
        queries=len(tau),
        kendall_tau=float(tau.mean()) if len(tau) else None,
        kendall_lower=None if lower is None else float(lower[0]),
        kendall_upper=None if upper is None else float(upper[0]),
    )


def cohen_kappa(first: Float64Array, second: Float64Array, *, squared: bool) -> float | None:
    """Return Cohen's kappa, 1 − observed / expected disagreement.

    Args:
        first: (n,) grades.
        second: (n,) other grades.
        squared: Whether disagreement is the squared difference; otherwise any difference is 1.

    Returns:
        Kappa, or None where the expected disagreement is 0 or there are no grades.

    Example:
        >>> cohen_kappa(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 1.0, 1.0, 1.0]), squared=False)
        0.5
    """
    if not len(first):
        return None
    if squared:
        observed = np.mean((first - second) ** 2)
        # The expectation of (x − y)² for independent grades.
        expected = float((first.mean() - second.mean()) ** 2 + first.var() + second.var())
    else:
        observed = np.mean(first != second)
        _, grades = np.unique(np.concatenate([first, second]), return_inverse=True)
        shares = [np.bincount(each, minlength=len(grades)) / len(first) for each in np.split(grades, 2)]
        expected = 1.0 - float(shares[0] @ shares[1])
    return None if expected == 0.0 else float(1.0 - observed / expected)


def _kendall_by_query(first: Float64Array, second: Float64Array, queries: Int64Array) -> Float64Array:
    from scipy import stats  # its import takes a second

    cuts = np.flatnonzero(np.diff(queries, prepend=-1, append=-1))
    taus = [
        stats.kendalltau(first[start:stop], second[start:stop]).statistic
        for start, stop in itertools.pairwise(cuts)
        if np.ptp(first[start:stop]) > 0.0 and np.ptp(second[start:stop]) > 0.0
    ]
    return np.array(taus, np.float64)
