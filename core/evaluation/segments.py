"""Storage of the segments of a result: groups of queries with the same value of a property."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from core.evaluation.slices import MIN_QUERIES, Slice


@dataclass(frozen=True)
class Segment:
    """A group of queries of a result.

    Attributes:
        name: Name in requests, such as `market: de`.
        by: Name of the property.
        value: Value of the property.
        queries: Number of queries.
    """

    name: str
    by: str
    value: str
    queries: int


def write_segments(segments: Sequence[Slice], n_queries: int, file: BinaryIO) -> None:
    """Write one row for each query and one column for each property: the value of the query, or null."""
    columns: dict[str, Any] = {}
    for segment in segments:
        values = columns.setdefault(segment.by, np.full(n_queries, None, object))
        values[segment.queries] = segment.value
    rows = pa.RecordBatch.from_arrays(
        [pa.array(values, pa.string()).dictionary_encode() for values in columns.values()], list(columns)
    )
    pq.write_table(pa.Table.from_batches([rows]), file)


class StoredSegments:
    """The segments of a result.

    Args:
        table: The table of `write_segments`.
    """

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    @classmethod
    def read(cls, file: BinaryIO) -> "StoredSegments":
        """Read a file of `write_segments`."""
        return cls(pq.read_table(file))

    def all(self) -> list[Segment]:
        """List segments of at least `MIN_QUERIES` queries; those of a column are in the order of values."""
        return [
            Segment(segment_name(by, value), by, value, queries)
            for by in self._table.column_names
            for value, queries in sorted(self._counts(by), key=lambda count: _natural_order(count[0]))
            if queries >= MIN_QUERIES
        ]

    def members(self, name: str) -> npt.NDArray[np.bool_] | None:
        """Return the (n_queries,) mask of a segment, None for an unknown one."""
        segment = next((each for each in self.all() if each.name == name), None)
        if segment is None:
            return None
        values: Any = self._table[segment.by].cast(pa.string())
        members: npt.NDArray[np.bool_] = pc.fill_null(
            pc.equal(values, pa.scalar(segment.value)), False
        ).to_numpy()
        return members

    def _counts(self, by: str) -> list[tuple[str, int]]:
        counts: Any = pc.value_counts(self._table[by].cast(pa.string()).drop_null())
        return [(count["values"], count["counts"]) for count in counts.to_pylist()]


def segment_name(by: str, value: str) -> str:
    """Return the name of a segment from its query column and value: "market: de"."""
    return f"{by}: {value}"


def _natural_order(value: str) -> tuple[float, str]:
    """Return a sort key, by which `3 to 5` is before `11 to 20`, and numbers are before texts."""
    first = value.split(" ")[0].replace(",", "")
    return (float(first), value) if first.isdecimal() else (np.inf, value)
