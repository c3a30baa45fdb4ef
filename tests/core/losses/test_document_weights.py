"""Weights of documents, which every loss takes."""

from typing import Any

import numpy as np
import pytest

from core.losses import LOSSES, make_loss
from core.losses.randomness import mix, uniform
from tests.core.losses.reference import Options, gradient_of, hessian_of, value_of
from tests.core.losses.test_derivatives import NDCG_WEIGHTED, PAIRWISE, assert_close, joined, random_queries

CASES: list[tuple[str, Options]] = [
    ("mse", {}),
    *((name, {}) for name in PAIRWISE),
    *((name, {"truncation_level": 3}) for name in PAIRWISE),
    *((name, {"normalization": "lightgbm", "sigma": 2.0}) for name in PAIRWISE),
    *((name, {"truncation_level": 4, "pair_selection": "static"}) for name in NDCG_WEIGHTED),
    *(("lambdarank", {"target": target}) for target in ("map", "mrr", "err", "rbp")),
    ("listnet", {"sigma": 0.7}),
    ("listnet", {"target": "softmax"}),
    ("listmle", {"ties": "input"}),
    ("w-listmle", {"ties": "input"}),
]


def weighted_terms(name: str, options: Options, judged: Any, weights: Any, iteration: int = 0) -> Any:
    """Return the terms of a loss whose documents are weighted."""
    scores, labels, boundaries = judged
    return (
        make_loss(name, **options)
        .prepare(labels, boundaries, document_weights=weights)
        .terms(scores, iteration)
    )


@pytest.mark.long
@pytest.mark.parametrize(("name", "options"), CASES)
def test_a_weight_multiplies_the_terms_of_its_document(name: str, options: Options) -> None:
    """The term of a pair has the weight of document i, any other term that of its document."""
    queries = random_queries(seed=len(str(options)) + 40, count=9, longest=20)
    judged = joined(queries)
    weights = np.random.default_rng(1).uniform(0.0, 3.0, len(judged[0]))
    weights[::5] = 0.0
    terms = weighted_terms(name, options, judged, weights)
    for number, (scores, labels) in enumerate(queries):
        rows = slice(judged[2][number], judged[2][number + 1])
        value = value_of(name, scores, labels, options | {"document_weights": weights[rows]})
        np.testing.assert_allclose(terms.value[number], np.real(value(scores)), rtol=1e-10, atol=1e-12)
        assert_close(terms.gradient[rows], gradient_of(value, scores))
        if not name.endswith("ranksvm"):  # the hinge has no curvature; its hessian is a substitute
            assert_close(terms.hessian[rows], hessian_of(value, scores))


def test_weights_multiply_drawn_targets() -> None:
    """XE-NDCG draws the same targets with and without weights."""
    scores, labels = np.array([0.3, -0.2, 0.1, 0.8]), np.array([1.0, 0.0, 2.0, 0.0])
    weights = np.array([2.0, 1.0, 0.5, 0.0])
    judged = scores, labels, np.array([0, 4])
    terms = weighted_terms("xe-ndcg", {"seed": 4}, judged, weights, iteration=2)
    key = mix(np.uint64(mix(np.uint64(4), 2)), 0)
    powers = 2**labels - np.array([uniform(np.uint64(key), i) for i in range(4)])
    options: Options = {"target": "given", "targets": powers / powers.sum(), "document_weights": weights}
    value = value_of("xe-ndcg", scores, labels, options)
    np.testing.assert_allclose(terms.value, np.real(value(scores)), rtol=1e-10)
    assert_close(terms.gradient, gradient_of(value, scores))
    assert_close(terms.hessian, hessian_of(value, scores))


@pytest.mark.parametrize("name", ["listmle", "w-listmle"])
def test_weights_follow_their_documents_in_a_random_order(name: str) -> None:
    """A weight follows its document to any drawn position among documents of the same label."""
    scores, labels = np.array([0.3, -0.2, 0.8, 0.1]), np.array([1.0, 1.0, 2.0, 0.0])
    weights = np.array([2.0, 0.5, 1.0, 3.0])
    seen = set()
    for iteration in range(20):
        gradient = weighted_terms(name, {}, (scores, labels, np.array([0, 4])), weights, iteration).gradient
        for order in ([2, 0, 1, 3], [2, 1, 0, 3]):
            value = value_of(name, scores, labels, {"order": order, "document_weights": weights})
            if np.allclose(gradient, gradient_of(value, scores), atol=1e-10):
                seen.add(tuple(order))
                break
        else:
            pytest.fail("the gradient belongs to no order by label")
    assert len(seen) == 2


@pytest.mark.parametrize("options", [{}, {"truncation_level": 4, "pair_selection": "random"}])
@pytest.mark.parametrize("name", NDCG_WEIGHTED)
def test_the_soft_assignment_is_weighted(name: str, options: Options) -> None:
    """With one relevant document all pairs have its weight, which is thus a factor of the query."""
    generator = np.random.default_rng(2)
    scores, labels = generator.normal(size=30), np.zeros(30)
    labels[17] = 3.0
    soft: Options = {"assignment": "soft", "samples": 4, **options}
    plain = make_loss(name, **soft)(scores, labels, np.array([0, 30]))
    weights = np.where(labels > 0, 2.5, 0.3)
    weighted = weighted_terms(name, soft, (scores, labels, np.array([0, 30])), weights)
    np.testing.assert_allclose(weighted.gradient, 2.5 * plain.gradient, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(weighted.value, 2.5 * plain.value, rtol=1e-10)


@pytest.mark.parametrize("name", LOSSES)
def test_equal_weights_are_a_factor(name: str) -> None:
    """A weight of 2 for each document, or for each query, doubles the loss."""
    scores, labels, boundaries = joined(random_queries(seed=3, count=12))
    loss = make_loss(name)
    plain = loss(scores, labels, boundaries)
    twice = loss.prepare(labels, boundaries, document_weights=np.full(len(labels), 2.0)).terms(scores, 0)
    by_query = loss.prepare(labels, boundaries, np.full(len(boundaries) - 1, 2.0)).terms(scores, 0)
    for weighted in (twice, by_query):
        np.testing.assert_allclose(weighted.value, 2.0 * plain.value, rtol=1e-10, atol=1e-13)
        np.testing.assert_allclose(weighted.gradient, 2.0 * plain.gradient, rtol=1e-9, atol=1e-13)
        np.testing.assert_allclose(weighted.hessian, 2.0 * plain.hessian, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("name", LOSSES)
def test_training_gets_the_weighted_numbers_in_float32(name: str) -> None:
    """The computation without a value, with its short cut for unweighted pairs, applies the weights, too."""
    scores, labels, boundaries = joined(random_queries(seed=8, count=12))
    weights = np.random.default_rng(3).uniform(0.2, 3.0, len(labels))
    objective = make_loss(name).prepare(labels, boundaries, document_weights=weights)
    terms = objective.terms(scores, 0)
    gradient, hessian = objective(scores, 0)
    np.testing.assert_allclose(gradient, terms.gradient, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(hessian, terms.hessian, rtol=1e-6, atol=1e-7)
