"""Pairs of long queries that are summed by interpolation, against the plain loop over pairs."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from core.losses import make_loss
from core.losses.pairwise import PairwiseObjective
from core.losses.smooth_pairs import MIN_DOCUMENTS, LongQueries, is_smooth, sum_pairs
from core.types import Float64Array, Int64Array

LONG = 2_500
OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("ranknet", {}),
    ("w-ranknet", {}),
    ("ranknet", {"sigma": 2.0, "hessian_factor": 2.0}),
]
# Scores of the last spread are so far apart that many cells are needed.
SPREADS = [0.0, 0.01, 1.0, 5.0, 100.0]


def combinations() -> Iterator[Any]:
    """Combine any option with one spread and any spread with one option; slow: all with all."""
    for (name, options), spread in product(OPTIONS, SPREADS):
        is_usual = spread == 1.0 or (name, options) == OPTIONS[0]
        yield pytest.param(name, options, spread, marks=() if is_usual else pytest.mark.slow)


def queries(spread: float, seed: int = 0) -> tuple[Float64Array, Float64Array, Int64Array, Any]:
    """Draw a short, a long, and another short query, with weights of queries and documents."""
    generator = np.random.default_rng(seed)
    boundaries = np.cumsum([0, 20, LONG, 30])
    n = int(boundaries[-1])
    labels = generator.choice(5, n, p=[0.5, 0.3, 0.1, 0.07, 0.03]).astype(np.float64)
    scores = spread * generator.normal(size=n)
    scores[25:60] = scores[25]  # ties
    return scores, labels, boundaries, (generator.uniform(0.5, 2.0, 3), generator.uniform(0.5, 2.0, n))


def prepared(name: str, options: dict[str, Any], spread: float) -> tuple[PairwiseObjective, Float64Array]:
    """Bind a loss to drawn queries; return the objective and the scores."""
    scores, labels, boundaries, weights = queries(spread)
    objective = make_loss(name, **options).prepare(labels, boundaries, *weights)
    assert isinstance(objective, PairwiseObjective)
    return objective, scores


@pytest.mark.long
@pytest.mark.parametrize(("name", "options", "spread"), list(combinations()))
def test_interpolated_sums_are_those_of_the_pairs(name: str, options: dict[str, Any], spread: float) -> None:
    """Gradient, hessian and loss differ by less than 1e-10 of each pair's weight."""
    objective, scores = prepared(name, options, spread)
    plan, rows = objective.plan, slice(20, 20 + LONG)
    weights = (plan.label_values * plan.document_weights)[rows]
    gradient, hessian = np.empty(LONG), np.empty(LONG)
    x = plan.sigma * scores[rows]
    loss = sum_pairs(x, int(plan.level_counts[1]), plan.levels[rows], weights, gradient, hessian)
    expected = objective.terms(scores, 0)
    slope = plan.query_weights[1] * plan.sigma
    tolerance = 1e-10 * weights.max() * LONG
    assert np.abs(gradient - expected.gradient[rows] / slope).max() < tolerance
    curvature = slope * plan.sigma * plan.hessian_factor
    assert np.abs(hessian - expected.hessian[rows] / curvature).max() < tolerance
    assert abs(loss - expected.value[1] / plan.query_weights[1]) < tolerance * LONG


@pytest.mark.parametrize(("name", "options", "spread"), list(combinations()))
def test_a_training_gets_the_terms_of_the_plain_loop(
    name: str, options: dict[str, Any], spread: float
) -> None:
    """Terms are equal with and without the loss; a short query has equal bytes alone or beside a long one."""
    objective, scores = prepared(name, options, spread)
    expected = objective.terms(scores, 0)
    gradient, hessian, losses = objective.with_value(scores, 0)
    np.testing.assert_allclose(gradient, expected.gradient, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(hessian, expected.hessian, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(losses, expected.value, rtol=1e-8)
    without = [terms.copy() for terms in objective(scores, 0)]
    assert np.array_equal(without[0], gradient)
    assert np.array_equal(without[1], hessian)
    scores, labels, boundaries, (query_weights, document_weights) = queries(spread)
    short = make_loss(name, **options).prepare(
        labels[:20], boundaries[:2], query_weights[:1], document_weights[:20]
    )
    assert np.array_equal(short(scores[:20], 0)[0], gradient[:20])


def test_a_long_query_is_interpolated_only_if_that_is_faster() -> None:
    """A long query of near scores is interpolated; far scores or few pairs are visited one by one."""
    scores, labels, boundaries, _ = queries(1.0)

    def chosen(scores: Float64Array, labels: Float64Array) -> list[int]:
        objective = make_loss("ranknet").prepare(labels, boundaries)
        assert isinstance(objective, PairwiseObjective)
        return [int(query) for query in LongQueries(objective.plan).faster_queries(scores)]

    assert chosen(scores, labels) == [1]
    assert chosen(1_000.0 * scores, labels) == []
    assert chosen(scores, np.where(np.arange(len(labels)) == 30, 1.0, 0.0)) == []


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("lambdarank", {}),
        ("ranksvm", {}),
        ("rankboost", {}),
        ("arp-loss2", {}),
        ("ranknet", {"truncation_level": 10}),
        ("ranknet", {"normalization": "score-gap"}),
    ],
)
def test_other_losses_stay_pair_by_pair(name: str, options: dict[str, Any]) -> None:
    """Weights of both documents or of ranks, and other functions of a pair, are not interpolated."""
    _, labels, boundaries, _ = queries(1.0)
    objective = make_loss(name, **options).prepare(labels, boundaries)
    assert isinstance(objective, PairwiseObjective)
    assert not is_smooth(objective.plan)


def test_the_shortest_interpolated_query_is_longer_than_those_of_public_corpora() -> None:
    """Models of trainings on MSLR, whose longest list has 1,251 documents, keep the same bytes."""
    assert MIN_DOCUMENTS > 1_251
