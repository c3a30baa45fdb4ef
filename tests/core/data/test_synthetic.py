"""The random cubic polynomials."""

import hashlib
from typing import Any

import numpy as np
import pytest

from core.data import RankingDataset, dataset_statistics, sparse_dataset, synthetic_dataset
from core.data.synthetic import GAINS_2006, LABEL_SHARES
from core.errors import InvalidInput
from tests.core.data.strategies import assert_same


@pytest.mark.long
def test_the_same_seeds_make_the_same_data() -> None:
    """Data depend on the arguments alone; this digest changes only if the generation of the data changes."""
    dataset = synthetic_dataset(20, seed=3, polynomial_seed=5)
    assert_same(synthetic_dataset(20, seed=3, polynomial_seed=5), dataset)
    content = dataset.matrix.astype("<f4").tobytes() + dataset.labels.astype("<f4").tobytes()
    assert hashlib.sha256(content).hexdigest()[:16] == "27a942ff14bd5ed1"


@pytest.mark.long
def test_a_smaller_dataset_is_the_start_of_a_larger_one() -> None:
    """The number of queries, and so the blocks they are drawn in, does not change the data."""
    more = synthetic_dataset(700, seed=1, n_features=5, noise=0.3)
    fewer = synthetic_dataset(30, seed=1, n_features=5, noise=0.3)
    assert_same(fewer, more.select_queries(range(30)))


@pytest.mark.long
@pytest.mark.parametrize(
    ("polynomial_seed", "noise"),
    [
        (0, 0.0),
        (1, 0.5),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in ((0, 0.5), (1, 0.0), (2, 0.0), (2, 0.5))),
    ],
)
def test_labels_are_skewed_as_on_the_web(polynomial_seed: int, noise: float) -> None:
    """Over 100,000 documents each label has its share within four binomial standard deviations."""
    dataset = synthetic_dataset(2000, seed=9, polynomial_seed=polynomial_seed, n_features=12, noise=noise)
    counts = {entry["label"]: entry["documents"] for entry in dataset_statistics(dataset)["labels"]}
    for label, share in enumerate(LABEL_SHARES):
        # The cuts come from a sample as large as this one, hence the factor of two in the variance.
        deviation = (2 * share * (1 - share) / 100_000) ** 0.5
        assert counts[float(label)] / 100_000 == pytest.approx(share, abs=4 * deviation)


def test_features_are_uniform_between_minus_one_and_one() -> None:
    """The range is [-1, 1), the mean 0 and the variance 1/3."""
    features = synthetic_dataset(1000, seed=0, n_features=10).matrix
    assert -1 <= features.min() < -0.999
    assert 0.999 < features.max() < 1
    np.testing.assert_allclose(features.mean(), 0, atol=0.005)
    np.testing.assert_allclose(features.var(), 1 / 3, atol=0.005)


def _mean_label_top_10(train: RankingDataset, test: RankingDataset) -> float:
    """Return the mean label of each test query's ten best documents by a linear fit to training labels."""
    weights = np.linalg.lstsq(train.features, train.labels, rcond=None)[0]
    scores = (test.features @ weights).reshape(test.n_queries, -1)
    best = np.argsort(-scores, axis=1)[:, :10]
    return float(np.take_along_axis(test.labels.reshape(test.n_queries, -1), best, axis=1).mean())


@pytest.mark.long
def test_seeds_share_the_polynomial_of_their_polynomial_seed() -> None:
    """A model of one seed works for another seed of the same polynomial, and not for another polynomial."""
    train = synthetic_dataset(400, seed=1, n_features=20)
    same, other = (
        synthetic_dataset(200, seed=2, polynomial_seed=polynomial_seed, n_features=20)
        for polynomial_seed in (0, 1)
    )
    chance = float(np.dot(range(5), LABEL_SHARES))
    assert _mean_label_top_10(train, same) > 1.4 * chance
    assert _mean_label_top_10(train, other) < 1.2 * chance


@pytest.mark.long
def test_the_polynomial_is_not_linear() -> None:
    """A linear fit explains about the third of the variance that the linear terms have by construction."""
    dataset = synthetic_dataset(1000, seed=1, n_features=20)
    residual = np.linalg.lstsq(dataset.features, dataset.labels - dataset.labels.mean(), rcond=None)[1][0]
    assert 0.15 < 1 - residual / (dataset.labels.var() * dataset.n_documents) < 0.5


@pytest.mark.parametrize(
    "arguments",
    [
        {"n_queries": 0},
        {"seed": -1},
        {"polynomial_seed": -1},
        {"documents_per_query": 0},
        {"n_features": 0},
        {"noise": -0.1},
        {"noise": float("nan")},
        {"noise": float("inf")},
    ],
)
def test_arguments_out_of_bounds_are_refused(arguments: dict[str, Any]) -> None:
    """Each argument has its bound, and the error points at it."""
    with pytest.raises(InvalidInput) as caught:
        synthetic_dataset(**({"n_queries": 1, "seed": 0} | arguments))
    assert [problem.pointer for problem in caught.value.problems] == [f"/{name}" for name in arguments]


def test_gains_replace_the_labels() -> None:
    """The document of label y has the y-th gain; the features are the same."""
    plain, gained = (synthetic_dataset(20, seed=1, n_features=5, gains=gains) for gains in (None, GAINS_2006))
    assert np.array_equal(gained.labels, np.array(GAINS_2006)[plain.labels.astype(int)])
    assert np.array_equal(gained.matrix, plain.matrix)


def _relevant(dataset: RankingDataset) -> list[int]:
    """Return the number of documents of each query with a label above 0."""
    return [int(count) for count in np.add.reduceat(dataset.labels > 0, dataset.query_boundaries[:-1])]


def test_every_sparse_query_has_the_requested_number_of_relevant_documents() -> None:
    """A whole number is exact, a fraction the probability of one more; lists have the requested length."""
    exact = sparse_dataset(30, seed=1, documents_per_query=40, n_features=5, relevant_per_query=12)
    assert np.diff(exact.query_boundaries).tolist() == [40] * 30
    assert _relevant(exact) == [12] * 30
    between = sparse_dataset(400, seed=1, documents_per_query=9, n_features=5, relevant_per_query=2.25)
    assert set(_relevant(between)) == {2, 3}
    assert np.mean(_relevant(between)) == pytest.approx(2.25, abs=4 * (0.25 * 0.75 / 400) ** 0.5)


def test_sparse_data_has_the_published_share_of_label_0() -> None:
    """The share is 99.83%, as of Istella-X (2023, table 3); at least one document of a query is relevant."""
    published = sparse_dataset(20, seed=1, n_features=4)
    assert published.n_documents == 20 * 2_679
    assert set(_relevant(published)) == {4, 5}
    assert _relevant(sparse_dataset(3, seed=1, documents_per_query=10, n_features=4)) == [1, 1, 1]


def test_sparse_labels_follow_the_polynomial_in_their_proportions() -> None:
    """Both kinds of labels are steps of one value: no pair of documents is in opposite orders."""
    dense = synthetic_dataset(50, seed=3, documents_per_query=200, n_features=6)
    sparse = sparse_dataset(50, seed=3, documents_per_query=200, n_features=6, relevant_per_query=60)
    assert np.array_equal(sparse.matrix, dense.matrix)
    for query in range(50):
        rows = slice(200 * query, 200 * (query + 1))
        gaps = dense.labels[rows][:, None] - dense.labels[rows][None, :]
        other = sparse.labels[rows][:, None] - sparse.labels[rows][None, :]
        assert (gaps * other >= 0).all()
    shares = np.bincount(sparse.labels.astype(int), minlength=5)[1:] / 3_000
    expected = np.array(LABEL_SHARES[1:]) / sum(LABEL_SHARES[1:])
    np.testing.assert_allclose(shares, expected, atol=0.04)


@pytest.mark.parametrize(
    "arguments",
    [
        {"documents_per_query": 0},
        {"relevant_per_query": 0.5},
        {"relevant_per_query": 11},
        {"relevant_per_query": float("nan")},
        {"gains": [0, 1, 2, 3]},
        {"gains": [0, 1, 1, 2, 3]},
        {"gains": [-1, 1, 2, 3, 4]},
        {"gains": [0, 1, 2, 3, float("inf")]},
    ],
)
def test_sparse_arguments_out_of_bounds_are_refused(arguments: dict[str, Any]) -> None:
    """Each argument has its bound, and the error points at it."""
    with pytest.raises(InvalidInput) as caught:
        sparse_dataset(**({"n_queries": 1, "seed": 0, "documents_per_query": 10} | arguments))
    assert [problem.pointer for problem in caught.value.problems] == [f"/{name}" for name in arguments]
