"""Read uploaded Parquet tables, a row group at a time."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyarrow.types as types

from core.data.compression import Bytes
from core.data.options import Limits
from core.data.parquet_footer import ColumnSummary, column_summaries, read_footer
from core.data.tables.cells import STRING_CHECKS, Kind, category_texts, kind_of, list_lengths
from core.data.tables.problems import Problems
from core.errors import DatasetError
from core.types import OnProgress

_BATCH_ROWS = 16_384
_BATCH_CELLS = 2**21  # list numbers per batch: 16 MB in float64
_SEARCHED_ROWS = 256  # read at a time to find the first list of a column
_LIMIT_BATCHES = 32  # batches of the longest possible texts that reach the memory limit together
_GATHERED_BYTES = 2**24  # of texts, in batches that are joined
_CELL_BYTES = 8
# Encodings of parquet.thrift.
_PREFIXES = 7  # DELTA_BYTE_ARRAY: texts may repeat the start of the text before
_LENGTHS = 6  # DELTA_LENGTH_BYTE_ARRAY


class ParquetTable:
    """Rows of a Parquet file; see `Table`. Line numbers are row numbers, from 1.

    Texts are read as dictionary arrays. A long text that every row repeats takes few bytes of the file, so
    its size is checked before it is expanded in memory. Arrow always expands delta-encoded texts. Batches of
    such columns have few rows, so that they are small even if each row repeats the longest possible text.

    Raises:
        DatasetError: The file is damaged, has no row, or unpacks to more than the limit.
    """

    format: str = "parquet"
    header_line: int | None = None

    def __init__(self, content: Bytes, file: str, limits: Limits) -> None:
        self.file = file
        self.size_bytes = content.size
        self._limits = limits
        source = pa.py_buffer(cast("Any", content))
        try:
            plain = pq.ParquetFile(pa.BufferReader(source))
            strings = [field.name for field in plain.schema_arrow if _is_string(field.type)]
            self._columns = column_summaries(read_footer(cast("Any", pa.BufferReader(source)))[1])
            self._delta_texts = _delta_texts(plain.metadata, self._columns, strings)
            self._parquet = pq.ParquetFile(
                pa.BufferReader(source),
                metadata=plain.metadata,
                read_dictionary=[name for name in strings if name not in self._delta_texts],
            )
            self.schema = self._parquet.schema_arrow
            self._dictionaries = _dictionaries(plain.metadata)
        except (pa.ArrowException, DatasetError, OSError, ValueError) as error:
            raise self._damage(error) from error
        self.names = tuple(self.schema.names)
        metadata = self._parquet.metadata
        self.n_rows = metadata.num_rows
        if self.n_rows == 0:
            raise DatasetError.at("expected rows, but the table has none", file=file)
        self._check_size(
            sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups)),
            min(limits.in_memory(content.size), limits.unpacked_bytes),
        )

    def kinds(self) -> Sequence[Kind]:
        """Classify numbers, texts, lists of numbers and categories by the types of the columns."""
        return self._kinds

    def widths(self) -> Sequence[int]:
        """Return the length of each column's lists, 0 where all are null or empty; 1 for other columns."""
        return self._widths

    @cached_property
    def _kinds(self) -> list[Kind]:
        kinds: list[Kind] = []
        for field, width in zip(self.schema, self.widths(), strict=True):
            kind = kind_of(field.type)
            if kind == "list" and not width:
                kind = "other"
            if kind == "number" and field.name in self._dictionaries and self._are_categories(field):
                kind = "category"
            kinds.append(kind)
        return kinds

    @cached_property
    def _widths(self) -> list[int]:
        lists = {field.name for field in self.schema if kind_of(field.type) == "list"}
        if lists:
            self._check_size(_CELL_BYTES * self._repeated_values(), self._limits.in_memory(self.size_bytes))
        return [self._list_width(field) if field.name in lists else 1 for field in self.schema]

    def _repeated_values(self) -> int:
        """Return the number of list elements by the metadata, as a few bytes may encode many elements."""
        schema = self._parquet.metadata.schema
        repeated = [column for column in range(len(schema)) if schema.column(column).max_repetition_level]
        return sum(self._columns[column].values for column in repeated)

    def _are_categories(self, field: Any) -> bool:
        """Return whether a column's numbers may be categories: fractions and rounded numbers may not."""
        if types.is_integer(field.type) or types.is_boolean(field.type):
            return True
        has_value = False
        with self._readable():
            for (column,) in self._batches([field.name], _BATCH_ROWS, 0):
                values, invalid = category_texts(column)
                if len(invalid):
                    return False
                has_value |= bool(pc.any(pc.greater(pc.binary_length(values), pa.scalar(0))).as_py())
        return has_value

    def _list_width(self, field: Any) -> int:
        """Return the length of a column's first non-empty list, 0 where there is none."""
        if types.is_fixed_size_list(field.type):
            return int(field.type.list_size)
        with self._readable():
            for batch in self._parquet.iter_batches(_SEARCHED_ROWS, columns=[field.name]):
                lengths = list_lengths(batch.column(field.name))
                if (lengths > 0).any():
                    return int(lengths[np.argmax(lengths > 0)])
        return 0

    def blocks(
        self, positions: Sequence[int], problems: Problems, on_progress: OnProgress | None
    ) -> Iterator[Sequence[Any]]:
        """Yield the arrays of these columns."""
        names = [self.names[position] for position in positions]
        column_types = [self.schema.field(position).type for position in positions]
        text_bytes = self.n_rows * sum(t.byte_width for t in column_types if types.is_fixed_size_binary(t))
        self._check_size(text_bytes, self._limits.in_memory(self.size_bytes))
        kinds = map(kind_of, column_types)
        list_cells = sum(self._widths[p] for p, kind in zip(positions, kinds, strict=True) if kind == "list")
        batch_rows = min(_BATCH_ROWS, max(1, _BATCH_CELLS // max(1, list_cells)))
        done = 0
        with self._readable():
            for columns in self._batches(names, batch_rows, text_bytes):
                yield columns
                done += len(columns[0])
                if on_progress is not None:
                    on_progress(done, self.n_rows)

    def _batches(self, names: Sequence[str], rows: int, text_bytes: int) -> Iterator[list[Any]]:
        """Yield the columns of about as many rows, or of fewer if their texts are long.

        Args:
            text_bytes: Bytes of texts of other columns, which count towards the limit.
        """
        limit = self._limits.in_memory(self.size_bytes)
        longest = max((self._delta_texts.get(name, 0) for name in names), default=0)
        read_rows = min(rows, max(1, limit // (_LIMIT_BATCHES * max(1, longest))))
        batches: list[Any] = []
        gathered_rows = gathered_bytes = 0
        for batch in self._parquet.iter_batches(read_rows, columns=list(names)):
            gathered_bytes += sum(map(_text_bytes, batch.columns))
            self._check_size(text_bytes + gathered_bytes, limit)
            batches.append(batch)
            gathered_rows += batch.num_rows
            if gathered_rows + read_rows > rows or gathered_bytes > _GATHERED_BYTES:
                yield _joined(batches, names)
                text_bytes += gathered_bytes
                batches, gathered_rows, gathered_bytes = [], 0, 0
        if batches:
            yield _joined(batches, names)

    def record(self, row: int) -> int:
        """Return the row itself, as no row is skipped."""
        return row

    def lines(self, records: Sequence[int]) -> list[int]:
        """Return the numbers of rows, from 1."""
        return [record + 1 for record in records]

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Convert Arrow's errors in the block to `DatasetError`."""
        try:
            yield
        except (pa.ArrowException, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise self._damage(error) from error

    def _check_size(self, size_bytes: int, max_bytes: int) -> None:
        if size_bytes > max_bytes:
            limit = self._limits.in_memory_text(self.size_bytes)
            if max_bytes == self._limits.unpacked_bytes:
                limit = f"{max_bytes:,} bytes (RANKERY_MAX_UNPACKED_BYTES)"
            expected = f"expected Parquet data of at most {limit} when uncompressed"
            raise DatasetError.at(f"{expected}, but found {size_bytes:,} bytes", file=self.file)

    def _damage(self, error: Exception) -> DatasetError:
        reason = str(error).splitlines()[0] if str(error) else "unknown reason"
        if "decrypt" in reason:
            return DatasetError.at("expected Parquet data without encryption", file=self.file)
        return DatasetError.at(f"expected a valid Parquet file, but it is damaged: {reason}", file=self.file)


def _is_string(type: Any) -> bool:
    return any(is_one(type) for is_one in STRING_CHECKS)


def _dictionaries(metadata: Any) -> set[str]:
    """Return the columns that were dictionaries when Arrow wrote the file, such as categories of pandas.

    Arrow reads only texts as dictionaries again.
    """
    encoded = (metadata.metadata or {}).get(b"ARROW:schema")
    if encoded is None:
        return set()
    schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(encoded)))
    return {field.name for field in schema if types.is_dictionary(field.type)}


def _joined(batches: Sequence[Any], names: Sequence[str]) -> list[Any]:
    if len(batches) == 1:
        return [batches[0].column(name) for name in names]
    return [pa.concat_arrays([batch.column(name) for batch in batches]) for name in names]


def _delta_texts(metadata: Any, columns: Mapping[int, ColumnSummary], names: Sequence[str]) -> dict[str, int]:
    """Return the longest text, in bytes, that rows can share in each column of delta-encoded texts."""
    positions = {metadata.schema.column(column).path: column for column in range(metadata.num_columns)}
    longest: dict[str, int] = {}
    for name in names:
        column = columns[positions[name]]
        if column.encodings & {_PREFIXES, _LENGTHS}:
            longest[name] = column.largest_part if _PREFIXES in column.encodings else 0
    return longest


def _text_bytes(column: Any) -> int:
    """Return the bytes of a text column expanded from its dictionary, 0 for columns of other types."""
    if _is_string(column.type):
        return pc.sum(pc.cast(pc.binary_length(column), pa.int64())).as_py() or 0
    if not (types.is_dictionary(column.type) and _is_string(column.type.value_type)):
        return 0
    lengths = pc.cast(pc.binary_length(column.dictionary), pa.int64())
    return pc.sum(pc.take(lengths, column.indices)).as_py() or 0
