"""The order in which ListMLE draws documents of equal label."""

from collections import Counter
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from core.losses import make_loss
from tests.core.losses.reference import Options, gradient_of, hessian_of, value_of
from tests.core.losses.test_derivatives import assert_close, joined, random_queries

LISTMLES = ["listmle", "w-listmle"]
SCORES = np.array([0.3, -0.4, 1.1, 0.2, -0.9])
LABELS = np.array([1.0, 0.0, 1.0, 0.0, 0.0])
ONE_QUERY = np.array([0, 5])


def orders() -> list[tuple[int, ...]]:
    """Return all orders of `LABELS` by label."""
    return [(*high, *low) for high in permutations((0, 2)) for low in permutations((1, 3, 4))]


def drawn_order(gradient: Any, name: str) -> tuple[int, ...]:
    """Return the order of documents that has this gradient."""
    matching = [
        order
        for order in orders()
        if np.allclose(
            gradient, gradient_of(value_of(name, SCORES, LABELS, {"order": list(order)}), SCORES), atol=1e-9
        )
    ]
    assert matching
    return matching[0]


@pytest.mark.parametrize("name", LISTMLES)
def test_the_terms_are_those_of_the_drawn_order(name: str) -> None:
    """Value, gradient and hessian follow the equation for one order by label, the same each time."""
    for iteration in range(10):
        terms = make_loss(name, seed=3)(SCORES, LABELS, ONE_QUERY, iteration)
        value = value_of(name, SCORES, LABELS, {"order": list(drawn_order(terms.gradient, name))})
        np.testing.assert_allclose(terms.value, np.real(value(SCORES)), rtol=1e-10)
        assert_close(terms.hessian, hessian_of(value, SCORES))
        again = make_loss(name, seed=3)(SCORES, LABELS, ONE_QUERY, iteration)
        assert again.gradient.tobytes() == terms.gradient.tobytes()


def test_every_order_is_drawn_equally_often() -> None:
    """Of 2! 3! orders over 6,000 iterations: Pearson's statistic is below its 99.9% quantile, 31.3."""
    loss = make_loss("listmle", seed=1)
    values = [round(loss(SCORES, LABELS, ONE_QUERY, i).value[0], 9) for i in range(6000)]
    known = {
        round(float(np.real(value_of("listmle", SCORES, LABELS, {"order": list(order)})(SCORES))), 9)
        for order in orders()
    }
    counts = Counter(values)
    assert set(counts) == known
    assert len(known) == 12
    assert sum((count - 500) ** 2 / 500 for count in counts.values()) < 31.3


@pytest.mark.parametrize("name", LISTMLES)
def test_seed_iteration_and_query_decide_the_order(name: str) -> None:
    """Another seed or iteration draws another order, and so does an equal query of the same dataset."""
    labels, scores = np.tile([1.0, 0.0], 40), np.random.default_rng(0).normal(size=80)
    twice = np.tile(scores, 2), np.tile(labels, 2), np.array([0, 80, 160])
    first = make_loss(name, seed=1)(*twice, 0).gradient
    assert not np.array_equal(first[:80], first[80:])
    assert not np.array_equal(first, make_loss(name, seed=1)(*twice, 1).gradient)
    assert not np.array_equal(first, make_loss(name, seed=2)(*twice, 0).gradient)


@pytest.mark.long
@pytest.mark.parametrize("name", LISTMLES)
def test_drawn_ties_do_not_teach_the_input_order(name: str) -> None:
    """Mean gradients of tied documents with equal scores are equal; with ties in input order they differ."""
    labels, scores = np.array([2.0, 1.0, 1.0, 1.0, 0.0, 0.0]), np.zeros(6)

    def mean_gradient(**options: Any) -> Any:
        loss = make_loss(name, **options)
        return np.mean([loss(scores, labels, np.array([0, 6]), i).gradient for i in range(1500)], axis=0)

    drawn, by_input = mean_gradient(), mean_gradient(ties="input")
    assert np.ptp(drawn[1:4]) < 0.05 < np.ptp(by_input[1:4])


@pytest.mark.parametrize("name", LISTMLES)
def test_ties_in_input_order_are_never_drawn(name: str) -> None:
    """With `ties` set to `input`, the older form, the gradient depends on scores and labels alone."""
    scores, labels, boundaries = joined(random_queries(seed=4, count=9))
    here, there = (
        make_loss(name, ties="input", seed=seed)(scores, labels, boundaries, iteration).gradient
        for seed, iteration in ((0, 0), (5, 7))
    )
    assert here.tobytes() == there.tobytes()
    options: Options = {}
    rows = slice(boundaries[6], boundaries[7])
    expected = gradient_of(value_of(name, scores[rows], labels[rows], options), scores[rows])
    assert_close(here[rows], expected)
