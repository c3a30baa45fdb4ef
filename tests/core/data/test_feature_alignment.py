"""Fitting a dataset to a model's features."""

from dataclasses import replace

import numpy as np
import pytest

from core.data import RankingDataset
from core.data.categories import Categories
from core.data.feature_alignment import AbsentFeatures, align_features, unseen_values
from core.errors import DatasetError, FeaturesAbsent


def dataset(*names: str) -> RankingDataset:
    """Return two documents of one query; column j holds j + 1 and -(j + 1)."""
    row = np.arange(1.0, len(names) + 1)
    return RankingDataset.from_arrays([row, -row], [1, 0], [0, 2], feature_names=names)


def test_a_dataset_with_the_features_of_the_model_is_not_copied() -> None:
    """The same object is returned."""
    same = dataset("a", "b")
    assert align_features(same, ("a", "b")) is same


def test_features_are_matched_by_name() -> None:
    """Another order and additional features do not confuse columns."""
    aligned = align_features(dataset("b", "extra", "a"), ("a", "b"))
    assert aligned.feature_names == ("a", "b")
    assert aligned.matrix.tolist() == [[3, 1], [-3, -1]]
    assert aligned.matrix.flags.c_contiguous


@pytest.mark.parametrize("names", [("f1", "f2"), ("f0", "f1")])
def test_numbered_features_that_are_absent_are_zero(names: tuple[str, str]) -> None:
    """LETOR text leaves zeros out, the last columns included; LightGBM's columns may count from 0."""
    assert align_features(dataset(names[0]), names).matrix.tolist() == [[1, 0], [-1, 0]]


def test_weights_and_columns_are_kept() -> None:
    """Weights and columns belong to documents and queries, not to features."""
    same = replace(dataset("a", "b"), document_weights=np.ones(2), query_columns={"market": ("de",)})
    aligned = align_features(same, ("b", "a"))
    assert aligned.document_weights is same.document_weights
    assert aligned.query_columns == {"market": ("de",)}


@pytest.mark.parametrize(("has", "wants"), [(("bm25",), ("bm25", "age")), (("f1",), ("f1", "age"))])
def test_a_named_feature_that_is_absent_is_missing(has: tuple[str, ...], wants: tuple[str, ...]) -> None:
    """Only a numbered feature that is absent is 0, by convention."""
    np.testing.assert_array_equal(align_features(dataset(*has), wants).features, [[1, np.nan], [-1, np.nan]])


def test_bare_judgments_are_refused() -> None:
    """A dataset of judgments without features cannot be aligned to a model."""
    bare = dataset("a").with_features(np.zeros((2, 0), np.float32), ())
    with pytest.raises(DatasetError, match="judgments but no features"):
        align_features(bare, ("a",))


def test_unseen_numbers_are_shown_with_all_digits() -> None:
    """A product id of seven digits can be looked up in the data."""
    numbers = dataset("product").with_features(np.array([[1234567], [7.5]], np.float32), ("product",))
    (found,) = unseen_values(numbers, ("product",), {"product": Categories(("1", "2"))})
    assert (found.documents, found.examples) == (2, ("7.5", "1234567"))


@pytest.mark.parametrize(("absent", "refused"), [(0, False), (2, False), (3, True), (4, True)])
def test_a_dataset_that_lacks_most_used_features_is_refused(absent: int, refused: bool) -> None:
    """Half of the features that the model uses may be absent; other features of the dataset do not count."""
    used = ("a", "b", "c", "d")
    found = AbsentFeatures.of(dataset(*used[absent:], "extra"), used)
    assert (found.names, found.used, found.are_majority) == (used[:absent], 4, refused)
    if refused:
        with pytest.raises(
            FeaturesAbsent, match=f"the data lacks {absent} of the 4 features that web:3 uses"
        ):
            found.refuse_majority("/dataset_id", "the data", "web:3")
    else:
        found.refuse_majority("/dataset_id", "the data", "web:3")


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (("7", "1001"), [7.0, 1001.0]),
        (("true", "false"), [1.0, 0.0]),
        ((str(2**60), "12"), [2.0**60, 12.0]),
        (("acme", "7"), [np.nan, np.nan]),
        ((), [np.nan, np.nan]),
    ],
)
def test_categories_of_numbers_are_numbers_for_a_model_without_categories(
    texts: tuple[str, ...], numbers: list[float]
) -> None:
    """Models that earlier releases trained on such columns score as before."""
    data = dataset("shop").with_features(
        np.array([[0], [1]], np.float32), ("shop",), {"shop": Categories(texts)}
    )
    aligned = align_features(data, ("shop",))
    np.testing.assert_array_equal(aligned.matrix[:, 0], np.array(numbers, np.float32))
    assert aligned.categories == {}
    assert bool(unseen_values(data, ("shop",), {})) is bool(np.isnan(numbers).any())
