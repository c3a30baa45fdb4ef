"""Rankings that need no training."""

import numpy as np

from core.data import RankingDataset
from core.evaluation import baselines, evaluate, random_order


def _dataset() -> RankingDataset:
    generator = np.random.default_rng(4)
    labels = generator.integers(0, 3, 600).astype(float)
    noise = generator.standard_normal(600)
    features = np.column_stack([noise, -labels + 0.1 * noise, np.full(600, np.nan)])
    return RankingDataset.from_arrays(
        features, labels, np.arange(0, 601, 20), feature_names=["noise", "price", "empty"]
    )


def test_the_best_single_feature_is_found_in_its_direction() -> None:
    """A feature that falls as relevance rises ranks lowest first."""
    dataset = _dataset()
    found = {baseline.name: baseline for baseline in baselines(dataset, seed=7)}
    assert list(found) == ["input order", "random", "best single feature"]
    assert found["best single feature"].detail == "price, lowest first"
    means = {
        name: evaluate(baseline.scores, dataset, ["ndcg@10"]).means["ndcg@10"]
        for name, baseline in found.items()
    }
    best, random, order = means["best single feature"], means["random"], means["input order"]
    assert best is not None
    assert random is not None
    assert order is not None
    assert best > 0.95 > random


def test_input_order_holds_under_every_way_to_break_ties() -> None:
    """Its scores fall from document to document."""
    (order, *_) = baselines(_dataset(), seed=7)
    assert (np.diff(order.scores) < 0).all()


def test_a_random_order_is_that_of_its_seed_and_of_what_was_retrieved() -> None:
    """The same seed gives the same scores; what has none gets none."""
    scores = np.array([1.0, np.nan, 2.0])
    first, again, other = (random_order(scores, seed).scores for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other, equal_nan=True)
    np.testing.assert_array_equal(np.isnan(first), [False, True, False])


def test_without_a_telling_query_no_feature_is_best() -> None:
    """Where all documents are alike in label, every order is."""
    dataset = RankingDataset.from_arrays([[1.0], [2.0]], [1, 1], [0, 2])
    assert [baseline.name for baseline in baselines(dataset, seed=0)] == ["input order", "random"]
