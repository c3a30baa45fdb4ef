"""Selection of a sum of candidates by held-out scores."""

import numpy as np
import pytest

from core.autotrain.held_out import HeldOut, QueryQuality, mean_of
from core.autotrain.selection import Selection
from core.autotrain.weights import PairLoss
from core.data import RankingDataset, synthetic_dataset
from core.evaluation import evaluate
from core.metrics import DEFAULT
from core.types import Float64Array


def _held_out(queries: int) -> tuple[RankingDataset, HeldOut]:
    dataset = synthetic_dataset(queries, seed=3, documents_per_query=15, n_features=4)
    return dataset, HeldOut(dataset, "ndcg@5", DEFAULT, seed=0)


def _noisy(held_out: HeldOut, dataset: RankingDataset, seed: int, noise: float) -> Float64Array:
    generator = np.random.default_rng(seed)
    shape = (held_out.repetitions, dataset.n_documents)
    return dataset.labels + noise * generator.normal(size=shape)


def test_independent_errors_are_averaged() -> None:
    """The sum of three scores with independent noise is better than each score on unseen queries."""
    dataset, held_out = _held_out(320)
    scores = [_noisy(held_out, dataset, seed, 2.0) for seed in range(3)]
    selection = Selection(held_out, scores, [2, 2, 2])
    chosen = selection.choose("simple")
    assert list(chosen.members) == [0, 1, 2]
    assert np.nanmean(chosen.values) > np.nanmean(selection.values, axis=1).max() + 0.02
    assert chosen.weights.sum() == 1.0 or abs(chosen.weights.sum() - 1.0) < 1e-12


def test_weights_do_not_depend_on_the_scale_of_scores() -> None:
    """Scores in other units have the same weight, and `scales` is proportional to the units."""
    dataset, held_out = _held_out(40)
    scores = [_noisy(held_out, dataset, seed, 2.0) for seed in range(3)]
    first = Selection(held_out, scores, [2] * 3)
    other = Selection(held_out, [1024.0 * scores[0], *scores[1:]], [2] * 3)
    np.testing.assert_array_equal(other.sum().weights, first.sum().weights)
    assert other.scales == (1024.0 * first.scales[0], *first.scales[1:])


def test_the_simplest_of_equals_is_chosen() -> None:
    """Among candidates with equal scores, the one with the fewest parts is chosen, and not a sum."""
    dataset, held_out = _held_out(320)
    scores = _noisy(held_out, dataset, 0, 1.0)
    chosen = Selection(held_out, [scores, scores, scores], [3, 1, 2]).choose("simple")
    assert list(chosen.members) == [1]


def test_the_simplest_within_one_standard_error_is_chosen() -> None:
    """A candidate that is hardly worse is simpler; one that is clearly worse is not chosen."""
    drawn, _ = _held_out(100)
    labels = np.where(np.arange(drawn.n_documents) < 30, 1.0, drawn.labels)  # two queries without pairs
    dataset = RankingDataset.from_arrays(drawn.features, labels, drawn.query_boundaries)
    held_out = HeldOut(dataset, "ndcg@5", DEFAULT, seed=0)
    scores = [_noisy(held_out, dataset, seed, noise) for seed, noise in enumerate((1.0, 1.02, 3.0))]
    losses = np.nanmean(PairLoss(dataset, np.stack(scores)).of_candidates, axis=1)
    assert losses[0] < losses[1] < losses[2]
    assert list(Selection(held_out, scores, [3, 2, 1]).single().members) == [1]
    assert list(Selection(held_out, scores[::2], [3, 1]).single().members) == [0]


def test_small_weights_are_dropped() -> None:
    """A candidate that hardly adds to the sum is not a member."""
    dataset, held_out = _held_out(40)
    scores = [_noisy(held_out, dataset, seed, noise) for seed, noise in enumerate((1.0, 2.0, 20.0))]
    assert list(Selection(held_out, scores, [2] * 3).sum().members) == [0, 1]


def test_a_sum_is_preferred_to_its_best_member() -> None:
    """A sum of less loss is chosen as the best model although a member happens to measure higher."""
    dataset, held_out = _held_out(40)
    shared = _noisy(held_out, dataset, 2, 2.0)
    scores = [shared + 0.5 * np.random.default_rng([2, k]).normal(size=shared.shape) for k in range(4)]
    selection = Selection(held_out, scores, [2] * 4)
    assert mean_of(selection.single().values) > mean_of(selection.sum().values)
    assert list(selection.choose("best").members) == [1, 2, 3]
    assert len(selection.choose("simple").members) == 1


@pytest.mark.parametrize("queries", [2, 3, 5])
def test_few_queries_tie_all_candidates(queries: int) -> None:
    """No candidate is worse than the best by so few queries, whatever the values."""
    dataset, held_out = _held_out(queries)
    random = np.random.default_rng(0).normal(size=(20, held_out.repetitions, dataset.n_documents))
    selection = Selection(held_out, [*random, _noisy(held_out, dataset, 0, 0.0)], [2] * 21)
    assert all(selection.tied_with_best())


def test_equal_scores_within_queries_get_no_weight() -> None:
    """A candidate with equal scores within each query is a member only if there is no other."""
    dataset, held_out = _held_out(40)
    noise = np.random.default_rng(0).normal(size=(held_out.repetitions, dataset.n_documents))
    scores = [np.zeros_like(noise), noise, -noise]
    assert 0 not in Selection(held_out, scores, [1, 2, 2]).choose("best").members
    assert list(Selection(held_out, scores[:1], [1]).choose("best").members) == [0]
    assert list(Selection(held_out, scores[:1] * 3, [2, 1, 2]).choose("best").members) == [1]


@pytest.mark.parametrize("n_candidates", [20, 30])
def test_many_equally_good_candidates_are_kept(n_candidates: int) -> None:
    """The least weight is smaller where no candidate has much more."""
    dataset, held_out = _held_out(40)
    scores = [_noisy(held_out, dataset, seed, 2.0) for seed in range(n_candidates)]
    chosen = Selection(held_out, scores, [2] * n_candidates).sum()
    assert len(chosen.members) > n_candidates / 2
    equal = Selection(held_out, scores[:1] * n_candidates, [2] * n_candidates).sum()
    np.testing.assert_allclose(equal.weights, 1.0 / n_candidates)


def test_the_estimate_is_not_biased_by_selection() -> None:
    """For sums of eight random candidates, the estimate removes more than half of the selection bias."""
    dataset, held_out = _held_out(60)
    excess, estimated_excess = [], []
    for seed in range(4):
        generator = np.random.default_rng(seed)
        shape = (held_out.repetitions, dataset.n_documents)
        selection = Selection(held_out, [generator.normal(size=shape) for _ in range(8)], [2] * 8)
        chance = np.nanmean(selection.values)
        excess.append(np.nanmean(selection.values, axis=1).max() - chance)
        estimated_excess.append(np.nanmean(selection.choose("best").values) - chance)
    assert np.mean(estimated_excess) < 0.5 * np.mean(excess)


@pytest.mark.parametrize(("metric", "upward"), [("ndcg@5", True), ("arp", False), ("gm-map", True)])
def test_means_and_intervals_are_those_of_the_metric(metric: str, upward: bool) -> None:
    """`values` are signed so that larger is better; mean and interval are in the metric's units."""
    dataset = synthetic_dataset(12, seed=3, documents_per_query=15, n_features=4)
    quality = QueryQuality(dataset, metric, DEFAULT, seed=0)
    perfect, reversed_ = (
        quality.values(sign * dataset.labels[np.newaxis].astype(np.float64)) for sign in (1.0, -1.0)
    )
    assert np.nanmean(perfect) > np.nanmean(reversed_)
    found = evaluate(dataset.labels.astype(np.float64), dataset, [metric]).to_json()[metric]
    assert quality.in_metric_units(mean_of(perfect)) == pytest.approx(found["mean"])
    interval = quality.interval(reversed_)
    assert interval is not None
    assert interval[0] <= quality.in_metric_units(mean_of(reversed_)) <= interval[1]
    assert (quality.in_metric_units(mean_of(perfect)) > interval[1]) == upward


def test_the_better_of_two_candidates_is_found_on_few_queries() -> None:
    """The loss of all pairs finds the candidate with less noise, where NDCG@5 is often misled."""
    dataset, held_out = _held_out(20)
    by_loss, by_metric = 0, 0
    for seed in range(20):
        scores = [_noisy(held_out, dataset, seed, 2.0), _noisy(held_out, dataset, 100 + seed, 2.5)]
        selection = Selection(held_out, scores, [2, 2])
        by_loss += list(selection.single().members) == [0]
        by_metric += int(np.argmax(np.nanmean(selection.values, axis=1)) == 0)
    assert by_loss >= 19
    assert by_metric <= 17
