"""Rankings that need no training."""

import numpy as np
import pytest

from core.data import RankingDataset
from core.evaluation import Baseline, baseline_findings, baselines, evaluate, random_order

N = 100
VALUES = np.random.default_rng(0).uniform(0.1, 0.5, N)
NOISE = 0.05 * np.random.default_rng(1).standard_normal(N)
NOISE -= NOISE.mean()


def _named(name: str, *, by_labels: bool = False) -> Baseline:
    return Baseline(name, "", np.empty(0), by_labels)


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


def test_input_order_has_no_ties() -> None:
    """The scores fall from document to document."""
    (order, *_) = baselines(_dataset(), seed=7)
    assert (np.diff(order.scores) < 0).all()


def test_a_random_order_depends_on_the_seed_and_the_retrieved_documents() -> None:
    """The same seed gives the same scores; documents without a score get none."""
    scores = np.array([1.0, np.nan, 2.0])
    first, again, other = (random_order(scores, seed).scores for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other, equal_nan=True)
    np.testing.assert_array_equal(np.isnan(first), [False, True, False])


def test_without_different_labels_no_feature_is_best() -> None:
    """If all documents have the same label, all orders are equally good."""
    dataset = RankingDataset.from_arrays([[1.0], [2.0]], [1, 1], [0, 2])
    assert [baseline.name for baseline in baselines(dataset, seed=0)] == ["input order", "random"]


def test_a_category_is_never_the_best_single_feature() -> None:
    """The codes of a category rise down a file that is sorted by label, and rank it perfectly."""
    labels = np.tile([2.0, 1.0, 0.0], 20)
    products = {"product": [f"p{number}" for number in range(60)]}
    codes, price = np.arange(60.0), np.tile([0.2, 0.9, 0.1], 20)
    for features, names, best in (
        ([codes, price], ["product", "price"], ["price, highest first"]),
        ([codes], ["product"], []),
    ):
        dataset = RankingDataset.from_arrays(
            np.column_stack(features), labels, np.arange(0, 61, 3), feature_names=names, categories=products
        )
        assert [baseline.detail for baseline in baselines(dataset, seed=0)[2:]] == best


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_worse_and_unproven_baselines_are_named_with_the_numbers(sign: float) -> None:
    """A significantly worse system is an error; one that is not significantly better is a warning."""
    found = baseline_findings(
        "web:3",
        "ndcg@1",
        VALUES,
        [
            (_named("input order"), VALUES - sign * 0.1),
            (_named("random"), VALUES + sign * 0.1),
            (_named("best single feature"), VALUES + NOISE),
        ],
        higher_is_better=sign > 0.0,
    )
    assert [(one.code, one.severity, one.count, one.total) for one in found] == [
        ("worse-than-baseline", "error", 1, 3),
        ("not-better-than-baseline", "warning", 1, 3),
    ]
    mean, random = VALUES.mean(), (VALUES + sign * 0.1).mean()
    assert found[0].title == (
        f"web:3 is worse than random {random:.4f} (p = 0.0003): ndcg@1 {mean:.4f} over {N} queries"
    )
    assert f"is not significantly better than best single feature {mean:.4f}" in found[1].title


@pytest.mark.parametrize(("queries", "code"), [(6, ["too-few-queries"]), (7, [])])
def test_too_few_queries_give_only_an_info(queries: int, code: list[str]) -> None:
    """A better value on all of 6 queries over three baselines has p = 3 * 2 / 2^6 > 0.05, on 7 less."""
    three = [(_named(name), VALUES[:queries] - 0.1) for name in "abc"]
    found = baseline_findings("web:3", "map", VALUES[:queries], three)
    assert [one.code for one in found] == code
    assert all(one.severity == "info" for one in found)


def test_a_metric_that_is_equal_for_all_orders_gives_only_an_info() -> None:
    """All orders have the same recall where the cutoff is beyond all lists."""
    ones = np.ones(N)
    (found,) = baseline_findings("web:3", "recall@1000", ones, [(_named("random"), ones)])
    assert (found.code, found.count, found.total) == ("too-few-queries", 0, N)


def test_input_in_label_order_and_undefined_values_do_not_count() -> None:
    """An input order by the labels is no baseline, and undefined values give no finding."""
    better = VALUES + 0.1
    label_order = _named("input order", by_labels=True), np.ones(N)
    assert baseline_findings("web:3", "map", better, [label_order, (_named("random"), VALUES)]) == []
    assert baseline_findings("web:3", "map", better, [label_order]) == []
    assert baseline_findings("web:3", "map", np.full(N, np.nan), [(_named("random"), VALUES)]) == []
    data = _dataset()
    order = np.lexsort((-data.labels, np.repeat(np.arange(30), 20)))
    by_label = RankingDataset.from_arrays(data.features[order], data.labels[order], data.query_boundaries)
    assert [one.by_labels for one in baselines(by_label, seed=0)] == [True, False, False]
    assert not any(one.by_labels for one in baselines(data, seed=0))
