"""The loss computed with the gradient, which trainings record: fast, and equal to the exact loss."""

from typing import Any

import numpy as np
import pytest

from core.losses import make_loss
from tests.core.losses.reference import Options
from tests.core.losses.test_derivatives import CASES, joined, random_queries

# Far apart, so that exponentials vanish and the exponential loss continues as its tangent.
SPREADS = [1.0, 40.0, 5_000.0]
RANDOM_LOSSES: list[tuple[str, Options]] = [
    ("xe-ndcg", {}),
    ("listmle", {}),
    ("lambdarank", {"truncation_level": 3, "pair_selection": "random"}),
    ("ndcg-loss2++", {"assignment": "soft", "samples": 3}),
]


@pytest.mark.parametrize(("name", "options"), [*CASES, *RANDOM_LOSSES])
def test_the_loss_with_the_gradient_is_the_exact_one(name: str, options: Options) -> None:
    """The mean is exact to 1e-8, and the derivatives are those without the loss, for any range of scores."""
    scores, labels, boundaries = joined(random_queries(seed=5, count=20))
    query_weights = np.linspace(0.0, 3.0, len(boundaries) - 1)
    document_weights = np.random.default_rng(1).uniform(0.2, 4.0, len(scores))
    for weights in ((None, None), (query_weights, document_weights)):
        objective = make_loss(name, **options).prepare(labels, boundaries, *weights)
        for spread in SPREADS:
            expected: Any = [part.copy() for part in objective(spread * scores, 7)]
            *derivatives, losses = objective.with_value(spread * scores, 7)
            np.testing.assert_array_equal(derivatives, expected)
            exact = objective.terms(spread * scores, 7).value
            assert losses.mean() == pytest.approx(exact.mean(), rel=1e-8)
            np.testing.assert_allclose(losses, exact, rtol=1e-8, atol=1e-5)  # 1e-9 for each of many pairs


def test_a_call_with_the_loss_leaves_no_state_behind() -> None:
    """A call with other scores reuses the buffers, and gives the values of a new objective."""
    scores, labels, boundaries = joined(random_queries(seed=6, count=12))
    objective = make_loss("lambdarank").prepare(labels, boundaries)
    objective.with_value(scores, 0)
    again: Any = objective.with_value(-scores, 1)
    fresh: Any = make_loss("lambdarank").prepare(labels, boundaries).with_value(-scores, 1)
    for ours, theirs in zip(again, fresh, strict=True):
        np.testing.assert_array_equal(ours, theirs)
