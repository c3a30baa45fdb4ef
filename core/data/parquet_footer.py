"""Read the footer of a Parquet file, and rename its columns there; data pages hold no names.

The footer is a `FileMetaData` of parquet.thrift (https://github.com/apache/parquet-format) in the compact
protocol of Thrift (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md).
"""

import struct
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from types import MappingProxyType
from typing import BinaryIO

from core.errors import DatasetError

_MAGIC = b"PAR1"
_LENGTH = struct.Struct("<I")
_END_BYTES = _LENGTH.size + len(_MAGIC)

# Types of the compact protocol.
_INTEGERS = (4, 5, 6)
_BINARY, _LIST, _SET, _STRUCT = 8, 9, 10, 12
# Size by type: booleans (1, 2), whose value is in the header of the field; bytes (3) and doubles (7).
_FIXED_BYTES: Mapping[int, int] = MappingProxyType({1: 0, 2: 0, 3: 1, 7: 8})
_BOOLEANS = (1, 2)  # one byte each in lists
_MAX_VARINT_BITS = 70  # ten bytes of seven bits hold 64 bits
_LONG_LIST = 15  # no type, but the size in the header of a list whose size follows as a number
_MAX_DEPTH = 32  # of nested structs and lists; Parquet has less than ten
# Field ids of parquet.thrift.
_SCHEMA, _ROW_GROUPS, _KEY_VALUES = 2, 4, 5  # of FileMetaData
_COLUMNS = 1  # of RowGroup
_META_DATA = 3  # of ColumnChunk
# Of ColumnMetaData.
_ENCODINGS, _PATH_IN_SCHEMA, _VALUES, _UNCOMPRESSED_BYTES = 2, 3, 5, 6


def read_footer(file: BinaryIO) -> tuple[int, bytes]:
    """Return the offset of the footer of a Parquet file, and the metadata in the footer.

    Raises:
        DatasetError: The file has no footer.
    """
    size = file.seek(0, 2)
    file.seek(max(size - _END_BYTES, 0))
    end = file.read(_END_BYTES)
    length = _LENGTH.unpack(end[: _LENGTH.size])[0] if len(end) == _END_BYTES else 0
    start = size - _END_BYTES - length
    if not end.endswith(_MAGIC) or start < len(_MAGIC):
        raise DatasetError.at("expected a Parquet file, but found no footer")
    file.seek(start)
    return start, file.read(length)


@dataclass
class ColumnSummary:
    """Metadata of all parts of a column.

    Attributes:
        values: Number of values, including null.
        largest_part: Uncompressed bytes of its largest part.
        encodings: Numbers of the encodings, as in parquet.thrift.
    """

    values: int = 0
    largest_part: int = 0
    encodings: set[int] = dataclass_field(default_factory=set)


def column_summaries(metadata: bytes) -> Mapping[int, ColumnSummary]:
    """Return the metadata of the columns by their number; those of a column without parts are empty.

    PyArrow's `RowGroupMetaData.column` is not used: it ends the process for an encrypted column, and for
    damaged statistics of sizes.

    Args:
        metadata: Metadata of the file, as `read_footer` returns it.

    Raises:
        DatasetError: The metadata are damaged.
    """
    summaries: dict[int, ColumnSummary] = defaultdict(ColumnSummary)
    cursor = _Cursor(metadata)
    try:
        for field, kind in cursor.fields():
            if field == _ROW_GROUPS:
                _summarise(cursor, summaries)
            else:
                cursor.skip(kind)
    except (IndexError, ValueError) as error:
        raise _damaged() from error
    return summaries


def _summarise(cursor: "_Cursor", summaries: dict[int, ColumnSummary]) -> None:
    for column, field, kind in _column_fields(cursor):
        summary = summaries[column]
        if field == _ENCODINGS and kind == _LIST:
            summary.encodings.update(cursor.integer() for _ in range(cursor.list_header()[0]))
        elif field == _VALUES and kind in _INTEGERS:
            summary.values += max(cursor.integer(), 0)
        elif field == _UNCOMPRESSED_BYTES and kind in _INTEGERS:
            summary.largest_part = max(summary.largest_part, cursor.integer())
        else:
            cursor.skip(kind)


def renamed_footer(metadata: bytes, named_metadata: bytes, names: Sequence[str]) -> bytes:
    """Return a Parquet footer with new column names: metadata, their length and the magic number.

    Args:
        metadata: Metadata of the file, as `read_footer` returns it.
        named_metadata: Metadata of a file without rows that has the same columns with the new names. Its
            schema and key-value metadata replace those of the file.
        names: New names of the columns in order; nested columns are not supported.

    Raises:
        DatasetError: The metadata are damaged.
    """
    try:
        pieces = list(_renamed(metadata, named_metadata, names))
    except (IndexError, ValueError) as error:
        raise _damaged() from error
    content = b"".join(pieces)
    return content + _LENGTH.pack(len(content)) + _MAGIC


def _damaged() -> DatasetError:
    return DatasetError.at("the metadata of the Parquet file are damaged")


def _renamed(metadata: bytes, named_metadata: bytes, names: Sequence[str]) -> Iterator[bytes]:
    """Yield the metadata in pieces, with the spans that hold names replaced."""
    named_spans = dict(_top_level(named_metadata))
    paths = [_path(name) for name in names]
    copied = 0
    for field, (start, end) in _top_level(metadata):
        if field in (_SCHEMA, _KEY_VALUES):
            yield metadata[copied:start]
            yield named_metadata[slice(*named_spans[field])]
            copied = end
        elif field == _ROW_GROUPS:
            for number, (start_of_path, end_of_path) in enumerate(_path_spans(metadata, start)):
                yield metadata[copied:start_of_path]
                yield paths[number % len(paths)]
                copied = end_of_path
    yield metadata[copied:]


def _top_level(metadata: bytes) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield the id of each top-level field, and the span of its value."""
    cursor = _Cursor(metadata)
    for field, kind in cursor.fields():
        start = cursor.at
        cursor.skip(kind)
        yield field, (start, cursor.at)


def _path_spans(metadata: bytes, start: int) -> Iterator[tuple[int, int]]:
    """Yield the span of each column's path (`path_in_schema`), row group by row group."""
    cursor = _Cursor(metadata, start)
    for _, field, kind in _column_fields(cursor):
        start = cursor.at
        cursor.skip(kind)
        if field == _PATH_IN_SCHEMA:
            yield start, cursor.at


def _column_fields(cursor: "_Cursor") -> Iterator[tuple[int, int, int]]:
    """Yield the column number, the id and the type of each field of each `ColumnMetaData`.

    The cursor begins at the list of row groups; the caller moves past each value.
    """
    for _ in range(cursor.list_header()[0]):
        for group_field, kind in cursor.fields():
            if group_field != _COLUMNS:
                cursor.skip(kind)
                continue
            for column in range(cursor.list_header()[0]):
                for chunk_field, inner_kind in cursor.fields():
                    if chunk_field != _META_DATA:
                        cursor.skip(inner_kind)
                        continue
                    for column_field, innermost_kind in cursor.fields():
                        yield column, column_field, innermost_kind


def _path(name: str) -> bytes:
    """Return a column path: a Thrift list of one string."""
    text = name.encode()
    return bytes([1 << 4 | _BINARY]) + _varint(len(text)) + text


def _varint(number: int) -> bytes:
    groups = bytearray()
    while number > 0x7F:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    groups.append(number)
    return bytes(groups)


class _Cursor:
    """Read position in bytes of the compact protocol."""

    def __init__(self, content: bytes, at: int = 0) -> None:
        self.at = at
        self._content = content

    def fields(self) -> Iterator[tuple[int, int]]:
        """Yield the id and the type of each field of a struct; the caller moves past the value."""
        number = 0
        while header := self._byte():
            delta, kind = header >> 4, header & 0x0F
            if delta:
                number += delta
            else:
                number = self.integer()
            yield number, kind

    def integer(self) -> int:
        """Return a signed number, and move past it."""
        zigzag = self._varint()
        return zigzag >> 1 ^ -(zigzag & 1)

    def list_header(self) -> tuple[int, int]:
        """Move past the header of a list; return its length and the type of its elements."""
        header = self._byte()
        size = header >> 4
        size = self._varint() if size == _LONG_LIST else size
        if size > len(self._content) - self.at:
            raise ValueError(f"the metadata have no room for a list of {size} elements")
        return size, header & 0x0F

    def skip(self, kind: int, depth: int = 0) -> None:
        """Move past the value of a field."""
        if kind in _INTEGERS:
            content, at = self._content, self.at
            while content[at] > 0x7F:
                at += 1
            self.at = at + 1
        elif kind == _BINARY:
            size = self._varint()
            self.at += size
        elif kind in (_LIST, _SET, _STRUCT):
            self._skip_nested(kind, depth + 1)
        elif kind in _FIXED_BYTES:
            self.at += _FIXED_BYTES[kind]
        else:
            raise ValueError(f"there is no type {kind} in the metadata of Parquet")

    def _skip_nested(self, kind: int, depth: int) -> None:
        if depth > _MAX_DEPTH:
            raise ValueError(f"the metadata are nested deeper than {_MAX_DEPTH}")
        if kind == _STRUCT:
            for _, inner in self.fields():
                self.skip(inner, depth)
            return
        size, element = self.list_header()
        if element in _BOOLEANS:
            self.at += size
            return
        for _ in range(size):
            self.skip(element, depth)

    def _byte(self) -> int:
        byte = self._content[self.at]
        self.at += 1
        return byte

    def _varint(self) -> int:
        number = shift = 0
        while (byte := self._byte()) > 0x7F:
            number |= (byte & 0x7F) << shift
            shift += 7
            if shift == _MAX_VARINT_BITS:  # a number of a million bytes would take minutes
                raise ValueError("a number in the metadata has more than 64 bits")
        return number | byte << shift
