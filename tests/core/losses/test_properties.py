"""What holds for the losses whatever the data, and the traps that public implementations fell into."""

from itertools import pairwise

import numpy as np
import pytest

from core.errors import InvalidInput
from core.losses import LOSSES, make_loss
from core.losses.bins import balanced_bins
from core.losses.ranks import log2_discounts
from tests.core.losses.test_derivatives import joined, random_queries

PAIRWISE = [name for name in LOSSES if name != "mse"]
ONE_QUERY = np.array([0, 5])
FIGURE_1A = (np.array([0.04, 0.03, 0.02, 0.01, 0.00]), np.array([1.0, 2.0, 0.0, 0.0, 0.0]))


def test_lambdarank_gives_the_2023_papers_table_1() -> None:
    """With τ = 1 the five λ of Marcuzzi et al. 2023, Table 1: the document at rank 2 is pushed too little."""
    terms = make_loss("lambdarank", truncation_level=1)(*FIGURE_1A, ONE_QUERY)
    np.testing.assert_allclose(-terms.gradient, [0.152, 0.124, -0.083, -0.093, -0.100], atol=6e-4)


def test_lambdarank_gives_the_2023_papers_table_2() -> None:
    """Without truncation the three λ of Table 2; the paper adds rounded summands, hence ± 0.001."""
    terms = make_loss("lambdarank")(np.array([0.02, 0.01, 0.0]), np.array([4.0, 0.0, 1.0]), np.array([0, 3]))
    np.testing.assert_allclose(-terms.gradient, [0.397, -0.180, -0.217], atol=1e-3)


def test_distance_weights_telescope() -> None:
    """Σ_{d < i} δ(d) = 1 − 1/D(i); implementations with ranks from 0 are off by one here."""
    n = 30
    labels = np.zeros(n)
    labels[0] = 1.0
    plan = make_loss("ndcg-loss2").prepare(labels, np.array([0, n]))._plan  # type: ignore[attr-defined]
    for i in range(1, n + 1):
        assert plan.distance_weights[:i].sum() == pytest.approx(1.0 - 1.0 / np.log2(1 + i), abs=1e-14)
    assert log2_discounts(3).tolist() == [1.0, 1 / np.log2(3), 0.5]


@pytest.mark.parametrize("name", PAIRWISE)
def test_pairs_obey_newtons_third_law(name: str) -> None:
    """A pair pushes both documents equally hard: the gradients of a query sum to zero."""
    scores, labels, boundaries = joined(random_queries(seed=3, count=20))
    terms = make_loss(name, truncation_level=4)(scores, labels, boundaries)
    sums = np.add.reduceat(terms.gradient, boundaries[:-1])
    np.testing.assert_allclose(sums, 0.0, atol=1e-12)


@pytest.mark.parametrize("name", PAIRWISE)
def test_adding_a_constant_to_all_scores_changes_nothing(name: str) -> None:
    """Only score differences count."""
    scores, labels, boundaries = joined(random_queries(seed=4, count=10))
    here, there = (make_loss(name)(scores + shift, labels, boundaries) for shift in (0.0, 64.0))
    np.testing.assert_allclose(here.gradient, there.gradient, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", LOSSES)
def test_the_order_of_documents_does_not_matter(name: str) -> None:
    """Without tied scores, permuting a query's documents permutes its terms."""
    generator = np.random.default_rng(5)
    scores, labels = generator.normal(size=30), generator.integers(0, 5, 30).astype(float)
    shuffle = generator.permutation(30)
    plain = make_loss(name)(scores, labels, np.array([0, 30]))
    mixed = make_loss(name)(scores[shuffle], labels[shuffle], np.array([0, 30]))
    np.testing.assert_allclose(mixed.gradient, plain.gradient[shuffle], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(mixed.hessian, plain.hessian[shuffle], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", LOSSES)
def test_queries_are_independent(name: str) -> None:
    """A query's terms are the same alone and among others, bit for bit."""
    queries = random_queries(seed=6, count=15)
    scores, labels, boundaries = joined(queries)
    together = make_loss(name)(scores, labels, boundaries)
    for number, (query_scores, query_labels) in enumerate(queries):
        alone = make_loss(name)(query_scores, query_labels, np.array([0, len(query_scores)]))
        rows = slice(boundaries[number], boundaries[number + 1])
        assert alone.gradient.tobytes() == together.gradient[rows].tobytes()
        assert alone.hessian.tobytes() == together.hessian[rows].tobytes()


@pytest.mark.parametrize("name", PAIRWISE)
@pytest.mark.parametrize(
    "labels", [[0.0, 0.0, 0.0], [3.0, 3.0, 3.0], [2.0]], ids=["none relevant", "one label", "one document"]
)
def test_queries_without_pairs_contribute_zero(name: str, labels: list[float]) -> None:
    """One document or one label: nothing to learn, and no NaN from an ideal DCG of zero."""
    terms = make_loss(name)(np.arange(len(labels), dtype=float), np.array(labels), np.array([0, len(labels)]))
    assert not terms.value.any()
    assert not terms.gradient.any()
    assert not terms.hessian.any()


@pytest.mark.parametrize("name", PAIRWISE)
@pytest.mark.parametrize("scale", [1e3, 1e30])
def test_scores_far_apart_give_the_exact_limit(name: str, scale: float) -> None:
    """Where every exponential vanishes a pair in order adds 0 and a pair out of order its full weight."""
    labels = np.array([0.0, 1.0, 2.0, 0.0])
    scores = scale * np.array([1.0, 0.5, -0.5, -1.0])
    near = make_loss(name)(scores / scale * 650, labels, np.array([0, 4]))
    far = make_loss(name)(scores, labels, np.array([0, 4]))
    assert np.isfinite(far.value).all()
    np.testing.assert_allclose(far.gradient, near.gradient, rtol=1e-12, atol=1e-100)
    np.testing.assert_allclose(far.hessian, 0.0, atol=1e-100)


@pytest.mark.parametrize("name", PAIRWISE)
def test_both_ways_to_the_logistic_function_agree(name: str) -> None:
    """Just inside and just outside the spread where exponentials are shared, the terms are continuous."""
    labels = np.array([0.0, 1.0, 2.0, 0.0, 1.0])
    scores = np.array([0.3, 0.1, 0.2, 0.0, 600.0])
    shared = make_loss(name)(scores - np.array([0, 0, 0, 0, 1e-9]), labels, ONE_QUERY)
    paired = make_loss(name)(scores + np.array([0, 0, 0, 0, 1e-9]), labels, ONE_QUERY)
    np.testing.assert_allclose(shared.gradient, paired.gradient, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(shared.hessian, paired.hessian, rtol=1e-9, atol=1e-12)


def test_loss2_plus_plus_without_mu_is_lambdarank() -> None:
    """The two differ by μ δ only."""
    scores, labels, boundaries = joined(random_queries(seed=7, count=5))
    plain = make_loss("lambdarank")(scores, labels, boundaries)
    mixed = make_loss("ndcg-loss2++", mu=0.0)(scores, labels, boundaries)
    np.testing.assert_array_equal(plain.gradient, mixed.gradient)


@pytest.mark.parametrize(
    ("name", "hyperparameters", "pointer"),
    [
        ("lambdarnak", {}, "/name"),
        ("lambdarank", {"sigma": 0.0}, "/sigma"),
        ("lambdarank", {"sigma": float("nan")}, "/sigma"),
        ("lambdarank", {"truncation_level": 0}, "/truncation_level"),
        ("lambdarank", {"truncation_level": 2.5}, "/truncation_level"),
        ("lambdarank", {"mu": 1.0}, "/mu"),
        ("ndcg-loss2++", {"mu": -1.0}, "/mu"),
        ("ndcg-loss2++", {"mu": True}, "/mu"),
        ("mse", {"sigma": 1.0}, "/sigma"),
    ],
)
def test_hyperparameters_out_of_bounds_are_refused(
    name: str, hyperparameters: dict[str, float], pointer: str
) -> None:
    """A wrong hyperparameter is named by its pointer."""
    with pytest.raises(InvalidInput) as caught:
        make_loss(name, **hyperparameters)
    assert [problem.pointer for problem in caught.value.problems] == [pointer]


def test_bins_hold_every_query_once_and_are_balanced() -> None:
    """No query is lost, and no bin is much heavier than the average unless one query is."""
    costs = np.random.default_rng(8).exponential(size=1000) + 0.1
    queries, boundaries = balanced_bins(costs)
    assert sorted(queries.tolist()) == list(range(1000))
    loads = [costs[queries[a:b]].sum() for a, b in pairwise(boundaries)]
    assert max(loads) < 1.1 * costs.sum() / len(loads)
