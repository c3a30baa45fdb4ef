"""Fitting a dataset to a model's features."""

import numpy as np
import pytest

from core.data import RankingDataset
from core.errors import DatasetError
from worker.datasets import fit_features


def dataset(*names: str) -> RankingDataset:
    """Two documents of one query; column j holds j + 1 and -(j + 1)."""
    row = np.arange(1.0, len(names) + 1)
    return RankingDataset.from_arrays([row, -row], [1, 0], [0, 2], feature_names=names)


def test_the_same_features_are_left_as_they_are() -> None:
    """Nothing is copied where nothing has to change."""
    same = dataset("a", "b")
    assert fit_features(same, ("a", "b")) is same


def test_features_are_matched_by_name() -> None:
    """Another order and additional features do not confuse columns."""
    fitted = fit_features(dataset("b", "extra", "a"), ("a", "b"))
    assert fitted.feature_names == ("a", "b")
    assert fitted.features.tolist() == [[3, 1], [-3, -1]]
    assert fitted.features.flags.c_contiguous


def test_numbered_features_that_are_absent_are_zero() -> None:
    """LETOR text leaves zeros out, the last columns included."""
    assert fit_features(dataset("f1"), ("f1", "f2")).features.tolist() == [[1, 0], [-1, 0]]


@pytest.mark.parametrize(("has", "wants"), [(("bm25",), ("bm25", "age")), (("f1",), ("f1", "age"))])
def test_a_named_feature_that_is_absent_is_an_error(has: tuple[str, ...], wants: tuple[str, ...]) -> None:
    """Only the convention of numbered features says what an absent one is."""
    with pytest.raises(DatasetError, match="missing: age"):
        fit_features(dataset(*has), wants)
