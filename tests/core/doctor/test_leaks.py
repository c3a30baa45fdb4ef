"""Features that leak the label."""

from typing import Any

import numpy as np
import pytest

from core.data import RankingDataset, synthetic_dataset
from core.doctor import examine


def _leaking(dataset: RankingDataset) -> tuple[str, ...]:
    return next((f.examples for f in examine(dataset).findings if f.code == "leaking-features"), ())


def _with_column(dataset: RankingDataset, column: Any) -> RankingDataset:
    features = np.column_stack([dataset.features, column]).astype(np.float32)
    return dataset.with_features(features, (*dataset.feature_names, "last"))


def _noisy(judged: Any, deviation: float) -> Any:
    return judged + np.random.default_rng(0).normal(0, deviation, len(judged))


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("label", lambda judged: judged),
        ("its negative", lambda judged: 100 - 3 * judged),
        ("its exponential", np.exp2),
        ("noisy", lambda judged: _noisy(judged, 0.3)),
        ("only for the relevant", lambda judged: np.where(judged > 0, judged, np.nan)),
    ],
)
def test_a_copy_of_the_label_is_found(name: str, column: Any) -> None:
    """The label may be copied, negated, transformed, noisy, or missing for irrelevant documents."""
    dataset = synthetic_dataset(50, seed=1, n_features=10)
    assert _leaking(_with_column(dataset, column(dataset.labels))) == ("last",)


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("constant", np.zeros_like),
        ("weak", lambda judged: _noisy(judged, 4.0)),
        ("as strong as BM25", lambda judged: _noisy(judged, 2.0)),
        ("as strong as a trained model", lambda judged: _noisy(judged, 0.9)),
    ],
)
def test_a_feature_that_does_not_copy_the_label_is_not_reported_as_a_leak(name: str, column: Any) -> None:
    """The feature is not reported, even if the rows are sorted by label, best first."""
    dataset = synthetic_dataset(50, seed=1, n_features=3)
    order = np.lexsort((-dataset.labels, np.repeat(np.arange(50), 50)))
    dataset = dataset.with_labels(dataset.labels[order])
    assert _leaking(_with_column(dataset, column(dataset.labels))) == ()


def test_luck_among_many_features_is_not_reported_as_a_leak() -> None:
    """On a few small queries, some of a thousand random features rank perfectly, and none is reported."""
    generator = np.random.default_rng(0)
    dataset = RankingDataset.from_arrays(
        generator.normal(size=(18, 1000)), np.tile([0, 1], 9), np.arange(0, 19, 2)
    )
    assert max(profile.ndcg_at_10 or 0 for profile in examine(dataset).features) == 1.0
    assert _leaking(dataset) == ()


def test_leaks_are_named_the_strongest_first() -> None:
    """The strongest leak is first in the examples, and the title has their number."""
    dataset = synthetic_dataset(50, seed=1, n_features=2)
    columns = np.column_stack([_noisy(dataset.labels, 0.3), dataset.labels]).astype(np.float32)
    (finding,) = examine(dataset.with_features(columns, ("blurred", "copied"))).findings
    assert finding.examples == ("copied", "blurred")
    assert finding.title.startswith(
        "All 2 features rank documents almost in the order of their labels, each alone"
    )
