"""Datasets at rest: one Parquet row a document.

Columns `query_id`, `document_id`, `label`, `query_weight` (only where queries have weights), then `f1`, `f2`,
... in the order of the feature names, which the schema's metadata hold with the version of this layout.
"""

import json
import os
from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any, BinaryIO, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.data.dataset import RankingDataset, numbered_features
from core.errors import DatasetError, InvalidInput

LAYOUT_VERSION = 1

_KEY = b"rankery"
_PACKING: dict[str, Any] = {
    "compression": "zstd",
    "compression_level": 1,
    "use_dictionary": ["query_id", "document_id", "label"],  # features seldom repeat
    "write_statistics": False,
}
_ROW_GROUP_CELLS = 4_000_000  # 16 MB of features in memory while writing or reading
_ROW_GROUP_ROWS = (1_024, 65_536)  # the least keeps the per-column cost of very wide datasets down


def write_parquet(dataset: RankingDataset, file: BinaryIO) -> None:
    """Write a dataset so that `read_parquet` gives back the same bits."""
    schema = _schema(dataset.feature_names, dataset.query_weights is not None)
    least, most = _ROW_GROUP_ROWS
    step = min(max(_ROW_GROUP_CELLS // dataset.n_features, least), most)
    with pq.ParquetWriter(file, schema, **_PACKING) as writer:
        for first in range(0, dataset.n_documents, step):
            last = min(first + step, dataset.n_documents)
            writer.write_table(_rows(dataset, schema, first, last), row_group_size=step)


def read_parquet(file: BinaryIO | str | PathLike[str]) -> RankingDataset:
    """Read a dataset that `write_parquet` wrote.

    Raises:
        DatasetError: When the file is damaged, of another layout, or breaks a rule of `RankingDataset`.
        OSError: When the file cannot be opened.
    """
    name = str(getattr(file, "name", "")) if hasattr(file, "read") else str(file)
    source = file if hasattr(file, "read") else os.fspath(file)
    try:
        with pq.ParquetFile(cast("BinaryIO | str", source)) as parquet:
            return _read(parquet)
    except DatasetError as error:
        raise DatasetError.at(error.problems[0].detail, file=name or None) from error
    except InvalidInput as error:
        raise DatasetError.at(f"the columns do not fit together: {error}", file=name or None) from error
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise DatasetError.at(f"expected a whole Parquet file: {error}", file=name or None) from error
    except OSError as error:
        if error.errno is not None:
            raise
        # Arrow reports damaged pages as an OSError that no system call raised.
        raise DatasetError.at(f"expected a whole Parquet file: {error}", file=name or None) from error


def _schema(feature_names: Sequence[str], weighted: bool) -> pa.Schema:
    columns: dict[str, Any] = {
        "query_id": pa.dictionary(pa.int32(), pa.string()),
        "document_id": pa.string(),
        "label": pa.float32(),
    }
    if weighted:
        columns["query_weight"] = pa.float64()
    columns |= dict.fromkeys(numbered_features(len(feature_names)), pa.float32())
    layout = {"layout": LAYOUT_VERSION, "feature_names": feature_names}
    return pa.schema(
        [pa.field(name, kind, nullable=False) for name, kind in columns.items()],
        metadata={_KEY: json.dumps(layout).encode()},
    )


def _rows(dataset: RankingDataset, schema: pa.Schema, first: int, last: int) -> pa.Table:
    bounds = dataset.query_boundaries
    queries = np.searchsorted(bounds, np.arange(first, last), side="right") - 1
    lowest, highest = int(queries[0]), int(queries[-1]) + 1
    columns: list[Any] = [
        pa.DictionaryArray.from_arrays(
            (queries - lowest).astype(np.int32),
            pa.array(dataset.query_ids[lowest:highest], pa.string()),
        ),
        pa.array(dataset.document_ids[first:last], pa.string()),
        pa.array(dataset.labels[first:last]),
    ]
    if dataset.query_weights is not None:
        columns.append(pa.array(dataset.query_weights[queries]))
    columns += [pa.array(column) for column in np.ascontiguousarray(dataset.features[first:last].T)]
    return pa.Table.from_arrays(columns, schema=schema)


def _read(parquet: pq.ParquetFile) -> RankingDataset:
    feature_names, weighted = _layout(parquet.schema_arrow)
    n_rows = parquet.metadata.num_rows
    features = np.empty((n_rows, len(feature_names)), np.float32)
    labels = np.empty(n_rows, np.float32)
    weights = np.empty(n_rows, np.float64) if weighted else None
    document_ids: list[str] = []
    runs = _Runs()
    for first, table in _row_groups(parquet):
        last = first + table.num_rows
        runs.extend(table["query_id"], first)
        document_ids.extend(cast("list[str]", table["document_id"].to_pylist()))
        labels[first:last] = table["label"].to_numpy()
        if weights is not None:
            weights[first:last] = table["query_weight"].to_numpy()
        for column in range(len(feature_names)):
            features[first:last, column] = table[f"f{column + 1}"].to_numpy()
    boundaries = np.array([*runs.starts, n_rows], np.int64)
    return RankingDataset.from_arrays(
        features,
        labels,
        boundaries,
        query_ids=runs.query_ids,
        document_ids=document_ids,
        feature_names=feature_names,
        query_weights=None if weights is None else weights[boundaries[:-1]],
    )


def _row_groups(parquet: pq.ParquetFile) -> Iterator[tuple[int, pa.Table]]:
    first = 0
    for group in range(parquet.num_row_groups):
        table = parquet.read_row_group(group)
        yield first, table
        first += table.num_rows


def _layout(schema: pa.Schema) -> tuple[list[str], bool]:
    try:
        layout = json.loads((schema.metadata or {})[_KEY])
        version, feature_names = layout["layout"], list(layout["feature_names"])
    except (KeyError, TypeError, ValueError) as error:
        raise DatasetError.at(
            "expected a Parquet file written by Rankery, but found no layout in it"
        ) from error
    if version != LAYOUT_VERSION:
        raise DatasetError.at(f"expected layout version {LAYOUT_VERSION}, but found {version}")
    weighted = "query_weight" in schema.names
    if not schema.equals(_schema(feature_names, weighted), check_metadata=False):
        raise DatasetError.at("expected the columns of the layout in its order, but found others")
    return feature_names, weighted


class _Runs:
    """Consecutive rows of one query, across row groups."""

    def __init__(self) -> None:
        self.query_ids: list[str] = []
        self.starts: list[int] = []

    def extend(self, column: Any, first: int) -> None:
        for chunk in column.chunks:
            indices = chunk.indices.to_numpy()
            names = chunk.dictionary.to_pylist()
            for start in np.flatnonzero(np.diff(indices, prepend=-1)).tolist():
                name = names[indices[start]]
                if not self.query_ids or self.query_ids[-1] != name:
                    self.query_ids.append(name)
                    self.starts.append(first + start)
            first += len(chunk)
