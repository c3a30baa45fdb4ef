"""Every loss against its equation."""

from typing import Any

import numpy as np
import pytest

from core.losses import LOSSES, make_loss
from tests.core.losses.reference import gradient_of, hessian_of, value_of

Options = dict[str, Any]

PAIRWISE_OPTIONS: list[Options] = [
    {},
    {"sigma": 2.5},
    {"truncation_level": 1},
    {"truncation_level": 5, "sigma": 0.5},
]
CASES: list[tuple[str, Options]] = [
    ("mse", {}),
    *((name, options) for name in LOSSES if name != "mse" for options in PAIRWISE_OPTIONS),
    ("ndcg-loss2++", {"mu": 0.0}),
    ("ndcg-loss2++", {"mu": 0.5, "truncation_level": 3}),
]


def random_queries(seed: int, count: int) -> list[tuple[Any, Any]]:
    """Queries of 1 to 40 documents with tied labels, tied scores and all-zero labels."""
    generator = np.random.default_rng(seed)
    queries = []
    for number in range(count):
        size = int(generator.integers(1, 41))
        scores = np.round(generator.normal(size=size), 1 if number % 2 else 6)
        labels = np.zeros(size) if number % 7 == 0 else generator.integers(0, 5, size).astype(float)
        queries.append((scores, labels))
    return queries


def joined(queries: list[tuple[Any, Any]]) -> tuple[Any, Any, Any]:
    """Scores, labels and boundaries of several queries."""
    scores, labels = (np.concatenate([query[part] for query in queries]) for part in (0, 1))
    boundaries = np.cumsum([0] + [len(query[0]) for query in queries])
    return scores, labels, boundaries


@pytest.mark.parametrize(("name", "options"), CASES)
def test_value_gradient_and_hessian_follow_the_equation(name: str, options: Options) -> None:
    """Value, gradient and hessian are those of the paper's equation with frozen ranks."""
    queries = random_queries(seed=1, count=12)
    scores, labels, boundaries = joined(queries)
    terms = make_loss(name, **options)(scores, labels, boundaries)
    for number, (query_scores, query_labels) in enumerate(queries):
        value = value_of(name, query_scores, query_labels, **options)
        rows = slice(boundaries[number], boundaries[number + 1])
        np.testing.assert_allclose(terms.value[number], np.real(value(query_scores)), rtol=1e-12, atol=1e-12)
        gradient, hessian = gradient_of(value, query_scores), hessian_of(value, query_scores)
        np.testing.assert_allclose(
            terms.gradient[rows], gradient, rtol=1e-7, atol=1e-9 * (1 + abs(gradient).max())
        )
        np.testing.assert_allclose(terms.hessian[rows], hessian, rtol=1e-7, atol=1e-9 * (1 + hessian.max()))


@pytest.mark.parametrize("name", LOSSES)
def test_training_buffers_hold_the_same_numbers_in_float32(name: str) -> None:
    """What LightGBM is given is the inspected gradient and hessian, weighted, rounded to float32."""
    scores, labels, boundaries = joined(random_queries(seed=2, count=9))
    weights = np.linspace(0.5, 2.0, len(boundaries) - 1)
    objective = make_loss(name).prepare(labels, boundaries, weights)
    gradient, hessian = objective(scores, 0)
    terms = make_loss(name)(scores, labels, boundaries)
    by_document = np.repeat(weights, np.diff(boundaries))
    assert gradient.dtype == hessian.dtype == np.float32
    np.testing.assert_allclose(gradient, terms.gradient * by_document, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(hessian, terms.hessian * by_document, rtol=1e-6, atol=1e-9)
    again, _ = objective(scores, 1)
    assert again is gradient
