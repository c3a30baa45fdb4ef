"""Metric values of simulated rankings, from which samples of queries are drawn."""

from functools import cache

import numpy as np
from scipy import optimize, stats

from core.metrics import Metric, ideal_labels, measure_all, parse_metric
from core.types import Float64Array

METRIC_SPELLINGS = ("ndcg@10", "map", "mrr", "precision@1", "recall@5", "err", "dcg@10", "gm-map")
_QUERIES = 20_000
_DOCUMENTS = 20


def effect_of_power(n_queries: float) -> float:
    """Return the effect size whose power is 0.80 by the noncentral t, with so many queries."""
    critical = stats.t.ppf(0.975, n_queries - 1)

    def shortage(effect: float) -> float:
        return float(stats.nct.sf(critical, n_queries - 1, effect * np.sqrt(n_queries))) - 0.8

    approximate = 2.8 / np.sqrt(n_queries)
    return float(optimize.brentq(shortage, 0.9 * approximate, 1.3 * approximate))


@cache
def rankings(relevant: float, quality: float, systems: int = 1) -> dict[str, Float64Array]:
    """Rank documents of five grades, and measure the rankings.

    Args:
        relevant: Share of the documents whose grade is above 0.
        quality: How much the scores follow the grades, beside noise of the deviation 1.
        systems: Systems that rank, which share half of the variance of their noise.

    Returns:
        (n_queries, n_systems) values of each metric, of the queries that have a relevant document.
    """
    generator = np.random.default_rng(11)
    shape = _QUERIES, _DOCUMENTS
    labels = np.where(generator.random(shape) < relevant, generator.integers(1, 5, shape), 0.0)
    shared = generator.standard_normal(shape)
    boundaries = np.arange(0, labels.size + 1, _DOCUMENTS)
    ideal = ideal_labels(labels.ravel(), boundaries)
    measured = []
    for _ in range(systems):
        scores = quality * labels + (shared + generator.standard_normal(shape)) / np.sqrt(2.0)
        measured.append(measure_all(parsed_metrics(), scores.ravel(), ideal))
    values = {name: np.column_stack([one[name] for one in measured]) for name in METRIC_SPELLINGS}
    return {name: table[~np.isnan(table).any(axis=1)] for name, table in values.items()}


def parsed_metrics() -> dict[str, Metric]:
    """Return the metrics by name."""
    return {name: parse_metric(name) for name in METRIC_SPELLINGS}
