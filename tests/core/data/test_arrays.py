"""Datasets as mapped arrays."""

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.data import RankingDataset, synthetic_dataset
from core.data.arrays import load_arrays, save_arrays
from tests.core.data.strategies import assert_same, datasets


@pytest.mark.long
@given(st.one_of(datasets(), datasets(weighted=True)), st.booleans())
def test_a_saved_dataset_is_loaded_with_the_same_bits(dataset: RankingDataset, full: bool) -> None:
    """This holds for every field, with and without weights of documents and columns of queries."""
    if full:
        weights = np.linspace(0, 1, dataset.n_documents)
        columns = {"märket": dataset.query_ids, "": dataset.query_ids[::-1]}
        dataset = replace(dataset, document_weights=weights, query_columns=columns)
    with tempfile.TemporaryDirectory() as folder:
        save_arrays(dataset, Path(folder))
        found = load_arrays(Path(folder))
    assert_same(found, dataset)
    np.testing.assert_array_equal(found.matrix.view(np.uint32), dataset.matrix.view(np.uint32))


def test_arrays_are_mapped_and_writable(tmp_path: Path) -> None:
    """Kernels need plain writable arrays; values written to them do not change the files."""
    dataset = synthetic_dataset(3, seed=1, n_features=4)
    save_arrays(dataset, tmp_path)
    found = load_arrays(tmp_path)
    for array in (found.features, found.labels, found.query_boundaries):
        assert type(array) is np.ndarray
        assert array.flags.c_contiguous
        assert array.flags.writeable
        assert not array.flags.owndata
    found.matrix[:] = 7
    np.testing.assert_array_equal(load_arrays(tmp_path).features, dataset.features)


def test_mapped_arrays_outlive_their_files(tmp_path: Path) -> None:
    """A loaded dataset keeps its values after its files are deleted."""
    dataset = synthetic_dataset(3, seed=1, n_features=4)
    save_arrays(dataset, tmp_path)
    found = load_arrays(tmp_path)
    shutil.rmtree(tmp_path)
    assert_same(found, dataset)


@pytest.mark.parametrize(
    "absent", ["names.json", "features.npy", "query_weights.npy", "document_id_bytes.npy"]
)
def test_an_absent_file_is_an_error(tmp_path: Path, absent: str) -> None:
    """A dataset is not loaded without one of its files."""
    save_arrays(replace(synthetic_dataset(3, seed=1, n_features=4), query_weights=np.ones(3)), tmp_path)
    (tmp_path / absent).unlink()
    with pytest.raises(FileNotFoundError):
        load_arrays(tmp_path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("names.json", ""),
        ("names.json", "null"),
        ("names.json", "{}"),
        ("names.json", '{"arrays": ["labels"], "query_ids": [], "feature_names": [], "query_columns": []}'),
        ("features.npy", ""),
        ("document_id_bytes.npy", ""),
        ("labels.npy", "PK\3\4"),
    ],
)
def test_a_damaged_file_is_an_error(tmp_path: Path, name: str, content: str) -> None:
    """Each kind of damage has the error for which a worker discards the cached dataset."""
    save_arrays(synthetic_dataset(3, seed=1, n_features=4), tmp_path)
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError):  # noqa: PT011 - the text is that of the library that reads the file
        load_arrays(tmp_path)
