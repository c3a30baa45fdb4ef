"""Baselines: rankings without training, and tests of rankings against baselines."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from core.data import RankingDataset
from core.data.statistics import QueryLabels
from core.doctor.queries import sorted_findings
from core.doctor.report import Finding
from core.doctor.single_feature import rank_by_single_features
from core.evaluation.paired import SIGNIFICANCE, format_p, holm, queries_needed, verdict
from core.evaluation.randomisation import randomisation_p_values
from core.names import query_count
from core.types import Float64Array

_PERMUTATIONS = 10_000


@dataclass(frozen=True, eq=False)
class Baseline:
    """A baseline ranking.

    Attributes:
        scores: (n_documents,) scores.
        by_labels: Whether the order uses the labels; no ranking is tested against such a baseline.
    """

    name: str
    detail: str
    scores: Float64Array
    by_labels: bool = False


def baselines(dataset: RankingDataset, seed: int) -> list[Baseline]:
    """Return the baselines of a dataset.

    Args:
        seed: Seed of the random order, and of the sample of queries on which features are compared.

    Returns:
        The input order, a random order, and the single feature with the highest NDCG@10 on a sample of the
        queries, missing values last. The feature is omitted where the dataset has no numeric features, or
        NDCG is undefined for all queries.
    """
    return [
        _input_order(dataset),
        random_order(np.zeros(dataset.n_documents), seed),
        *_best_single_feature(dataset, seed),
    ]


def random_order(scores: Float64Array, seed: int) -> Baseline:
    """Return the baseline of a random order of the documents with a score; NaN for all others."""
    shuffled = np.where(np.isnan(scores), np.nan, np.random.default_rng(seed).random(len(scores)))
    return Baseline("random", f"seed {seed}", shuffled)


def baseline_findings(
    system: str,
    metric: str,
    values: Float64Array,
    baselines: Iterable[tuple[Baseline, Float64Array]],
    *,
    higher_is_better: bool = True,
    significance: float = SIGNIFICANCE,
    permutations: int = _PERMUTATIONS,
    seed: int = 0,
    threads: int = 1,
) -> list[Finding]:
    """Report the baselines that a ranking is worse than, or not significantly better than.

    Fisher's randomisation test decides, after Holm's correction over the baselines. If there are too few
    queries for any significant result, the finding is about the queries and not about the ranking.

    Args:
        metric: The decisive metric, such as `ndcg@10`.
        values: (n_queries,) of the ranking, NaN where undefined.
        baselines: Baselines with their (n_queries,) values; those by labels are ignored.
        significance: p-value below which a difference is significant, in (0, 1].

    Example:
        >>> random = Baseline("random", "seed 42", np.empty(0)), np.linspace(0.2, 0.6, 100)
        >>> baseline_findings("web:3", "ndcg@10", np.linspace(0.1, 0.5, 100), [random])[0].title
        'web:3 is worse than random 0.4000 (p < 0.0001): ndcg@10 0.3000 over 100 queries'
    """
    tested_baselines = [
        (baseline.name, by_query) for baseline, by_query in baselines if not baseline.by_labels
    ]
    table = np.column_stack([values, *(by_query for _, by_query in tested_baselines)])
    table = table[~np.isnan(table).any(axis=1)]
    if not tested_baselines or not len(table):
        return []
    gains = (table[:, :1] - table[:, 1:]) * (1.0 if higher_is_better else -1.0)
    differing = int(np.count_nonzero(gains.any(axis=1)))
    adjusted = holm(randomisation_p_values(gains, permutations, seed, threads).tolist())
    open_tests = max(1, sum(p >= significance for p in adjusted))
    compared = [
        _BaselineDifference(
            name,
            float(mean),
            gain,
            p,
            verdict(float(gain.mean()), p, significance),
            significance / open_tests,
        )
        for (name, _), mean, gain, p in zip(
            tested_baselines, table[:, 1:].mean(axis=0), gains.T, adjusted, strict=True
        )
    ]
    measured = f"{metric} {table[:, 0].mean():.4f} over {query_count(len(table))}"
    # The smallest possible p-value of the test, after the correction.
    if len(tested_baselines) * 2.0 ** (1 - differing) >= significance:
        return [_too_few(system, measured, compared, differing, len(table))]
    return [*_worse(system, measured, compared), *_unproven(system, measured, compared)]


@dataclass(frozen=True, eq=False)
class _BaselineDifference:
    """Comparison of a ranking with one baseline.

    Attributes:
        gain: (n_queries,) differences in favour of the ranking.
        p: p-value, adjusted for the number of baselines.
        significance: Level of a p-value before the adjustment.
    """

    name: str
    mean: float
    gain: Float64Array
    p: float
    verdict: str
    significance: float

    def __str__(self) -> str:
        return f"{self.name} {self.mean:.4f} ({format_p(self.p)})"

    @property
    def needed(self) -> int | None:
        """Number of queries needed to detect a difference of this size; None if the ranking is not better."""
        mean = float(self.gain.mean())
        if mean <= 0.0:
            return None
        return queries_needed(mean, float(self.gain.std(ddof=1)), self.significance)


def _too_few(
    system: str, measured: str, compared: list[_BaselineDifference], differing: int, queries: int
) -> Finding:
    listed = ", ".join(f"{each.name} {each.mean:.4f}" for each in compared)
    return Finding(
        code="too-few-queries",
        severity="info",
        title=f"Too few queries to show that {system} is better than {listed}: {measured}, of which"
        f" {differing} differ",
        advice="Even a better value on every differing query would not be significant. Evaluate on more"
        " queries, or use a metric that distinguishes more rankings of these queries.",
        count=differing,
        total=queries,
        unit="queries",
    )


def _worse(system: str, measured: str, compared: list[_BaselineDifference]) -> Iterable[Finding]:
    worse = [each for each in compared if each.verdict == "worse"]
    if worse:
        yield Finding(
            code="worse-than-baseline",
            severity="error",
            title=f"{system} is worse than {', '.join(map(str, worse))}: {measured}",
            advice="Find the reason before you use the ranking. Check whether lower labels are better,"
            " whether features have another meaning in this data than in training, and whether training"
            " improved the metric.",
            count=len(worse),
            total=len(compared),
            unit="baselines",
        )


def _unproven(system: str, measured: str, compared: list[_BaselineDifference]) -> Iterable[Finding]:
    unproven = [each for each in compared if each.verdict == "no evidence"]
    needed = [f"{each.needed:,} (over {each.name})" for each in unproven if each.needed]
    if unproven:
        yield Finding(
            code="not-better-than-baseline",
            severity="warning",
            title=f"{system} is not significantly better than {', '.join(map(str, unproven))}: {measured}",
            advice="A ranking without training may be as good."
            + (
                f" Queries needed to detect a lead of this size: about {', '.join(needed)}." if needed else ""
            ),
            count=len(unproven),
            total=len(compared),
            unit="baselines",
        )


def _input_order(dataset: RankingDataset) -> Baseline:
    by_labels = any(sorted_findings(dataset, QueryLabels.of(dataset)))
    return Baseline(
        "input order",
        "the documents in file order, sorted by label" if by_labels else "the documents in file order",
        -np.arange(dataset.n_documents, dtype=float),
        by_labels,
    )


def _best_single_feature(dataset: RankingDataset, seed: int) -> list[Baseline]:
    if not dataset.n_features:
        return []
    single = rank_by_single_features(dataset, seed)
    if np.isnan(single.better).all():
        return []
    best = int(np.nanargmax(single.better))
    ascending = bool(single.ascending[best] > single.descending[best])
    values = np.asarray(dataset.features[:, best], np.float64)
    scores = np.where(np.isnan(values), -np.inf, -values if ascending else values)
    order = "lowest first" if ascending else "highest first"
    return [Baseline("best single feature", f"{dataset.feature_names[best]}, {order}", scores)]
