"""The query index of a stored dataset: position of the rows and label summary of each query."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, BinaryIO, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from core.data.dataset import RankingDataset
from core.data.labels import label_text
from core.data.options import QUERY_TEXT
from core.data.statistics import QueryLabels
from core.errors import NotFound
from core.types import Float32Array

_FIXED = ("query_id", "first_row", "documents", "relevant", "min_label", "max_label")
_NAMES = b"query_columns"


@dataclass(frozen=True)
class QueryEntry:
    """One query of a dataset.

    Attributes:
        first_row: Its first row in the dataset, from 0.
        relevant: Number of its documents with a label above 0.
        min_label: The smallest label, None where no document has a label.
        max_label: The largest label, None where no document has a label.
        columns: Other columns of the query, by name.
    """

    query_id: str
    first_row: int
    documents: int
    relevant: int
    min_label: float | None
    max_label: float | None
    columns: Mapping[str, str]


class QueryIndex:
    """All queries of a dataset, in the dataset's order.

    Args:
        table: Table that `write_query_index` wrote.
    """

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        names = [field.metadata[_NAMES].decode() for field in table.schema if field.metadata]
        self._columns = dict(zip(table.schema.names[len(_FIXED) :], names, strict=True))

    @classmethod
    def read(cls, file: BinaryIO | str | PathLike[str]) -> "QueryIndex":
        """Read an index that `write_query_index` wrote."""
        with pq.ParquetFile(cast("BinaryIO | str", file)) as parquet:
            return cls(parquet.read())

    def __len__(self) -> int:
        return self._table.num_rows

    def entries(self, first: int, limit: int) -> list[QueryEntry]:
        """Return at most `limit` queries from position `first` on."""
        return [self._entry(values) for values in self._table.slice(first, limit).to_pylist()]

    def find(self, query_id: str) -> QueryEntry:
        """Return one query.

        Raises:
            NotFound: The id is unknown.
        """
        position = pc.index(self._table["query_id"], query_id).as_py()
        if position < 0:
            raise NotFound("query", query_id)
        return self.entries(position, 1)[0]

    def texts(self, query_ids: Sequence[str]) -> dict[str, str]:
        """Return the query texts by query id; queries without a text are left out."""
        column = next((column for column, name in self._columns.items() if name == QUERY_TEXT), None)
        if column is None:
            return {}
        queries = self._table.filter(self._is_among(query_ids))
        texts = zip(*(queries[name].to_pylist() for name in ("query_id", column)), strict=True)
        return {query_id: text for query_id, text in texts if text}

    def among(self, query_ids: Sequence[str]) -> list[QueryEntry]:
        """Return the existing queries with these ids, in the dataset's order."""
        return [self._entry(values) for values in self._table.filter(self._is_among(query_ids)).to_pylist()]

    def _is_among(self, query_ids: Sequence[str]) -> Any:
        return pc.is_in(self._table["query_id"], pa.array(query_ids, pa.string()))

    def with_prefix(self, prefix: str) -> "QueryIndex":
        """Return the index of the queries whose ids start with a prefix."""
        return QueryIndex(self._table.filter(pc.starts_with(self._table["query_id"], prefix)))

    def _entry(self, values: dict[str, Any]) -> QueryEntry:
        columns = {name: values[column] for column, name in self._columns.items()}
        return QueryEntry(**{name: values[name] for name in _FIXED}, columns=columns)


def write_query_index(dataset: RankingDataset, file: BinaryIO) -> None:
    """Write the index of a dataset's queries."""
    labels = QueryLabels.of(dataset)
    arrays: list[pa.Array[Any]] = [
        pa.array(dataset.query_ids, pa.string()),
        pa.array(dataset.query_boundaries[:-1]),
        pa.array(np.diff(dataset.query_boundaries)),
        pa.array(labels.relevant),
        _labels(labels.minimum),
        _labels(labels.maximum),
    ]
    fields = [pa.field(name, values.type) for name, values in zip(_FIXED, arrays, strict=True)]
    for number, (name, texts) in enumerate(dataset.query_columns.items(), start=1):
        arrays.append(pa.array(texts, pa.string()))
        fields.append(pa.field(f"q{number}", pa.string(), metadata={_NAMES: name.encode()}))
    table = pa.Table.from_arrays(arrays, schema=pa.schema(fields))
    pq.write_table(table, file, compression="lz4")


def _labels(values: Float32Array) -> "pa.Array[Any]":
    """Return labels as short float64 (0.1, not 0.10000000149011612); NaN, a query without labels, as null."""
    distinct, inverse = np.unique(values, return_inverse=True)
    written = np.array([float(label_text(label)) for label in distinct])
    values_or_null: pa.Array[Any] = pa.array(written[inverse], from_pandas=True)
    return values_or_null
