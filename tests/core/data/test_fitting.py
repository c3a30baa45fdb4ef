"""Fitting a dataset to a model's features."""

from dataclasses import replace

import numpy as np
import pytest

from core.data import RankingDataset
from core.data.fitting import fit_features
from core.errors import DatasetError


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


@pytest.mark.parametrize("names", [("f1", "f2"), ("f0", "f1")])
def test_numbered_features_that_are_absent_are_zero(names: tuple[str, str]) -> None:
    """LETOR text leaves zeros out, the last columns included; LightGBM's may count from 0."""
    assert fit_features(dataset(names[0]), names).features.tolist() == [[1, 0], [-1, 0]]


def test_what_else_is_known_stays() -> None:
    """Weights and columns belong to documents and queries, not to features."""
    same = replace(dataset("a", "b"), document_weights=np.ones(2), query_columns={"market": ("de",)})
    fitted = fit_features(same, ("b", "a"))
    assert fitted.document_weights is same.document_weights
    assert fitted.query_columns == {"market": ("de",)}


@pytest.mark.parametrize(("has", "wants"), [(("bm25",), ("bm25", "age")), (("f1",), ("f1", "age"))])
def test_a_named_feature_that_is_absent_is_an_error(has: tuple[str, ...], wants: tuple[str, ...]) -> None:
    """Only the convention of numbered features says what an absent one is."""
    with pytest.raises(DatasetError, match="missing: age"):
        fit_features(dataset(*has), wants)
