"""Convert data frames and arrays to Arrow tables."""

import io
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard, TypeVar, runtime_checkable

from rankery.array_inputs import check_same_order, with_nan
from rankery.client.frames.cells import listed, mixed_cell
from rankery.client.references import described
from rankery.errors import DataUnusable, InvalidArgument
from rankery.identifiers import EXPECTED, normalise_ids

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


@runtime_checkable
class Frame(Protocol):
    """A data frame of pandas, polars, Arrow, DuckDB or any library with Arrow's C interface."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the columns."""


class LazyFrame(Protocol):
    """A lazy frame of polars."""

    def collect(self) -> Any:
        """Compute the frame."""


def is_frame(value: Any) -> TypeGuard[Frame]:
    """Return whether a value is a data frame; a column, such as a Series of pandas, is not."""
    shape = getattr(value, "shape", None)
    is_column = len(shape) != 2 if isinstance(shape, tuple) else not hasattr(value, "columns")
    return isinstance(value, Frame) and (not is_column or hasattr(value, "schema"))


SomeFrame = TypeVar("SomeFrame", bound=Frame)


def collected(value: Any) -> Any:
    """Compute a lazy frame of polars; return any other value unchanged."""
    return value.collect() if type(value).__name__ == "LazyFrame" else value


def table_of_columns(columns: Mapping[str, Any]) -> "pa.Table":
    """Return a dictionary of lists or arrays as a table.

    Raises:
        DataUnusable: The values are not columns, or are of different lengths.
    """
    from rankery.client.frames.arrow import pa

    for name, values in columns.items():
        if isinstance(values, str | bytes) or not isinstance(values, Iterable):
            raise DataUnusable(
                f"a dictionary of candidates needs a list for each feature, but {name!r} is {values!r:.60};"
                f" for one document, write [{values!r:.60}]"
            )
    try:
        return pa.table(dict(columns))
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise DataUnusable(
            f"a dictionary of candidates needs lists of equal length, one for each feature: {_reason(error)}"
        ) from error


def as_table(frame: Frame) -> "pa.Table":
    """Return a frame as a table of numbers, texts and lists of numbers; the index of pandas is left out.

    Raises:
        DataUnusable: A column has an unsupported type or a repeated name, or mixes texts and numbers.
    """
    from rankery.client.frames.arrow import pa

    try:
        if type(frame).__module__.startswith("pandas"):
            table = pa.Table.from_pandas(_with_dense_columns(frame), preserve_index=False)
        else:
            table = pa.table(frame)
        columns = [_plain(table.column(index)) for index in range(table.num_columns)]
        return pa.table(dict(zip(_names(table), columns, strict=True)))
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise mixed_cell(frame) or DataUnusable(f"the data frame cannot be read: {_reason(error)}") from error


def table_of_arrays(
    features: Any,
    *,
    labels: Any = None,
    query_ids: Any = None,
    query_sizes: Any = None,
    document_ids: Any = None,
    feature_names: Sequence[str] | None = None,
) -> "pa.Table":
    """Return arrays of numpy as one table.

    Args:
        features: (n_documents, n_features), dense, sparse or a data frame; NaN is a missing value.
        labels: (n_documents,), or None.
        query_ids: (n_documents,), or None.
        query_sizes: (n_queries,) number of documents of each query, in order; instead of `query_ids`.
        document_ids: (n_documents,), or None.
        feature_names: Names by column; when left out, those of the data frame, else `f1`, `f2`, ….

    Raises:
        DataUnusable: The shapes do not match, ids are invalid, a column has values of several types, or both
            `query_ids` and `query_sizes` are given.
        InvalidArgument: Indexes of pandas are in different orders.
    """
    from rankery.client.frames.arrow import np, pa

    names, values = _matrix_columns(features, feature_names)
    if query_sizes is not None:
        if query_ids is not None:
            raise DataUnusable("query_ids and query_sizes exclude each other; give one of them")
        query_ids = _ids_of_sizes(np.asarray(query_sizes))
    columns = {"query_id": query_ids, "document_id": document_ids, "label": labels}
    check_same_order(
        {
            "features": features,
            "query_ids": query_ids,
            "document_ids": document_ids,
            "labels": labels,
        }
    )
    table: dict[str, Any] = {}
    for name, column in columns.items():
        if column is not None:
            normalises = labels is not None and name != "label"  # ids of candidates are returned unchanged
            array = np.asarray(column if normalises else with_nan(column))
            if len(array.shape) != 1 or len(array) != len(values[0]):
                raise DataUnusable(f"{name} is of shape {array.shape}; there are {len(values[0])} documents")
            table[name] = _id_texts(name, column) if normalises else _array(name, array)
    for name, column in zip(names, values, strict=True):
        if name in table:
            raise DataUnusable(f"two columns are named {name!r}")
        table[name] = _array(name, column) if isinstance(column, np.ndarray) else column
    return pa.table(table)


def _array(name: str, values: "np.ndarray[Any, Any]") -> Any:
    from rankery.client.frames.arrow import pa

    try:
        if values.dtype.kind == "O":
            return pa.array(values.tolist(), from_pandas=True)
        return pa.array(values.tolist() if values.dtype.kind == "U" else values)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise DataUnusable(f"{name}: the values are not of one type: {_reason(error)}") from error


def _id_texts(name: str, ids: Any) -> Any:
    """Return ids as texts; missing ids are null."""
    normalised = normalise_ids(ids)
    for row in normalised.invalid[:1].tolist():
        raise DataUnusable(f"row {row} of {name}: expected {EXPECTED}")
    return normalised.texts


def _matrix_columns(features: Any, names: Sequence[str] | None) -> tuple[Sequence[str], list[Any]]:
    """Return the names and the columns of features that are an array or a frame."""
    from rankery.client.frames.arrow import np

    if is_frame(features):
        table = as_table(features)
        columns: list[Any] = list(table.columns)
        names = names or table.column_names
    else:
        matrix = np.asarray(features.toarray() if hasattr(features, "toarray") else with_nan(features))
        if matrix.ndim != 2 or not matrix.shape[1]:
            raise DataUnusable(f"features must be of shape (documents, features), not {matrix.shape}")
        columns = [np.ascontiguousarray(matrix[:, index]) for index in range(matrix.shape[1])]
        names = [f"f{index}" for index in range(1, len(columns) + 1)] if names is None else names
    if len(names) != len(columns):
        raise DataUnusable(
            f"the features have {len(columns)} columns and {len(names)} names ({listed(names)}); give a"
            " column for each name, in their order"
        )
    return names, columns


def sizes_or_ids(group: Any, n_documents: int) -> dict[str, Any]:
    """Return the argument `group` under the name of its form, `query_sizes` or `query_ids`.

    Args:
        group: (n_queries,) number of documents of each query, or (n_documents,) query of each document.

    Raises:
        InvalidArgument: The group matches neither form, or both.
    """
    from rankery.client.frames.arrow import np

    given = np.asarray(group)
    is_sizes = given.ndim == 1 and given.dtype.kind in "iu" and int(given.sum()) == n_documents
    if given.shape == (n_documents,):
        if is_sizes:
            raise InvalidArgument(
                "group could be sizes or ids of queries; pass it as upload_arrays(query_sizes=…) or"
                " (query_ids=…)"
            )
        return {"query_ids": group}
    if is_sizes:
        return {"query_sizes": given}
    raise InvalidArgument(
        f"group must be the number of documents of each query, which add up to {n_documents:,}, or the query"
        f" of each of {n_documents:,} documents, not {described(given)}"
    )


def as_stream(table: "pa.Table", metadata: Mapping[str, str] | None = None) -> bytes:
    """Return a table of candidates as a scoring request.

    Raises:
        DataUnusable: Lists of a column have different lengths.
    """
    from rankery.client.frames.arrow import pa

    columns = [_request_column(name, table.column(name)) for name in table.column_names]
    sent = pa.table(columns, table.column_names, metadata=dict(metadata or {}))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, sent.schema) as writer:
        writer.write_table(sent)
    return sink.getvalue().to_pybytes()


@contextmanager
def temporary_parquet(table: "pa.Table") -> Iterator[Path]:
    """Write a table as Parquet into a temporary file, which is removed at the end of the block.

    Raises:
        DataUnusable: A column has a type that Parquet lacks, such as an interval of DuckDB.
    """
    from rankery.client.frames.arrow import pa, pq

    with tempfile.TemporaryDirectory(prefix="rankery-") as folder:
        path = Path(folder) / "table.parquet"
        try:
            pq.write_table(table, path, compression="zstd")
        except pa.ArrowNotImplementedError as error:
            names = [repr(field.name) for field in table.schema if not _has_parquet_type(field)]
            raise DataUnusable(
                f"a column cannot be sent, convert it or leave it out: {', '.join(names)} ({error})"
            ) from error
        yield path


def _has_parquet_type(field: "pa.Field[Any]") -> bool:
    from rankery.client.frames.arrow import pa, pq

    try:
        pq.write_table(pa.schema([field]).empty_table(), io.BytesIO())
    except pa.ArrowNotImplementedError:
        return False
    return True


def _names(table: "pa.Table") -> list[str]:
    names: dict[str, None] = {}
    for name in table.column_names:
        if name in names:
            raise DataUnusable(f"two columns are named {name!r}")
        names[name] = None
    return list(names)


def _with_dense_columns(frame: Any) -> Any:
    """Convert the sparse columns of a pandas frame to dense ones."""
    if frame.columns.nlevels > 1:
        raise DataUnusable(
            f"the names of columns have {frame.columns.nlevels} levels; join them:"
            " frame.columns = ['_'.join(map(str, name)) for name in frame.columns]"
        )
    for name in frame.columns[frame.columns.duplicated()][:1]:
        raise DataUnusable(
            f"two columns are named {name!r}; rename one, or keep the first:"
            " frame.loc[:, ~frame.columns.duplicated()]"
        )
    dense = {name: kind.subtype for name, kind in frame.dtypes.items() if str(kind).startswith("Sparse")}
    return frame.astype(dense) if dense else frame


def _plain(column: Any) -> Any:
    """Decode dictionaries, and convert string views to texts, decimals and columns of nulls to numbers."""
    from rankery.client.frames.arrow import pa

    types = pa.types
    if types.is_dictionary(column.type):
        # Arrow has no cast from a dictionary of string views.
        chunks = [_plain(chunk.dictionary).take(chunk.indices) for chunk in column.chunks]
        column = pa.chunked_array(chunks, _plain(pa.nulls(0, column.type.value_type)).type)
    if types.is_string_view(column.type):
        return column.cast(pa.large_string())
    if types.is_null(column.type):
        # A column without any value has no type; numbers may be missing.
        return column.cast(pa.float64())
    if types.is_decimal(column.type):
        with suppress(pa.ArrowInvalid):
            # float64 does not represent every whole number, such as an id of 17 digits.
            return column.cast(pa.int64())
        return column.cast(pa.float64())
    return column


def _request_column(name: str, column: Any) -> Any:
    """Return booleans as numbers, and lists as lists of a fixed size, for scoring requests."""
    from rankery.client.frames.arrow import pa, pc

    types = pa.types
    if types.is_boolean(column.type):
        return column.cast(pa.int8())
    if not (types.is_list(column.type) or types.is_large_list(column.type)):
        return column
    sizes = pc.unique(pc.list_value_length(column).drop_null()).to_pylist()
    if len(sizes) > 1:
        raise DataUnusable(f"lists of column {name!r} have different lengths, {sizes[0]} and {sizes[1]}")
    return column.cast(pa.list_(column.type.value_type, sizes[0])) if sizes else column


def _reason(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _ids_of_sizes(sizes: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    from rankery.client.frames.arrow import np

    if sizes.ndim != 1 or sizes.dtype.kind not in "iu" or (sizes < 1).any():
        raise DataUnusable("query_sizes must be whole numbers of at least 1, one per query")
    return np.repeat(np.arange(1, len(sizes) + 1), sizes)
