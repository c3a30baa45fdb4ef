"""Validate the headers of an Arrow stream before its data is read.

Arrow verifies the structure of its headers, but not the numbers in them: a batch without columns has as many
rows as its header declares. A string that many columns or metadata entries share is copied for each. Format:
Message.fbs and Schema.fbs of https://github.com/apache/arrow/tree/main/format, in the layout of
https://flatbuffers.dev/internals.
"""

import struct
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from core.errors import InvalidInput
from core.types import Int64Array

# Indices of fields in the FlatBuffers tables.
_HEADER = 2  # of Message
_LENGTH, _COMPRESSION = 0, 3  # of RecordBatch
_FIELDS, _SCHEMA_METADATA = 1, 2  # of Schema
_NAME, _TYPE, _DICTIONARY, _CHILDREN, _FIELD_METADATA = 0, 2, 4, 5, 6  # of Field
_KEY, _VALUE = 0, 1  # of KeyValue

_CACHED_SCHEMAS, _MAX_CACHED_BYTES = 64, 2**18

_INT, _FLOAT, _TEXT, _LARGE_TEXT, _FIXED_SIZE_LIST = 2, 3, 5, 20, 16  # of the union Type
_NUMBERS = (_INT, _FLOAT)
_IS_ACCEPTED = np.isin(np.arange(256), (*_NUMBERS, _TEXT, _LARGE_TEXT, _FIXED_SIZE_LIST))
_TYPE_NAMES = MappingProxyType(
    {1: "null", 4: "binary", 6: "bool", 7: "decimal", 8: "date", 9: "time", 10: "timestamp", 12: "list"}
    | {
        13: "struct",
        _FIXED_SIZE_LIST: "lists of non-numbers",
        18: "duration",
        24: "string_view",
    }
)


@dataclass(frozen=True, eq=False)
class DeclaredStream:
    """An Arrow stream with validated headers."""

    content: bytes
    rows: int


def validated_stream(content: bytes, pointer: str, max_columns: int, max_rows: int) -> DeclaredStream:
    """Validate the declared columns and rows of a stream, in time linear in its headers.

    Raises:
        InvalidInput: The stream is damaged, compressed, too wide or too long, or has columns of other types.
    """
    rows = 0
    try:
        for message in pa.ipc.MessageReader.open_stream(pa.BufferReader(content)):
            header = message.metadata.to_pybytes()
            if message.type == "schema":
                check = _check_schema_cached if len(header) <= _MAX_CACHED_BYTES else _check_schema
                check(header, pointer, max_columns)
            elif message.type == "record batch":
                rows += _rows(header, pointer)
            elif message.type == "dictionary":
                raise InvalidInput.at(pointer, "send the stream without dictionaries")
            if rows > max_rows:
                raise InvalidInput.at(
                    pointer, f"this model scores at most {max_rows} documents in one request"
                )
    except (pa.ArrowException, ValueError, OSError, IndexError, struct.error) as error:
        raise damaged(pointer, error) from error
    return DeclaredStream(content, rows)


def damaged(pointer: str, error: Exception) -> InvalidInput:
    """Build the error for a damaged Arrow stream."""
    reason = (str(error).splitlines() or ["it is damaged"])[0][:200]
    return InvalidInput.at(pointer, f"must be a stream in Arrow's IPC format: {reason}")


def _rows(header: bytes, pointer: str) -> int:
    """Return the number of rows of a batch; refuse compressed batches, which can exhaust the memory."""
    batch = _field_offset(header, struct.unpack_from("<I", header)[0], _HEADER)
    batch += struct.unpack_from("<I", header, batch)[0]
    if _field_offset(header, batch, _COMPRESSION):
        raise InvalidInput.at(pointer, "send the stream without compression")
    length = _field_offset(header, batch, _LENGTH)
    rows: int = struct.unpack_from("<q", header, length)[0] if length else 0
    if rows < 0:
        raise ValueError("a batch has a negative number of rows")
    return rows


def _field_offset(header: bytes, table: int, field: int) -> int:
    """Return the offset of a table's field, 0 if it is absent."""
    layout = table - struct.unpack_from("<i", header, table)[0]
    if 4 + 2 * field >= struct.unpack_from("<H", header, layout)[0]:
        return 0
    offset: int = struct.unpack_from("<H", header, layout + 4 + 2 * field)[0]
    return table + offset if offset else 0


class Flatbuffer:
    """Locate fields of many tables in one call; offsets are multiples of four bytes, verified by Arrow."""

    def __init__(self, header: bytes) -> None:
        self.size = len(header)
        self.bytes = np.frombuffer(header, np.uint8)
        self._halves = np.frombuffer(header, "<u2", self.size // 2)
        self._words = np.frombuffer(header, "<u4", self.size // 4)

    def root(self) -> Int64Array:
        """Return the offset of the root table."""
        return self.follow(np.zeros(1, np.int64))

    def field_offsets(self, tables: Int64Array, field: int) -> Int64Array:
        """Return the offset of a field in each table, 0 if it is absent."""
        layouts = tables - self._words[tables >> 2].astype(np.int32)
        present = self._halves[layouts >> 1] > 4 + 2 * field
        relative = self._halves[np.where(present, layouts + (4 + 2 * field), 0) >> 1]
        absolute: Int64Array = np.where(present & (relative > 0), tables + relative, 0)
        return absolute

    def follow(self, offsets: Int64Array) -> Int64Array:
        """Return the absolute offsets to which the relative offsets stored at `offsets` point."""
        return offsets + self.sizes(offsets)

    def sizes(self, offsets: Int64Array) -> Int64Array:
        """Return the length prefixes of strings and vectors."""
        sizes: Int64Array = self._words[offsets >> 2].astype(np.int64)
        return sizes

    def targets(self, tables: Int64Array, field: int) -> Int64Array:
        """Return the offsets of a field's strings, vectors or tables, for the tables that have the field."""
        offsets = self.field_offsets(tables, field)
        return self.follow(offsets[offsets > 0])

    def counts(self, tables: Int64Array, field: int) -> Int64Array:
        """Return the length of a field's string or vector in each table, 0 if the field is absent."""
        offsets = self.field_offsets(tables, field)
        counts: Int64Array = np.zeros(len(tables), np.int64)
        counts[offsets > 0] = self.sizes(self.follow(offsets[offsets > 0]))
        return counts

    def items(self, vectors: Int64Array) -> Int64Array:
        """Return the offsets of the tables in all vectors."""
        counts = self.sizes(vectors)
        if counts.sum() > self.size:
            raise ValueError("its header refers to data beyond its end")
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return self.follow(np.repeat(vectors, counts) + 4 + 4 * within)


def _check_schema(content: bytes, pointer: str, max_columns: int) -> None:
    header = Flatbuffer(content)
    schema = header.targets(header.root(), _HEADER)
    columns = header.items(header.targets(schema, _FIELDS))
    if not len(columns):
        raise InvalidInput.at(pointer, "has no columns")
    if len(columns) > max_columns:
        raise InvalidInput.at(
            pointer,
            f"has {len(columns)} columns; at most {max_columns} can be used by this model",
        )
    types = header.bytes[header.field_offsets(columns, _TYPE)]
    accepted = _IS_ACCEPTED[types] & (header.field_offsets(columns, _DICTIONARY) == 0)
    lists = np.flatnonzero(types == _FIXED_SIZE_LIST)
    accepted[lists] &= _are_number_lists(header, columns[lists])
    if not accepted.all():
        column = int(np.argmin(accepted))
        kind = _TYPE_NAMES.get(int(types[column]), "this type")
        raise InvalidInput.at(
            pointer + _text(header, columns[column, np.newaxis]), f"columns of {kind} are not accepted"
        )
    vectors = (header.targets(schema, _SCHEMA_METADATA), header.targets(columns, _FIELD_METADATA))
    entries = header.items(np.concatenate(vectors))
    children = header.items(header.targets(columns[lists], _CHILDREN))
    names = (header.targets(columns, _NAME), header.targets(children, _NAME))
    texts = (*names, header.targets(entries, _KEY), header.targets(entries, _VALUE))
    if header.sizes(np.concatenate(texts)).sum() > header.size:
        raise ValueError("its header refers to data beyond its end")


# A client sends the same schema with every request, and checking it takes as long as scoring 50 documents.
_check_schema_cached = lru_cache(_CACHED_SCHEMAS)(_check_schema)


def _are_number_lists(header: Flatbuffer, columns: Int64Array) -> npt.NDArray[np.bool_]:
    """Return whether each column has exactly one numeric child without descendants or metadata."""
    accepted: npt.NDArray[np.bool_] = header.counts(columns, _CHILDREN) == 1
    child = header.items(header.targets(columns[accepted], _CHILDREN))
    is_plain = header.field_offsets(child, _DICTIONARY) == 0
    for field in (_CHILDREN, _FIELD_METADATA):
        is_plain &= header.counts(child, field) == 0
    accepted[accepted] = is_plain & np.isin(header.bytes[header.field_offsets(child, _TYPE)], _NUMBERS)
    return accepted


def _text(header: Flatbuffer, column: Int64Array) -> str:
    starts = header.targets(column, _NAME)
    sizes = header.sizes(starts)
    texts = [
        header.bytes[start + 4 : start + 4 + size].tobytes()
        for start, size in zip(starts, sizes, strict=True)
    ]
    return b"".join(texts).decode(errors="replace")
