"""Segments of queries with separate means, and their storage in results; the API calls them slices."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from core.data import RankingDataset
from core.names import counted
from core.types import Int64Array

MAX_VALUES = 20  # values of a query column; rarer values share one segment
MIN_QUERIES = 5  # a mean over fewer is not informative
_EDGES = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)


@dataclass(frozen=True, eq=False)
class Slice:
    """A segment: queries with the same value of a property.

    Attributes:
        value: Value of the property, as text.
        queries: Numbers of the queries, ascending.
    """

    by: str
    value: str
    queries: Int64Array


def slices(
    dataset: RankingDataset,
    relevance_threshold: float = 0.0,
    *,
    min_queries: int = MIN_QUERIES,
) -> list[Slice]:
    """Group the queries by their numbers of documents and relevant documents, and by each query column.

    A column keeps its 20 most frequent values; other values, and values of too few queries, share one
    segment. Properties with a single segment are omitted, and so are segments of too few queries.

    Args:
        relevance_threshold: Documents with a label above this are relevant.
    """
    relevant = np.asarray(dataset.labels) > relevance_threshold
    counts = np.add.reduceat(relevant, dataset.query_boundaries[:-1], dtype=np.int64)
    sizes = np.diff(dataset.query_boundaries)
    by_property = [
        list(_by_size("documents a query", sizes)),
        list(_by_size("relevant documents", counts)),
        *(list(_by_value(name, values, min_queries)) for name, values in dataset.segment_columns.items()),
    ]
    return [
        segment
        for segments in by_property
        if len(segments) > 1
        for segment in segments
        if len(segment.queries) >= min_queries
    ]


def _by_size(by: str, sizes: Int64Array) -> Iterator[Slice]:
    for above, maximum in pairwise((-1, *_EDGES, math.inf)):
        queries = np.flatnonzero((sizes > above) & (sizes <= maximum))
        if queries.size:
            yield Slice(by, _range_text(int(above) + 1, maximum), queries)


def _range_text(minimum: int, maximum: float) -> str:
    if math.isinf(maximum):
        return f"{minimum:,} or more"
    return f"{minimum:,}" if minimum == maximum else f"{minimum:,} to {maximum:,.0f}"


def _by_value(by: str, values: Sequence[str], min_queries: int) -> Iterator[Slice]:
    names, codes, counts = np.unique(np.array(values, object), return_inverse=True, return_counts=True)
    frequent: npt.NDArray[np.int64] = np.argsort(-counts, kind="stable")[:MAX_VALUES]
    frequent = frequent[counts[frequent] >= min_queries]
    for code in np.sort(frequent):
        yield Slice(by, str(names[code]), np.flatnonzero(codes == code))
    rest = len(names) - len(frequent)
    if rest:
        yield Slice(by, counted(rest, "other value"), np.flatnonzero(~np.isin(codes, frequent)))


@dataclass(frozen=True)
class Segment:
    """A group of queries of a result.

    Attributes:
        name: Name in requests, such as `market: de`.
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
