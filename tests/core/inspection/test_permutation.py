"""Permutation importance."""

from dataclasses import replace

import numpy as np
import pytest

from core.evaluation import measure
from core.inspection import PermutationImportance, Permutations, permutation_importance
from core.inspection.permutation import Within, shuffle
from core.metrics import conventions
from core.scorers import Member, Sum, TreeModel
from core.scorers.network_file import write_network
from core.scoring import Forest
from core.scoring.model_text import ModelText
from core.types import Float32Array, Float64Array
from tests.core.inspection.forests import forest_of, judged, staircase, stump
from tests.core.scorers.networks import random_network

METRIC = "ndcg@5"


def _importances(
    text: ModelText, permutations: Permutations, threads: int = 1
) -> dict[int, PermutationImportance]:
    _, found = permutation_importance(
        TreeModel(text),
        judged(400, 4, seed=1),
        METRIC,
        permutations=permutations,
        threads=threads,
    )
    assert [each.mean for each in found] == sorted((each.mean or 0.0 for each in found), reverse=True)
    return {each.feature: each for each in found}


def test_importance_is_large_for_the_deciding_feature_and_0_for_unused_ones() -> None:
    """The feature behind the labels has a large importance, noise almost none, an unused one exactly none."""
    noise = stump(1, 0.5, 0.0, 1e-6)
    text = forest_of(*staircase(0, 4).trees, noise, n_features=4)
    found = _importances(text, Permutations())
    decisive, useless = found[0], found[1]
    assert 0.2 < (decisive.lower or 0.0) < (decisive.mean or 0.0) < (decisive.upper or 0.0)
    assert 0.0 < (decisive.standard_error or 0.0) < 0.02
    assert useless.mean == pytest.approx(0.0, abs=0.01)
    for unused in (2, 3):
        assert found[unused] == PermutationImportance(unused, 0.0, 0.0, 0.0, 0.0)


def test_a_feature_constant_within_queries_matters_only_if_permuted_over_the_dataset() -> None:
    """Documents of a query share the value, so that a permutation within the query changes nothing."""
    root = stump(3, 0.5, 0.0, 0.0)
    splits_by_query = replace(  # scores increase with f0 where f3 is small, else they decrease
        root,
        features=np.array([3, 0, 0]),
        thresholds=np.array([0.5, 0.5, 0.5]),
        decisions=np.repeat(root.decisions, 3),
        left=np.array([1, -1, -3]),
        right=np.array([2, -2, -4]),
        leaf_values=np.array([0.0, 1.0, 1.0, 0.0]),
        gains=np.ones(3),
        split_counts=np.ones(3, np.int64),
        leaf_counts=np.ones(4, np.int64),
    )
    text = forest_of(splits_by_query, n_features=4)
    within, over = (_importances(text, Permutations(within=kind))[3] for kind in _KINDS)
    assert (within.mean, within.lower, within.upper) == (0.0, 0.0, 0.0)
    assert (over.standard_error or 0.0) > 0.0


_KINDS: tuple[Within, Within] = ("query", "dataset")


@pytest.mark.parametrize("within", _KINDS)
@pytest.mark.parametrize("metric", [METRIC, "arp"])
def test_importance_equals_the_difference_after_shuffling_by_hand(within: Within, metric: str) -> None:
    """Importance is the mean over repeats of (metric before - after), or the negative if lower is better."""
    dataset, random = judged(30, 4, seed=2), np.random.default_rng(3)
    stumps = (stump(int(random.integers(3)), *random.normal(size=3)) for _ in range(60))
    text = forest_of(*staircase(0, 4).trees, *stumps, n_features=4)
    forest, contract = Forest(text), conventions("letor")
    groups = dataset.query_boundaries if within == "query" else np.array([0, dataset.n_documents])
    steps: list[tuple[int, int]] = []
    baseline, found = permutation_importance(
        TreeModel(text),
        dataset,
        metric,
        contract,
        Permutations(3, within, seed=9),
        on_step=lambda *step: steps.append(step),
    )
    assert steps == [(step, 9) for step in range(1, 10)]

    def measured(features: Float32Array) -> Float64Array:
        return measure(forest.score(features), dataset, [metric], contract)[metric]

    before = measured(dataset.matrix)
    assert baseline.mean == pytest.approx(np.nanmean(before))
    for each in found:
        means = []
        for repeat in range(3):
            shuffled = dataset.matrix.copy()
            column = shuffled[:, each.feature].copy()
            shuffle(column, groups, np.uint64(9), repeat * 4 + each.feature)
            shuffled[:, each.feature] = column
            means.append(np.nanmean(before - measured(shuffled)) * (-1 if metric == "arp" else 1))
        assert each.mean == pytest.approx(np.mean(means), rel=1e-9)
        assert each.standard_error == pytest.approx(np.std(means, ddof=1) / np.sqrt(3), rel=1e-9)


@pytest.mark.parametrize("within", _KINDS)
@pytest.mark.parametrize("indicators", [False, True])
def test_the_importance_of_a_linear_scorer_is_that_of_its_scores(within: Within, indicators: bool) -> None:
    """Scoring only the term of the shuffled feature again gives the importance of a sum of this one model."""
    network = random_network(4, missing_indicators=indicators, seed=5)
    dataset, permutations = judged(60, 4, seed=1), Permutations(2, within, seed=4)
    content = write_network(network)
    sum_model = Sum.of([Member("web:1", content, ("f0", "f1", "f2", "f3"), 1.0)])
    _, of_sum = permutation_importance(sum_model, dataset, METRIC, permutations=permutations)
    _, of_network = permutation_importance(network, dataset, METRIC, permutations=permutations)
    assert [each.feature for each in of_network] == [each.feature for each in of_sum]
    means = [each.mean for each in of_sum]
    assert [each.mean for each in of_network] == pytest.approx(means, abs=1e-12)


def test_a_sum_has_the_importance_of_its_scores() -> None:
    """A sum of trees and a member of weight 0 has the importance of the trees."""
    content = staircase(0, 4).write().encode()
    names = ("f0", "f1", "f2", "f3")
    sum_model = Sum.of([Member("web:1", content, names, 2.0), Member("off:1", content, names[::-1], 0.0)])
    dataset, permutations = judged(60, 4, seed=1), Permutations(2, seed=4)
    _, of_sum = permutation_importance(sum_model, dataset, METRIC, permutations=permutations)
    _, of_trees = permutation_importance(
        TreeModel(staircase(0, 4)), dataset, METRIC, permutations=permutations
    )
    assert [(each.feature, each.mean) for each in of_sum] == [(each.feature, each.mean) for each in of_trees]


def test_importance_is_the_same_on_any_number_of_threads() -> None:
    """Orders, scores and intervals do not depend on the number of threads."""
    text = staircase(0, 4)
    assert _importances(text, Permutations(seed=4)) == _importances(text, Permutations(seed=4), threads=2)
    assert _importances(text, Permutations(seed=4)) != _importances(text, Permutations(seed=5))


def test_features_are_unchanged_after_the_permutations() -> None:
    """The same dataset can be evaluated again."""
    dataset = judged(20, 4, seed=1)
    before = np.array(dataset.features)
    permutation_importance(TreeModel(staircase(0, 4)), dataset, METRIC, permutations=Permutations(2))
    np.testing.assert_array_equal(np.asarray(dataset.features), before)


def test_one_repeat_has_no_standard_error() -> None:
    """The standard error of one repeat is unknown."""
    assert _importances(staircase(0, 4), Permutations(repeats=1))[0].standard_error is None


def test_a_metric_that_no_query_defines_gives_no_importance() -> None:
    """Without a relevant document the importance is None, or 0 for an unused feature."""
    dataset = judged(5, 4, seed=3)
    irrelevant = dataset.with_labels(np.zeros_like(dataset.labels))
    baseline, (unused, *_, found) = permutation_importance(TreeModel(staircase(0, 4)), irrelevant, METRIC)
    assert (baseline.mean, found.feature, found.mean, found.lower) == (None, 0, None, None)
    assert unused.mean == 0.0


def test_the_interval_of_the_metric_stays_within_its_bounds() -> None:
    """NDCG is at most 1, so its interval ends there, as in evaluations."""
    dataset = judged(12, 4, seed=2)
    baseline, _ = permutation_importance(TreeModel(staircase(0, 4)), dataset, METRIC)
    assert baseline.mean is not None
    assert baseline.upper is not None
    assert 0.95 < baseline.mean < baseline.upper <= 1.0


def test_a_callback_can_stop_the_computation() -> None:
    """An exception of the callback ends the computation immediately."""

    def stop(done: int, total: int) -> None:
        raise InterruptedError(f"{done} of {total}")

    with pytest.raises(InterruptedError, match="1 of 5"):
        permutation_importance(TreeModel(staircase(0, 4)), judged(5, 4, seed=3), METRIC, on_step=stop)


def test_all_orders_are_equally_likely() -> None:
    """The 24 orders of four values are equally frequent; each group keeps its values."""
    counts: dict[tuple[int, ...], int] = {}
    for number in range(24_000):
        values = np.arange(7)
        shuffle(values, np.array([0, 4, 7]), np.uint64(1), number)
        assert sorted(values[4:].tolist()) == [4, 5, 6]
        order = tuple(values[:4].tolist())
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 24
    # χ² of 23 degrees of freedom exceeds 50 once in a thousand.
    assert sum((count - 1_000) ** 2 / 1_000 for count in counts.values()) < 50
