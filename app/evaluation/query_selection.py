"""Sort and filter the queries of a result by one value each."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated, Any, BinaryIO, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from fastapi import Query

from app.evaluation.schemas import Histogram, QuerySegment, QuerySummary
from app.http.parquet_pages import read_rows, row_cursor
from core.errors import InvalidInput, NotFound
from core.evaluation import MIN_QUERIES, StoredSegments
from core.store.verified_artifacts import VerifiedArtifacts
from core.types import Float64Array, Int64Array

_BINS = 20
_MIN_RELATIVE_WIDTH = 1e-9  # of a histogram: in narrower ones, bins would have no width

Order = Annotated[
    Literal["asc", "desc"], Query(description="Ascending or descending; undefined values come last")
]
Minimum = Annotated[
    float | None,
    Query(alias="min", allow_inf_nan=False, description="Only queries with at least this value"),
]
Maximum = Annotated[
    float | None,
    Query(alias="max", allow_inf_nan=False, description="Only queries with at most this value"),
]
InSegment = Annotated[
    str | None,
    Query(
        max_length=4096,
        description="Only the queries of a segment, by its `name` on the first page, such as `market: de`",
    ),
]


@dataclass(frozen=True)
class Selection:
    """Filters and order of the requested queries.

    Attributes:
        is_sorted: Whether queries are sorted by their value; otherwise by their position in the dataset.
        order: `asc` or `desc`.
        least: Smallest value, None for any.
        most: Largest value, None for any.
        segment: Name of the segment, None for all queries.
    """

    is_sorted: bool
    order: Literal["asc", "desc"]
    least: float | None
    most: float | None
    segment: str | None

    def __post_init__(self) -> None:
        if self.least is not None and self.most is not None and self.least > self.most:
            raise InvalidInput.at("/max", f"must be at least min, {self.least:g}")

    @property
    def is_everything(self) -> bool:
        """Whether all queries are requested in the dataset's order."""
        return self == Selection(is_sorted=False, order="asc", least=None, most=None, segment=None)

    def positions(self, values: Float64Array, members: npt.NDArray[np.bool_] | None) -> Int64Array:
        """Return the positions of the queries, sorted; ties stay in the dataset's order.

        Args:
            values: (n_queries,) NaN where undefined; `least` and `most` leave such queries out.
            members: (n_queries,) whether a query is in the segment, None for all.
        """
        is_selected = np.ones(len(values), bool) if members is None else members.copy()
        if self.least is not None:
            is_selected &= values >= self.least
        if self.most is not None:
            is_selected &= values <= self.most
        positions = np.flatnonzero(is_selected)
        keys = values[positions] if self.is_sorted else positions.astype(np.float64)
        order = np.argsort(keys if self.order == "asc" else -keys, kind="stable")  # NaN sorts last either way
        return positions[order]


def histogram_of(name: str, values: Float64Array, *, around_zero: bool = False) -> Histogram:
    """Count values in 20 bins of equal width, which are around values that are equal except for rounding.

    Args:
        values: NaN where undefined.
        around_zero: Whether zero is in the middle; otherwise values within 0 to 1 get bins from 0 to 1.
    """
    defined = values[np.isfinite(values)]
    low, high = (float(defined.min()), float(defined.max())) if len(defined) else (0.0, 1.0)
    largest = max(abs(low), abs(high))
    if around_zero:
        low, high = -(largest or 1.0), largest or 1.0
    elif low >= 0.0 and high <= 1.0:
        low, high = 0.0, 1.0
    elif high - low <= largest * _MIN_RELATIVE_WIDTH:
        margin = max(0.5, largest * _MIN_RELATIVE_WIDTH)
        low, high = low - margin, high + margin
    counts, edges = np.histogram(defined, _BINS, (low, high))
    return Histogram(
        of=name, edges=edges.tolist(), counts=counts.tolist(), undefined=len(values) - len(defined)
    )


@dataclass(frozen=True)
class SelectedRows:
    """A page of the selected queries.

    Attributes:
        next_cursor: None at the end.
        summary: Summary of all selected queries, on the first page only.
    """

    rows: list[dict[str, Any]]
    next_cursor: str | None
    summary: QuerySummary | None


def select_rows(
    file: BinaryIO,
    segments: StoredSegments | None,
    selection: Selection,
    measure: "QueryMeasure",
    cursor: str | None,
    limit: int,
) -> SelectedRows:
    """Read a page of the selected queries of a result.

    Args:
        segments: Its segments; None for a result of an earlier release without them.
        measure: Values that the queries are selected by.
        cursor: Position of the page, None for the first.

    Raises:
        InvalidInput: There is no such segment, or the cursor is not from a page of this selection.
    """
    if selection.is_everything and cursor is not None:
        return SelectedRows(*read_rows(file, cursor, limit), summary=None)  # reads only this page of the file
    members = None if selection.segment is None else _members(segments, selection.segment)
    table = pq.read_table(file)
    values = measure.read(table)
    positions = selection.positions(values, members)
    first = row_cursor(cursor, len(positions))
    page = positions[first : first + limit]
    stop = first + len(page)
    summary = None
    if cursor is None:
        segment_values = values if members is None else values[members]
        summary = QuerySummary(
            total=len(positions),
            histogram=histogram_of(measure.name, segment_values, around_zero=measure.around_zero),
            segments=[QuerySegment.model_validate(segment) for segment in segments.all()] if segments else [],
        )
    rows = table.take(pa.array(page, pa.int64())).to_pylist()
    return SelectedRows(rows, str(stop) if stop < len(positions) else None, summary)


@dataclass(frozen=True)
class QueryMeasure:
    """Value of each query, to sort, filter and count by.

    Attributes:
        system: Index of a system where the column has a value per system.
        minus: Index of the system whose values are subtracted.
    """

    name: str
    metric: str
    system: int | None = None
    minus: int | None = None

    @property
    def around_zero(self) -> bool:
        """Whether the values are differences."""
        return self.minus is not None

    def read(self, table: pa.Table) -> Float64Array:
        """Return the values, (n_queries,), NaN where undefined."""
        column: Any = table[self.metric].combine_chunks()
        if self.system is None:
            plain: Float64Array = column.to_numpy(zero_copy_only=False).astype(np.float64)
            return plain
        by_system = column.flatten().to_numpy(zero_copy_only=False).reshape(len(column), -1)
        values: Float64Array = by_system[:, self.system]
        return values if self.minus is None else values - by_system[:, self.minus]


def read_segments(artifacts: VerifiedArtifacts, key: str) -> StoredSegments | None:
    """Read the segments of a result, None for a result of an earlier release without them."""
    try:
        with artifacts.open(key) as file:
            return StoredSegments.read(file)
    except NotFound:
        return None


def requested_metric(metric: str | None, metrics: Collection[str], pointer: str) -> str:
    """Return the requested metric, or the first metric of the result if none is requested.

    Raises:
        InvalidInput: The result does not have the metric.
    """
    if metric is None:
        return next(iter(metrics))
    if metric not in metrics:
        raise InvalidInput.at(pointer, f"must be one of the metrics of this result: {', '.join(metrics)}")
    return metric


def _members(segments: StoredSegments | None, name: str) -> npt.NDArray[np.bool_]:
    if segments is None:
        raise InvalidInput.at(
            "/segment", "cannot be used: this result was created before segments were stored"
        )
    members = segments.members(name)
    if members is None:
        names = ", ".join(segment.name for segment in segments.all()) or "none"
        raise InvalidInput.at(
            "/segment", f"is no segment of at least {MIN_QUERIES} queries; there are: {names}"
        )
    return members
