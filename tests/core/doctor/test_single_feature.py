"""Features as rankers: ties, directions, missing values, bounds."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.data import RankingDataset, synthetic_dataset
from core.doctor import examine
from core.doctor.single_feature import MAX_QUERIES, SingleFeatures, rank_by_single_features
from core.metrics import parse_metric
from tests.core.doctor.judged import labels, sound

NAN = math.nan


def _single(values: list[float], judged: list[float]) -> SingleFeatures:
    """Rank one query by one feature."""
    return rank_by_single_features(
        RankingDataset.from_arrays([[v] for v in values], judged, [0, len(judged)]), 0
    )


def _ndcg_at_10(ranked_labels: list[float]) -> float:
    dcg, ideal = (
        sum((2**label - 1) / math.log2(2 + index) for index, label in enumerate(order[:10]))
        for order in (ranked_labels, sorted(ranked_labels, reverse=True))
    )
    return dcg / ideal


def _over_all_orders(values: list[float], judged: list[float], ahead: int) -> float:
    """Return NDCG@10 of a stable sort, averaged over every order of the input, missing values last."""

    def key(row: int) -> tuple[bool, float]:
        return (True, 0.0) if math.isnan(values[row]) else (False, -values[row])

    orders = [sorted(order, key=key) for order in itertools.permutations(range(len(values)))]
    return float(np.mean([_ndcg_at_10([0.0] * ahead + [judged[row] for row in order]) for order in orders]))


@pytest.mark.long
@given(
    st.lists(
        st.tuples(st.sampled_from([0.0, 1.0, 2.0, NAN]), st.sampled_from([0.0, 1.0, 2.0])),
        min_size=2,
        max_size=6,
    ),
    st.integers(0, 10),
)
def test_equal_values_share_their_ranks(rows: list[tuple[float, float]], ahead: int) -> None:
    """NDCG@10 is the mean over all orders of the input, in both directions; also where ties cross rank 10."""
    values, judged = (list(column) for column in zip(*rows, strict=True))
    judged[0] += 1.0 if len(set(judged)) == 1 and not ahead else 0.0
    judged[0] += 1.0 if not any(judged) else 0.0
    front, irrelevant = [100.0 + index for index in range(ahead)], [0.0] * ahead
    expected = _over_all_orders(values, judged, ahead)
    assert _single(values + front, judged + irrelevant).descending[0] == pytest.approx(expected, abs=1e-12)
    turned = [-value for value in front + values]
    assert _single(turned, irrelevant + judged).ascending[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("judged", [[3, 2, 1, 0, 0, 0], [0, 0, 0, 1, 2, 3]], ids=["best first", "best last"])
def test_a_constant_feature_is_no_better_than_chance(judged: list[float]) -> None:
    """The lift from chance to the ideal is 0, however the input is sorted."""
    single = _single([7.0] * 6, judged)
    assert single.lift[0] == pytest.approx(0.0, abs=1e-12)
    assert single.descending[0] == single.ascending[0] == pytest.approx(single.by_chance, abs=1e-12)


def test_chance_is_the_mean_of_random_orders() -> None:
    """The value for a query longer than the cutoff is checked by simulation."""
    generator = np.random.default_rng(0)
    judged = generator.integers(0, 4, 30).astype(float).tolist()
    simulated = [_ndcg_at_10(generator.permutation(judged).tolist()) for _ in range(4000)]
    assert _single([0.0] * 30, judged).by_chance == pytest.approx(np.mean(simulated), abs=0.01)


def test_the_label_and_its_negative_rank_ideally() -> None:
    """The lift is 1 in the better direction."""
    judged = labels({})
    values = np.stack([judged, -judged], axis=1)
    single = rank_by_single_features(sound(features=values, feature_names=["up", "down"]), 0)
    assert single.lift.tolist() == pytest.approx([1.0, 1.0])
    assert [single.descending[0], single.ascending[1]] == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize("direction", ["descending", "ascending"])
def test_missing_values_rank_last_in_both_directions(direction: str) -> None:
    """A value that only relevant documents have is found, whatever it is."""
    single = _single([NAN, NAN, 5.0, 5.0, NAN], [0, 0, 1, 1, 0])
    assert getattr(single, direction)[0] == 1.0


def test_infinite_values_rank_as_the_largest_and_the_smallest() -> None:
    """Infinity ranks above every number and its negative below; missing values rank last."""
    assert _single([NAN, -math.inf, 0.0, math.inf], [0, 1, 2, 3]).descending[0] == 1.0


@pytest.mark.parametrize("seed", range(5))
def test_without_ties_the_value_is_that_of_the_metric(seed: int) -> None:
    """The value equals NDCG@10 of `core.metrics` over the queries whose documents differ in label."""
    dataset = synthetic_dataset(30, seed=seed, documents_per_query=25, n_features=3)
    dataset = dataset.with_labels(np.where(np.arange(750) < 50, 1, dataset.labels).astype(np.float32))
    single = rank_by_single_features(dataset, 0)
    ndcg = parse_metric("ndcg@10")
    for column in range(3):
        for sign, found in ((1, single.descending), (-1, single.ascending)):
            scores = sign * dataset.features[:, column].astype(np.float64)
            values = ndcg(scores, dataset.labels, dataset.query_boundaries)[2:]
            assert found[column] == pytest.approx(np.nanmean(values), abs=1e-12)


def test_only_queries_of_different_gains_are_used() -> None:
    """Queries whose documents have equal gains are left out; labels below 0 and missing ones gain nothing."""
    judged = [1, 1, 0, -1, NAN, 0, 2, 0]
    dataset = RankingDataset.from_arrays(np.arange(8.0)[:, None], judged, [0, 2, 4, 6, 8])
    single = rank_by_single_features(dataset, 0)
    assert (single.queries, single.documents) == (1, 2)
    nothing = rank_by_single_features(dataset.select_queries([0, 1, 2]), 0)
    assert nothing.queries == 0
    assert np.isnan(nothing.better).all()


def test_labels_too_large_for_the_exponential_gain_gain_their_own_value() -> None:
    """A click count of 10,000 does not overflow."""
    discounts = [1 / math.log2(2 + index) for index in range(3)]
    ideal = np.dot([10_000, 50, 0], discounts)
    assert _single([1.0, 2.0, 3.0], [50, 10_000, 0]).descending[0] == pytest.approx(
        np.dot([0, 10_000, 50], discounts) / ideal
    )


def test_the_sample_is_bounded_and_drawn_by_the_seed() -> None:
    """At most 1,000 queries are drawn; the same seed draws the same queries, another seed different ones."""
    dataset = synthetic_dataset(MAX_QUERIES + 500, seed=3, documents_per_query=20, n_features=2)
    first, again, other = (rank_by_single_features(dataset, seed) for seed in (1, 1, 2))
    assert first.queries == MAX_QUERIES
    assert first.descending.tolist() == again.descending.tolist() != other.descending.tolist()


def test_the_sample_has_a_limit_of_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """A query that exceeds the limit is skipped, and later queries are taken while they fit."""
    monkeypatch.setattr("core.doctor.single_feature.MAX_CELLS", 60)
    generator = np.random.default_rng(0)
    dataset = RankingDataset.from_arrays(
        generator.normal(size=(65, 2)), np.arange(65) % 2, [0, 31, 41, 51, 61, 65]
    )
    single = rank_by_single_features(dataset, 0)
    assert single.documents <= 30
    assert single.queries >= 3


def test_codes_of_categories_are_not_tried_as_scores() -> None:
    """Codes count the values in the order of the file, which is unrelated to relevance."""
    judged = np.tile([2.0, 1.0, 0.0], 40)
    dataset = RankingDataset.from_arrays(
        np.column_stack([np.arange(120), np.tile([0.0, 1.0, 0.5], 40)]),
        judged,
        np.arange(0, 121, 3),
        feature_names=["product", "price"],
        categories={"product": [f"p{number}" for number in range(120)]},
    )
    single = rank_by_single_features(dataset, 0)
    assert np.isnan(single.better).tolist() == [True, False]
    report = examine(dataset)
    assert [profile.ndcg_at_10 is None for profile in report.features] == [True, False]
    assert "leaking-features" not in [finding.code for finding in report.findings]
