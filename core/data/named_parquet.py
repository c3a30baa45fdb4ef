"""Export stored datasets as portable Parquet, with column names, and categories as texts.

The schema's metadata hold the role of each column, so that an upload of the file restores the same dataset.
"""

import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from core.data.options import TEXT_ROLES, Columns
from core.data.parquet import opened_parquet
from core.data.parquet_footer import read_footer, renamed_footer
from core.data.parquet_layout import Layout

_KEY = b"rankery_columns"
_FIXED = {"query_id": "query", "document_id": "document", "label": "label"}
_WEIGHTS = {"query_weight": "query_weight", "document_weight": "document_weight"}
# Per row group; bounds memory, as several downloads run at the same time.
_BLOCK_CELLS = 1_000_000
_MIN_ROWS = 1_024
_RANGE_BLOCK_BYTES = 2**20


def named_parquet(file: BinaryIO) -> Iterator[bytes]:
    """Yield the bytes of a stored dataset as portable Parquet, a row group at a time.

    Args:
        file: File that `core.data.parquet.write_parquet` wrote.

    Raises:
        DatasetError: The file is damaged.
    """
    with opened_parquet(file) as parquet:
        layout = Layout.in_schema(parquet.schema_arrow)
        names = _exported_names(layout, parquet.schema_arrow.names)
        sink = _Sink()
        schema = _schema(layout, parquet.schema_arrow, names)
        with pq.ParquetWriter(cast("Any", sink), schema, compression="zstd") as writer:
            rows = max(_BLOCK_CELLS // len(names), _MIN_ROWS)
            # iter_batches would keep all bytes that it has read in memory.
            for group in range(parquet.num_row_groups):
                table = parquet.read_row_group(group, use_threads=False)
                for first in range(0, table.num_rows, rows):
                    writer.write_table(_exported_table(layout, table.slice(first, rows), schema))
                    yield sink.take()
        yield sink.take()


@dataclass(frozen=True)
class NamedFile:
    """A portable Parquet file that differs from the stored file only in its footer.

    Attributes:
        stored_bytes: Length of the common prefix of both files.
        footer: All bytes after the common prefix.
    """

    stored_bytes: int
    footer: bytes

    @property
    def size_bytes(self) -> int:
        """Size of the whole file."""
        return self.stored_bytes + len(self.footer)

    def blocks(self, file: BinaryIO, start: int, stop: int) -> Iterator[bytes]:
        """Yield a range of the bytes.

        Args:
            file: The stored file.
            start: The first byte.
            stop: The position after the last byte.
        """
        file.seek(min(start, self.stored_bytes))
        while start < min(stop, self.stored_bytes):
            block = file.read(min(_RANGE_BLOCK_BYTES, min(stop, self.stored_bytes) - start))
            if not block:
                raise OSError("a stored file has become shorter")
            start += len(block)
            yield block
        if start < stop:
            yield self.footer[start - self.stored_bytes : stop - self.stored_bytes]


def named_file(file: BinaryIO) -> NamedFile | None:
    """Build the footer that turns a stored dataset into portable Parquet, without rewriting its pages.

    Returns:
        The file, or None where the dataset has categories: their codes must be rewritten as texts, which
        `named_parquet` does.

    Raises:
        DatasetError: The file is damaged.
    """
    with opened_parquet(file) as parquet:
        layout = Layout.in_schema(parquet.schema_arrow)
        if layout.categories:
            return None
        names = _exported_names(layout, parquet.schema_arrow.names)
        empty = io.BytesIO()
        pq.ParquetWriter(empty, _schema(layout, parquet.schema_arrow, names)).close()
    stored_bytes, metadata = read_footer(file)
    return NamedFile(stored_bytes, renamed_footer(metadata, read_footer(empty)[1], names))


def columns_of(schema: pa.Schema) -> Columns | None:
    """Return the column roles that `named_parquet` stored in a schema, None for other files.

    Returns None also where columns were added, removed or renamed since.
    """
    try:
        values = json.loads((schema.metadata or {})[_KEY])
        lists = {name: tuple(each) for name, each in values.items() if isinstance(each, list)}
        columns = Columns(**{**values, **lists})
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return None
    return columns if {name for _, name in columns.pointers_and_names()} == set(schema.names) else None


class _Sink:
    """A writable file whose content is yielded as it is written."""

    closed = False

    def __init__(self) -> None:
        self._blocks: list[bytes] = []
        self._size = 0

    def write(self, block: Any) -> int:
        content = bytes(block)
        self._blocks.append(content)
        self._size += len(content)
        return len(content)

    def tell(self) -> int:
        return self._size

    def flush(self) -> None:
        """Do nothing, as writes are not buffered."""

    def close(self) -> None:
        """Keep the written bytes for the reader."""

    def readable(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def take(self) -> bytes:
        """Return the bytes written since the last call."""
        content = b"".join(self._blocks)
        self._blocks.clear()
        return content


def _exported_names(layout: Layout, columns: Sequence[str]) -> list[str]:
    """Return the exported name of each column of the layout; the stored name is appended to a duplicate."""
    original_names = {
        **dict(zip(layout.feature_columns, layout.feature_names, strict=True)),
        **layout.text_columns,
        **layout.document_text_columns,
    }
    names: list[str] = []
    used_names, stored_names = set[str](), set(columns)
    for column in columns:
        name = original_names.get(column, column)
        while name in used_names or (name != column and name in stored_names):
            name += f" ({column})"
        names.append(name)
        used_names.add(name)
    return names


def _schema(layout: Layout, stored: pa.Schema, names: Sequence[str]) -> pa.Schema:
    exported_names = dict(zip(stored.names, names, strict=True))
    features = dict(zip(layout.feature_columns, layout.feature_names, strict=True))
    categorical = {column for column, name in features.items() if name in layout.categories}
    roles: dict[str, Any] = {
        role: exported_names[column]
        for column, role in {**_FIXED, **_WEIGHTS}.items()
        if column in exported_names
    }
    texts = {**layout.text_columns, **layout.document_text_columns}
    roles |= {name: exported_names[column] for column, name in texts.items() if name in TEXT_ROLES}
    roles["query_columns"] = [
        exported_names[c] for c, name in layout.text_columns.items() if name not in TEXT_ROLES
    ]
    roles["document_columns"] = [
        exported_names[c] for c, name in layout.document_text_columns.items() if name not in TEXT_ROLES
    ]
    roles["features"] = [exported_names[c] for c in features]
    roles["categorical_features"] = [exported_names[c] for c in features if c in categorical]
    text: Any = pa.dictionary(pa.int32(), pa.string())
    fields = [
        pa.field(exported_names[field.name], text)
        if field.name in categorical
        else pa.field(exported_names[field.name], field.type, nullable=field.nullable)
        for field in stored
    ]
    return pa.schema(fields, metadata={_KEY: json.dumps(roles).encode()})


def _exported_table(layout: Layout, table: pa.Table, schema: pa.Schema) -> pa.Table:
    features = dict(zip(layout.feature_columns, layout.feature_names, strict=True))
    columns: list[Any] = []
    for column in table.column_names:
        values = table[column]
        if features.get(column) in layout.categories:
            columns.append(_texts(values.to_numpy(), layout.categories[features[column]]))
        else:
            columns.append(values)
    return pa.Table.from_arrays(columns, schema=schema)


def _texts(codes: Any, values: Sequence[str]) -> Any:
    """Return the texts of codes of categories, null where a value is missing."""
    is_missing = np.isnan(codes)
    indices: Any = pa.array(np.where(is_missing, 0, codes).astype(np.int32), mask=is_missing)
    return pa.DictionaryArray.from_arrays(indices, pa.array(values, pa.string()))
