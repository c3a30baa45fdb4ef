"""Fast versions of loops, compared with the plain ones."""

import numpy as np
import pytest

from core.losses import make_loss
from core.types import Float64Array, Int64Array
from tests.core.losses.reference import Options

# Exponentials are shared by two documents up to a spread of 300, taken singly up to 600, and not beyond.
SPREADS = [1.0, 30.0, 450.0, 3_000.0]


def queries(spread: float) -> tuple[Float64Array, Float64Array, Int64Array]:
    """Draw queries of odd and even numbers of documents of each label, with tied scores."""
    generator = np.random.default_rng(2)
    lengths = np.concatenate((np.arange(1, 40), [64, 65, 120, 300]))
    boundaries = np.concatenate(([0], np.cumsum(lengths)))
    labels = generator.choice(5, int(boundaries[-1]), p=[0.5, 0.3, 0.1, 0.07, 0.03]).astype(np.float64)
    scores = spread * np.round(generator.random(len(labels)), 2)
    return scores, labels, boundaries


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("options", [{}, {"truncation_level": 7}, {"target": "rbp"}, {"sigma": 0.5}])
def test_two_documents_at_a_time_have_the_terms_of_single_documents(options: Options, spread: float) -> None:
    """Gradient, hessian and loss of a training equal those of `terms`, which visits pair by pair."""
    scores, labels, boundaries = queries(spread)
    objective = make_loss("lambdarank", **options).prepare(labels, boundaries)
    exact = objective.terms(scores, 0)
    gradient, hessian, losses = objective.with_value(scores, 0)
    for fast, plain in ((gradient, exact.gradient), (hessian, exact.hessian)):
        np.testing.assert_allclose(fast, plain, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(losses, exact.value, rtol=1e-8, atol=1e-6)


@pytest.mark.parametrize("samples", [1, 2, 7, 8])
@pytest.mark.parametrize("truncation_level", [None, 5, 1_000])
def test_drawn_rankings_have_equal_terms_summed_and_one_by_one(
    samples: int, truncation_level: int | None
) -> None:
    """LambdaRank sums the rank distances of all rankings; NDCG-Loss2++ with μ = 0 visits each ranking."""
    scores, labels, boundaries = queries(1.0)
    soft = {"assignment": "soft", "samples": samples, "seed": 3, "truncation_level": truncation_level}
    summed = make_loss("lambdarank", **soft)(scores, labels, boundaries, 4)
    singly = make_loss("ndcg-loss2++", mu=0.0, **soft)(scores, labels, boundaries, 4)
    np.testing.assert_allclose(summed.gradient, singly.gradient, rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(summed.hessian, singly.hessian, rtol=1e-10, atol=1e-15)
    np.testing.assert_allclose(summed.value, singly.value, rtol=1e-10, atol=1e-15)


@pytest.mark.parametrize("name", ["lambdarank", "ndcg-loss2++", "ranknet", "ndcg-loss1"])
def test_layouts_by_label_and_by_rank_have_equal_terms(name: str) -> None:
    """A truncation that leaves out one document keeps all pairs and changes only the layout."""
    generator = np.random.default_rng(4)
    scores, labels = generator.normal(size=90), generator.integers(0, 4, 90).astype(np.float64)
    boundaries = np.array([0, 90])
    expected = make_loss(name)(scores, labels, boundaries)
    selective = make_loss(name, truncation_level=89, pair_selection="all")(scores, labels, boundaries)
    everything = make_loss(name, truncation_level=90)(scores, labels, boundaries)
    for found in (everything, selective):
        for term in ("value", "gradient", "hessian"):
            np.testing.assert_allclose(getattr(found, term), getattr(expected, term), rtol=1e-10, atol=1e-14)
