"""Every loss and every option it composes with, against its equation."""

from typing import Any

import numpy as np
import pytest

from core.losses import LOSSES, make_loss
from core.losses.randomness import mix, uniform
from tests.core.losses.reference import (
    HINGES,
    LISTWISE,
    POINTWISE,
    Options,
    gradient_of,
    hessian_of,
    hinge_curvature,
    pairwise_value,
    ranks_of,
    selected_documents,
    value_of,
)

PAIRWISE = [name for name in LOSSES if name not in LISTWISE | POINTWISE]
NDCG_WEIGHTED = ["lambdarank", "ndcg-loss1", "ndcg-loss2", "ndcg-loss2++"]
GAINS: list[Any] = ["linear", (0.0, 1.0, 5.0, 6.0, 20.0)]

CASES: list[tuple[str, Options]] = [
    ("mse", {}),
    *((name, {}) for name in PAIRWISE),
    *((name, {"sigma": 2.3}) for name in PAIRWISE),
    *((name, {"truncation_level": 1}) for name in PAIRWISE),
    *((name, {"truncation_level": 5, "sigma": 0.5}) for name in PAIRWISE),
    *((name, {"normalization": "lightgbm"}) for name in PAIRWISE),
    *((name, {"normalization": "lightgbm", "truncation_level": 3, "sigma": 2.0}) for name in PAIRWISE),
    *((name, {"normalization": "score-gap", "hessian_factor": 2.0, "sigma": 2.0}) for name in PAIRWISE),
    *((name, {"hessian_factor": 0.5, "truncation_level": 4}) for name in PAIRWISE),
    *((name, {"ideal_cutoff": 2}) for name in NDCG_WEIGHTED),
    *((name, {"ideal_cutoff": 10, "truncation_level": 3}) for name in NDCG_WEIGHTED),
    *(
        (name, {"truncation_level": 4, "pair_selection": strategy})
        for name in PAIRWISE
        for strategy in ("static", "all", "all-static")
    ),
    *(
        (name, {"truncation_level": 3, "pair_selection": strategy, "missed_labels": "set"})
        for name in ("lambdarank", "ranknet", "ndcg-loss2++")
        for strategy in ("static", "all", "all-static")
    ),
    *(
        (name, {"gain": gain})
        for name in [*NDCG_WEIGHTED, "w-ranknet", "w-ranksvm", "w-rankboost"]
        for gain in GAINS
    ),
    *(("w-listmle", {"gain": gain, "ties": "input"}) for gain in GAINS),
    *((name, {"discount": "reciprocal", "truncation_level": 6}) for name in NDCG_WEIGHTED),
    *(("lambdarank", {"target": target}) for target in ("map", "mrr", "err", "rbp")),
    *(("lambdarank", {"target": target, "truncation_level": 3}) for target in ("map", "mrr", "err", "rbp")),
    ("lambdarank", {"target": "rbp", "persistence": 0.5, "gain": "linear", "max_label": 5}),
    ("lambdarank", {"target": "err", "max_label": 6, "pair_selection": "all", "truncation_level": 2}),
    ("ndcg-loss2++", {"mu": 0.0}),
    ("ndcg-loss2++", {"mu": 0.5, "truncation_level": 3}),
    ("listnet", {}),
    ("listnet", {"sigma": 3.0}),
    ("listnet", {"target": "softmax"}),
    ("listnet", {"target": "gain-softmax", "sigma": 0.5}),
    ("listmle", {"ties": "input"}),
    ("w-listmle", {"ties": "input"}),
]


def random_queries(seed: int, count: int, longest: int = 40) -> list[tuple[Any, Any]]:
    """Draw scores and labels of queries: some with ties, with labels that are all zero or all equal."""
    generator = np.random.default_rng(seed)
    queries = []
    for number in range(count):
        size = int(generator.integers(1, longest + 1)) if number else 1
        scores = np.round(generator.normal(size=size), 1 if number % 2 else 6)
        labels = generator.integers(0, 5, size).astype(float)
        if number % 7 in (3, 5):
            labels[:] = 0.0 if number % 7 == 3 else 2.0
        queries.append((scores, labels))
    return queries


def joined(queries: list[tuple[Any, Any]]) -> tuple[Any, Any, Any]:
    """Return the joined scores, labels and boundaries of several queries."""
    scores, labels = (np.concatenate([query[part] for query in queries]) for part in (0, 1))
    boundaries = np.cumsum([0] + [len(query[0]) for query in queries])
    return scores, labels, boundaries


def assert_close(actual: Any, expected: Any) -> None:
    """Require a relative error below 1e-7, or an absolute error below 1e-8 of the largest entry."""
    np.testing.assert_allclose(
        actual, expected, rtol=1e-7, atol=1e-8 * max(abs(expected).max(initial=0.0), 1e-12)
    )


@pytest.mark.long
@pytest.mark.parametrize(("name", "options"), CASES)
def test_value_gradient_and_hessian_follow_the_equation(name: str, options: Options) -> None:
    """Value, gradient and hessian are those of the paper's equation with frozen ranks."""
    queries = random_queries(seed=len(str(options)), count=11, longest=20)
    scores, labels, boundaries = joined(queries)
    terms = make_loss(name, **options)(scores, labels, boundaries)
    for number, (query_scores, query_labels) in enumerate(queries):
        value = value_of(name, query_scores, query_labels, options)
        rows = slice(boundaries[number], boundaries[number + 1])
        factor = options.get("hessian_factor", 1.0)
        np.testing.assert_allclose(terms.value[number], np.real(value(query_scores)), rtol=1e-10, atol=1e-12)
        assert_close(terms.gradient[rows], gradient_of(value, query_scores))
        if name in HINGES:
            if "normalization" not in options:
                curvature = hinge_curvature(name, query_scores, query_labels, options)
                assert_close(terms.hessian[rows], factor * curvature)
        else:
            assert_close(terms.hessian[rows], factor * hessian_of(value, query_scores))


@pytest.mark.parametrize("missed", ["multiset", "set"])
@pytest.mark.parametrize("strategy", ["random", "all-random"])
@pytest.mark.parametrize("name", ["lambdarank", "ndcg-loss2++", "ranknet"])
def test_random_selections_are_among_those_the_paper_allows(name: str, strategy: str, missed: str) -> None:
    """Each gradient belongs to one of the possible sets X, and every set occurs over the iterations."""
    scores = np.array([5.0, 4.0, 3.0, 2.0, 1.0, 0.0, -1.0])
    labels = np.array([0.0, 0.0, 2.0, 1.0, 0.0, 1.0, 1.0])
    options: Options = {"truncation_level": 2, "pair_selection": strategy, "missed_labels": missed}
    possible = [
        gradient_of(pairwise_value(name, scores, labels, options, selected), scores)
        for selected in selected_documents(labels, ranks_of(scores), options)
    ]
    loss = make_loss(name, **options)
    seen = set()
    for iteration in range(40):
        gradient = loss(scores, labels, np.array([0, 7]), iteration).gradient
        matches = [number for number, one in enumerate(possible) if np.allclose(gradient, one, atol=1e-12)]
        assert len(matches) == 1
        seen.update(matches)
        again = loss(scores, labels, np.array([0, 7]), iteration).gradient
        np.testing.assert_array_equal(gradient, again)
    assert len(possible) == {"multiset": 3, "set": 6}[missed]
    assert seen == set(range(len(possible)))


def test_xe_ndcg_draws_new_targets_each_iteration() -> None:
    """P ∝ 2^y − γ with γ from the counter-based generator keyed by seed, iteration, query and document."""
    scores, labels, boundaries = joined(random_queries(seed=5, count=6))
    loss = make_loss("xe-ndcg", seed=9)
    for iteration in (0, 7):
        terms = loss(scores, labels, boundaries, iteration)
        for number in range(len(boundaries) - 1):
            rows = slice(boundaries[number], boundaries[number + 1])
            key = np.uint64(mix(np.uint64(mix(np.uint64(9), iteration)), number))
            powers = 2 ** labels[rows] - np.array([uniform(key, i) for i in range(len(labels[rows]))])
            options: Options = {"target": "given", "targets": powers / powers.sum()}
            value = value_of("xe-ndcg", scores[rows], labels[rows], options)
            np.testing.assert_allclose(terms.value[number], np.real(value(scores[rows])), rtol=1e-10)
            assert_close(terms.gradient[rows], gradient_of(value, scores[rows]))
            assert_close(terms.hessian[rows], hessian_of(value, scores[rows]))
    first, second = (loss(scores, labels, boundaries, iteration).gradient for iteration in (0, 1))
    assert not np.allclose(first, second)


@pytest.mark.parametrize("name", PAIRWISE)
def test_the_soft_assignment_without_noise_is_the_hard_one(name: str) -> None:
    """With ε = 0 every drawn ranking, and its selection of documents, is that of the scores."""
    scores, labels, boundaries = joined(random_queries(seed=6, count=8))
    options: Options = {"truncation_level": 4, "pair_selection": "static"}
    hard = make_loss(name, **options)(scores, labels, boundaries)
    soft = make_loss(name, assignment="soft", noise=0.0, samples=3, **options)(scores, labels, boundaries)
    assert_close(soft.gradient, hard.gradient)
    assert_close(soft.hessian, hard.hessian)
    np.testing.assert_allclose(soft.value, hard.value, rtol=1e-12)


@pytest.mark.long
@pytest.mark.parametrize("name", NDCG_WEIGHTED)
def test_the_soft_assignment_averages_the_weights_over_noisy_rankings(name: str) -> None:
    """Many draws approach the mean of the equation's weights over rankings of s + N(0, ε²)."""
    generator = np.random.default_rng(1)
    scores, labels = generator.normal(size=6), np.array([0.0, 2.0, 1.0, 0.0, 3.0, 1.0])
    soft = make_loss(name, assignment="soft", samples=1000, noise=0.7)
    gradient = np.mean([soft(scores, labels, np.array([0, 6]), i).gradient for i in range(20)], axis=0)
    drawn = []
    for _ in range(1500):
        frozen = scores + generator.normal(0.0, 0.7, 6)
        drawn.append(gradient_of(pairwise_value(name, frozen, labels, {}), scores))
    error = np.std(drawn, axis=0) / np.sqrt(len(drawn))
    assert (abs(gradient - np.mean(drawn, axis=0)) < 5 * error + 1e-9).all()


@pytest.mark.long
def test_plackett_luce_rankings_are_drawn_by_successive_choices() -> None:
    """Each next document is drawn by the softmax of score / ε over the documents that are left."""
    generator = np.random.default_rng(22)
    scores, labels = np.array([0.9, 0.4, 0.1, -0.3, -0.8]), np.array([0.0, 2.0, 0.0, 1.0, 3.0])
    options: Options = {"assignment": "soft", "samples": 1000, "noise": 0.7}
    soft = make_loss("lambdarank", ranking_model="plackett-luce", **options)
    gradient = np.mean([soft(scores, labels, np.array([0, 5]), i).gradient for i in range(20)], axis=0)
    drawn = []
    for _ in range(1500):
        left, frozen = list(range(5)), np.zeros(5)
        while left:
            odds = np.exp(scores[left] / 0.7)
            chosen = left[generator.choice(len(left), p=odds / odds.sum())]
            frozen[chosen] = len(left)
            left.remove(chosen)
        drawn.append(gradient_of(pairwise_value("lambdarank", frozen, labels, {}), scores))
    error = np.std(drawn, axis=0) / np.sqrt(len(drawn))
    assert (abs(gradient - np.mean(drawn, axis=0)) < 5 * error + 1e-9).all()
    gaussian = make_loss("lambdarank", **options)(scores, labels, np.array([0, 5])).gradient
    assert (abs(gaussian - gradient) > 5 * error).any()


@pytest.mark.parametrize("name", LOSSES)
def test_training_buffers_hold_the_same_numbers_in_float32(name: str) -> None:
    """LightGBM receives the gradient and hessian that the loss returns, weighted and rounded to float32."""
    scores, labels, boundaries = joined(random_queries(seed=2, count=9))
    weights = np.linspace(0.5, 2.0, len(boundaries) - 1)
    objective = make_loss(name).prepare(labels, boundaries, weights)
    gradient, hessian = objective(scores, 0)
    terms = make_loss(name)(scores, labels, boundaries)
    by_document = np.repeat(weights, np.diff(boundaries))
    assert gradient.dtype == hessian.dtype == np.float32
    np.testing.assert_allclose(gradient, terms.gradient * by_document, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(hessian, terms.hessian * by_document, rtol=1e-6, atol=1e-7)
    again, _ = objective(scores, 1)
    assert again is gradient
