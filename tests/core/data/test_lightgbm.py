"""Reading LightGBM's own data files."""

from pathlib import Path

import numpy as np
import pytest

from core.data import read_dataset
from core.data.letor import read_letor
from core.data.lightgbm import read_lightgbm, read_query_sizes
from core.data.options import Columns
from core.errors import DatasetError


def _bytes(content: bytes) -> np.ndarray:
    return np.frombuffer(content, np.uint8)


def test_rows_are_cut_into_queries_by_the_sizes() -> None:
    """Queries are numbered from 1, and documents within them."""
    dataset = read_lightgbm(
        _bytes(b"1 1:1\n0 2:2 # x\n2 1:3\n"), "d", read_query_sizes(_bytes(b"2\n1\n"), "q")
    ).dataset
    assert dataset.query_ids == ("1", "2")
    assert dataset.query_boundaries.tolist() == [0, 2, 3]
    assert dataset.document_ids == ("1", "x", "1")
    assert dataset.matrix.tolist() == [[1, 0], [0, 2], [3, 0]]


def test_feature_ids_may_start_at_zero() -> None:
    """With a feature 0 the columns are f0, f1, …; without one they are as in LETOR text."""
    sizes = np.array([1])
    assert read_lightgbm(_bytes(b"1 0:5 2:6\n"), "d", sizes).dataset.feature_names == ("f0", "f1", "f2")
    assert read_lightgbm(_bytes(b"1 1:5 2:6\n"), "d", sizes).dataset.feature_names == ("f1", "f2")


def test_sizes_must_add_up_to_the_rows() -> None:
    """The message has both numbers."""
    with pytest.raises(
        DatasetError, match=r"file d: expected 3 documents, the sum of the sizes .*, but found 2"
    ):
        read_lightgbm(_bytes(b"1 1:1\n1 1:1\n"), "d", np.array([3]))


def test_sizes_whose_sum_wraps_around_to_the_rows_are_refused() -> None:
    """Otherwise kernels would read outside the arrays."""
    sizes = np.array([2**62] * 4 + [2])
    assert sizes.sum() == 2
    with pytest.raises(DatasetError, match="expected 18,446,744,073,709,551,616 documents"):
        read_lightgbm(_bytes(b"1 1:1\n1 1:1\n"), "d", sizes)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"3\nx\n-1\n", "file q, line 2, column 1: .*'x' .and 1 more"),
        (b"3\n 4 5\n", "line 2, column 2: expected the number of documents of a query, but found '4 5'"),
        (b"1.0", "found '1.0'"),
        (b"9" * 30, "found '9999"),
        (b"\n\n", "found none"),
        (b"0\n0", "found none"),
    ],
)
def test_sizes_that_are_not_numbers_are_reported(content: bytes, message: str) -> None:
    """The error has the first wrong line and the number of others; a file without a document is refused."""
    with pytest.raises(DatasetError, match=message):
        read_query_sizes(_bytes(content), "q")


def test_a_row_with_a_query_is_refused() -> None:
    """A token `qid:1` is not read as a feature: the file is LETOR text."""
    with pytest.raises(
        DatasetError, match="line 1, column 3: expected <feature id>:<value>, but found 'qid:1'"
    ):
        read_lightgbm(_bytes(b"1 qid:1 1:1\n"), "d", np.array([1]))


@pytest.mark.parametrize("part", ["train", "test"])
def test_both_forms_of_a_public_file_are_equal(shared_data: Path, part: str) -> None:
    """LightGBM's ranking example in its own form and as LETOR text gives the same arrays."""
    folder = shared_data / "lightgbm-rank"
    sizes = read_query_sizes(_bytes((folder / f"rank.{part}.query").read_bytes()), "q")
    ours = read_lightgbm(_bytes((folder / f"rank.{part}").read_bytes()), "d", sizes).dataset
    letor = read_letor(_bytes((folder / f"{part}.letor.txt").read_bytes()), "l").dataset
    np.testing.assert_array_equal(ours.features, letor.features, strict=True)
    np.testing.assert_array_equal(ours.labels, letor.labels, strict=True)
    np.testing.assert_array_equal(ours.query_boundaries, letor.query_boundaries, strict=True)
    assert ours.feature_names == letor.feature_names


def test_rows_that_look_like_judgments_are_features_beside_a_query_file(tmp_path: Path) -> None:
    """Four whole numbers, the second 0 or 1, are TREC qrels only without a query file."""
    data, sizes = tmp_path / "rank.train", tmp_path / "rank.train.query"
    data.write_bytes(b"2\t0\t5\t1\n0\t1\t6\t2\n")
    sizes.write_bytes(b"2\n")
    assert read_dataset(data, query_sizes=sizes).matrix.tolist() == [[0, 5, 1], [1, 6, 2]]
    assert read_dataset(data).features.shape == (2, 0)


@pytest.mark.parametrize("label", ["1", '"1"', f"1.{'0' * 40}", "nan"])
def test_rows_beside_a_query_file_need_no_header(tmp_path: Path, label: str) -> None:
    """A first line whose first field is a number or nan, however long, is a row."""
    data, sizes = tmp_path / "rank.train", tmp_path / "rank.train.query"
    data.write_text(f"{label},5,1\n0,6,2\n")
    sizes.write_bytes(b"2\n")
    dataset = read_dataset(data, query_sizes=sizes)
    assert dataset.feature_names == ("f1", "f2")
    assert dataset.matrix.tolist() == [[5, 1], [6, 2]]


def test_a_header_beside_a_query_file_may_have_long_names(tmp_path: Path) -> None:
    """The first name may be longer than error messages quote, and another may begin with a digit."""
    data, sizes = tmp_path / "rank.train", tmp_path / "rank.train.query"
    name = "relevance of the document to the query, from 0 to 4"
    data.write_text(f'"{name}",1st,2nd\n1,5,1\n0,6,2\n')
    sizes.write_bytes(b"2\n")
    dataset = read_dataset(data, query_sizes=sizes, columns=Columns(label=name))
    assert dataset.feature_names == ("1st", "2nd")
    assert dataset.labels.tolist() == [1, 0]
