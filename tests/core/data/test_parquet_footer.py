"""Columns that are renamed by the footer of a Parquet file alone."""

import io
from pathlib import Path

import numpy as np
import polars
import pyarrow.parquet as pq
import pytest

from core.data import RankingDataset, read_dataset, synthetic_dataset, write_parquet
from core.data.named_parquet import NamedFile, named_file, named_parquet
from core.data.parquet_footer import read_footer, renamed_footer
from core.errors import DatasetError


def written(dataset: RankingDataset) -> io.BytesIO:
    """Return a dataset as the Parquet file that is stored."""
    file = io.BytesIO()
    write_parquet(dataset, file)
    return file


def whole(named: NamedFile, file: io.BytesIO) -> bytes:
    """Return all bytes of the file with names."""
    return b"".join(named.blocks(file, 0, named.size_bytes))


@pytest.fixture(scope="module")
def dataset() -> RankingDataset:
    """Several row groups of features whose names take one and two bytes for their length."""
    drawn = synthetic_dataset(900, seed=1, documents_per_query=5, n_features=150)
    names = tuple(f"{'prix' * (40 * (number % 2))} é{number}" for number in range(150))
    return drawn.with_features(np.array(drawn.features), names, drawn.categories)


@pytest.mark.long
def test_a_renamed_file_equals_one_written_with_these_names(dataset: RankingDataset, tmp_path: Path) -> None:
    """Arrow and polars, which finds columns by path, read the same table, and the dataset is the same."""
    file = written(dataset.select_queries(np.arange(900)))
    named = named_file(file)
    assert named is not None
    content = whole(named, file)
    found, expected = (pq.read_table(io.BytesIO(each)) for each in (content, b"".join(named_parquet(file))))
    assert found.equals(expected)
    assert found.schema.equals(expected.schema, check_metadata=True)
    assert polars.read_parquet(io.BytesIO(content)).equals(polars.DataFrame(polars.from_arrow(expected)))
    metadata = pq.ParquetFile(io.BytesIO(content)).metadata
    for group in range(metadata.num_row_groups):
        columns = [metadata.row_group(group).column(column) for column in range(metadata.num_columns)]
        assert [column.path_in_schema for column in columns] == expected.column_names
    path = tmp_path / "named.parquet"
    path.write_bytes(content)
    assert written(read_dataset(path)).getvalue() == file.getvalue()


@pytest.mark.long
def test_any_byte_range_is_that_of_the_whole_file(dataset: RankingDataset) -> None:
    """Ranges may be before, behind and across the beginning of the footer."""
    file = written(dataset)
    named = named_file(file)
    assert named is not None
    content, border = whole(named, file), named.stored_bytes
    assert len(content) == named.size_bytes
    for start, stop in (
        (0, 1),
        (0, border),
        (border - 3, border + 3),
        (border, border + 9),
        (7, len(content)),
    ):
        assert b"".join(named.blocks(file, start, stop)) == content[start:stop]
    assert list(named.blocks(file, 5, 5)) == []


@pytest.mark.long
@pytest.mark.parametrize("end", [b"PAR", b"PAR1PAR1", b"PAR1\xff\xff\xff\x7fPAR1", b"\x00\x00\x00\x00PARE"])
def test_a_file_without_footer_is_refused(end: bytes) -> None:
    """The error is a `DatasetError`, whatever length the end declares."""
    with pytest.raises(DatasetError, match="no footer"):
        read_footer(io.BytesIO(end))


@pytest.mark.long
@pytest.mark.parametrize("damage", ["cut", "unknown type"])
def test_damaged_metadata_are_refused(dataset: RankingDataset, damage: str) -> None:
    """The error is a `DatasetError`."""
    _, metadata = read_footer(written(dataset))
    damaged = metadata[:-20] if damage == "cut" else b"\x1f" + metadata[1:]
    with pytest.raises(DatasetError, match="damaged"):
        renamed_footer(damaged, metadata, ["a"])


@pytest.mark.long
@pytest.mark.parametrize(
    "crafted",
    [
        b"\x19\xf3" + b"\x80" * 5 + b"\x20" + b"\x00",  # a list of 2^40 bytes
        b"\x19" + b"\x19" * 5_000 + b"\x00",  # lists in lists
        b"\x1c" * 5_000 + b"\x00" * 5_000,  # structs in structs
        b"\x18" + b"\xff" * 9 + b"\x01",  # a text longer than the file
    ],
    ids=["a long list", "deep lists", "deep structs", "a long text"],
)
def test_crafted_metadata_cost_no_more_than_their_bytes(dataset: RankingDataset, crafted: bytes) -> None:
    """Crafted metadata are refused immediately, whatever lengths and depths they declare."""
    _, metadata = read_footer(written(dataset))
    with pytest.raises(DatasetError, match="damaged"):
        renamed_footer(crafted, metadata, ["a"])
