"""Pooling the values of folds, and trainings on shared bins."""

import numpy as np
import pytest

from core.data import synthetic_dataset
from core.data.folds import FoldAssignment, RandomFolds
from core.metrics import parse_metric
from core.training import CheckpointError, IterationReport, train, training_spec
from core.training.binning import SharedBins
from core.training.boosting import bin_features
from core.training.cross_validation import (
    CrossValidation,
    fold_curves,
    fold_interval,
    fold_label,
    median_iteration,
)

METRICS = {"ndcg@5": parse_metric("ndcg@5")}
ASSIGNMENT = FoldAssignment(("1", "2"), np.array([0, 1, 0, 1, 1]))
NAN = float("nan")


def pooled() -> CrossValidation:
    """Return the result of two folds of two and three queries; the metric is undefined on one query."""
    begun = CrossValidation.before_first_fold(ASSIGNMENT, list(METRICS))
    one = begun.with_fold(10, 20, {"ndcg@5": np.array([0.2, 0.4])}, METRICS)
    return one.with_fold(21, 30, {"ndcg@5": np.array([0.9, NAN, 0.5])}, METRICS)


def test_the_pooled_mean_is_that_over_queries() -> None:
    """A fold with more queries has more weight; a query without a value is left out."""
    found = pooled()
    np.testing.assert_array_equal(found.per_query["ndcg@5"], [0.2, 0.9, 0.4, NAN, 0.5])
    assert found.means(METRICS)["ndcg@5"] == pytest.approx((0.2 + 0.9 + 0.4 + 0.5) / 4)
    over_folds = found.over_folds()["ndcg@5"]
    assert over_folds is not None
    assert over_folds.mean == pytest.approx(((0.2 + 0.4) / 2 + (0.9 + 0.5) / 2) / 2)


def test_queries_not_yet_tested_have_no_value() -> None:
    """The result after some folds has values of the tested queries only."""
    first = pooled().first_folds(1)
    np.testing.assert_array_equal(first.per_query["ndcg@5"], [0.2, NAN, 0.4, NAN, NAN])
    assert [fold.fold for fold in first.folds] == ["1"]
    assert not first.is_complete
    assert pooled().is_complete


def test_the_interval_over_folds_follows_students_t_distribution() -> None:
    """Mean ± t(k − 1) · s / √k; t(2) at 97.5% is 4.3027 by the tables."""
    found = fold_interval([0.4, None, 0.5, 0.6])
    assert found is not None
    half = 4.3027 * 0.1 / np.sqrt(3)
    assert (found.lower, found.upper) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-4)
    single = fold_interval([0.4])
    assert single is not None
    assert (single.mean, single.lower, single.upper) == (0.4, None, None)
    assert fold_interval([None]) is None


@pytest.mark.parametrize(("best", "median"), [([5], 5), ([3, 9, 4], 4), ([10, 31, 20, 21], 21)])
def test_the_median_iteration_is_rounded_up(best: list[int], median: int) -> None:
    """The middle one, or the whole number above the middle of two."""
    assert median_iteration(best) == median


def test_a_fold_without_a_metric_has_no_best_iteration() -> None:
    """The last iteration of a fold whose queries do not define the metric is not its best one."""
    assignment = FoldAssignment(("1", "2"), np.array([0, 1, 0, 1, 1]))
    undefined = {"ndcg@5": np.array([NAN, NAN])}
    first = CrossValidation.before_first_fold(assignment, list(METRICS)).with_fold(
        500, 20, undefined, METRICS, is_defined=False
    )
    assert first.best_iteration == 500
    both = first.with_fold(21, 30, {"ndcg@5": np.array([0.9, NAN, 0.5])}, METRICS)
    assert both.best_iteration == 21
    assert CrossValidation.from_bytes(both.to_bytes(), assignment)[0].best_iteration == 21


def test_a_checkpoint_holds_the_folds_and_the_unfinished_training() -> None:
    """A checkpoint is read as it was written; folds of other queries are refused."""
    report = IterationReport(1, 2, {"validation": {"ndcg@5": 0.3}}, 1)
    values = {"ndcg@5": np.array([0.2, 0.4])}
    written = CrossValidation.before_first_fold(ASSIGNMENT, list(METRICS)).with_fold(
        10, 20, values, METRICS, [report]
    )
    read, training = CrossValidation.from_bytes(written.to_bytes(b"tree"), ASSIGNMENT)
    assert training == b"tree"
    assert read.folds == written.folds
    np.testing.assert_array_equal(read.per_query["ndcg@5"], written.per_query["ndcg@5"])
    assert CrossValidation.from_bytes(written.to_bytes(), ASSIGNMENT)[1] is None
    other = FoldAssignment(("1", "2"), np.array([1, 1, 0, 1, 0]))
    with pytest.raises(CheckpointError, match="other folds"):
        CrossValidation.from_bytes(written.to_bytes(), other)
    flipped = bytearray(written.to_bytes())
    flipped[flipped.index(b"PK\x01\x02") + 10] = 99  # an unknown method of compression
    for damaged in (written.to_bytes()[:50], bytes(flipped)):
        with pytest.raises(CheckpointError, match="damaged"):
            CrossValidation.from_bytes(damaged, ASSIGNMENT)


def test_curves_are_means_over_the_folds_measured() -> None:
    """A fold that stopped early does not count later."""
    one = {"train": {"loss": 2.0}, "validation": {"ndcg@5": 0.2}}
    other = {"train": {"loss": 4.0}, "validation": {"ndcg@5": 0.4}}
    assert fold_curves([("1", one), ("2", other)]) == {
        "train": {"loss": 3.0},
        "validation": {"ndcg@5": pytest.approx(0.3)},
        "fold 1": {"ndcg@5": 0.2},
        "fold 2": {"ndcg@5": 0.4},
    }
    assert set(fold_curves([("2", other)])) == {"train", "validation", "fold 2"}
    assert fold_label("Fold1") == "Fold1"


@pytest.mark.parametrize("boosting", ["gbdt", "dart"])
def test_shared_bins_give_the_usual_model(boosting: str) -> None:
    """A training on all documents of shared bins gives the usual model; a part reads no other labels."""
    dataset = synthetic_dataset(60, seed=1, n_features=6)
    spec = training_spec(
        {
            "loss": {"name": "lambdarank"},
            "hyperparameters": {"num_iterations": 6, "num_leaves": 7, "boosting": boosting},
            "metrics": ["ndcg@5"],
        }
    )
    bins = bin_features(spec, dataset)
    assert train(spec, dataset, bins=SharedBins(bins)).model_text == train(spec, dataset).model_text
    assignment = RandomFolds(3).assign(dataset, 1)
    training, held_out = assignment.split(dataset, 0)
    rows = assignment.documents(dataset.query_boundaries, 0)
    ranker = train(spec, training, held_out, bins=SharedBins(bins, *rows))
    relabelled = dataset.labels.copy()
    relabelled[rows[1]] = 0.0
    other = bin_features(spec, dataset.with_labels(relabelled))
    again = train(spec, training, held_out, bins=SharedBins(other, *rows))
    assert again.model_text == ranker.model_text
    assert again.history == ranker.history
