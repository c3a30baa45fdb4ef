"""Columns that are renamed by the footer of a Parquet file alone."""

import io
from pathlib import Path

import numpy as np
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.data import RankingDataset, read_dataset, synthetic_dataset, write_parquet
from core.data.named_parquet import NamedFile, named_file, named_parquet
from core.data.parquet_footer import column_summaries, read_footer, renamed_footer
from core.errors import DatasetError

_ENCODINGS = {0: "PLAIN", 3: "RLE", 8: "RLE_DICTIONARY"}


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
    """Several row groups; the lengths of some feature names take one byte in the footer, others two."""
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


@pytest.mark.parametrize("use_dictionary", [True, False])
def test_summaries_of_columns_are_those_of_arrow(use_dictionary: bool) -> None:
    """Numbers, sizes and encodings of nested and empty columns, in several row groups."""
    table = pa.table(
        {
            "id": [f"{row // 3}" for row in range(1000)],
            "lists": [[1.0] * (row % 4) for row in range(1000)],
            "structs": [{"a": row, "b": [{"c": "x"}]} for row in range(1000)],
            "nulls": pa.nulls(1000),
        }
    )
    file = io.BytesIO()
    pq.write_table(table, file, row_group_size=300, use_dictionary=use_dictionary, write_page_index=True)
    summaries = column_summaries(read_footer(file)[1])
    metadata = pq.ParquetFile(file).metadata
    groups = [metadata.row_group(number) for number in range(4)]
    assert sorted(summaries) == list(range(metadata.num_columns))
    for number, summary in summaries.items():
        parts = [group.column(number) for group in groups]
        assert summary.values == sum(part.num_values for part in parts)
        assert summary.largest_part == max(part.total_uncompressed_size for part in parts)
        names = {_ENCODINGS[encoding] for encoding in summary.encodings}
        assert names == {name for part in parts for name in part.encodings}


def test_unknown_fields_are_skipped(dataset: RankingDataset) -> None:
    """Later versions of the format may add fields, such as lists of booleans, which have a byte each."""
    _, metadata = read_footer(written(dataset))
    booleans, first_field = b"\xf9\x31\x01\x01\x02", b"\x05\x02"
    assert column_summaries(booleans + first_field + metadata[1:]) == column_summaries(metadata)


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
        b"\x18" + b"\x80" * 10 + b"\x00" + b"\x00",  # a number of eleven bytes
    ],
    ids=["a long list", "deep lists", "deep structs", "a long text", "a long number"],
)
def test_crafted_metadata_cost_no_more_than_their_bytes(dataset: RankingDataset, crafted: bytes) -> None:
    """Crafted metadata are refused immediately, whatever lengths and depths they declare."""
    _, metadata = read_footer(written(dataset))
    with pytest.raises(DatasetError, match="damaged"):
        renamed_footer(crafted, metadata, ["a"])
