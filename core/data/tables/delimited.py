"""Read delimited text, such as CSV and TSV, block by block as texts.

Records are found by the rules of pyarrow's parser. A field is quoted if its first byte is a quote. In a
quoted field, delimiters and line breaks are text, and a doubled quote is one quote. A record ends at a line
feed, a carriage return or both; empty lines are skipped.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal, cast

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from core.data.compression import Bytes
from core.data.content import is_number
from core.data.file_text import FileText
from core.data.tables.cells import Kind, kind_of_texts
from core.data.tables.problems import Problems
from core.errors import DatasetError
from core.jit import exact
from core.names import shortened
from core.text.bytes_kernel import Text
from core.types import Int64Array, OnProgress

_LINE_FEED = 10
_RETURN = 13
_QUOTE = 34
_BLOCK_BYTES = 2**23
_SAMPLE_ROWS = 1_000
_MAX_RECORD_BYTES = 2**22
_QUOTED = re.compile(rb'"[^"]*"?')


@exact
def record_stop(text: Text, at: int, delimiter: int) -> tuple[int, int, int]:
    """Find the end of the record at `at`.

    Returns:
        The position of the record's line break, or the size of the text if there is none. Then the number of
        line breaks in quoted fields, and the position of an unclosed quote, or -1.
    """
    breaks = 0
    field_starts = True
    while at < text.size and text[at] != _LINE_FEED and text[at] != _RETURN:
        if field_starts and text[at] == _QUOTE:
            quote = at
            at += 1
            while at < text.size and (text[at] != _QUOTE or (at + 1 < text.size and text[at + 1] == _QUOTE)):
                breaks += text[at] == _LINE_FEED or (
                    text[at] == _RETURN and not (at + 1 < text.size and text[at + 1] == _LINE_FEED)
                )
                at += 2 if text[at] == _QUOTE else 1
            if at >= text.size:
                return text.size, breaks, quote
            field_starts = False
        else:
            field_starts = text[at] == delimiter
        at += 1
    return at, breaks, -1


@exact
def after_break(text: Text, at: int) -> int:
    """Return the start of the line after the line break at `at`."""
    if at + 1 < text.size and text[at] == _RETURN and text[at + 1] == _LINE_FEED:
        return at + 2
    return at + 1


@exact
def measure_records(text: Text, at: int, delimiter: int) -> tuple[int, int, int, int]:
    """Count records, and find the longest record and an unclosed quote.

    Returns:
        The number of records, the bytes of the longest record, and its index. Last, the index of a record
        with an unclosed quote, or -1.
    """
    records, longest, longest_record, unclosed = 0, 0, 0, -1
    while at < text.size:
        stop, _, quote = record_stop(text, at, delimiter)
        if stop > at:
            if stop - at > longest:
                longest, longest_record = stop - at, records
            if quote >= 0:
                unclosed = records
            records += 1
        at = after_break(text, stop)
    return records, longest, longest_record, unclosed


@exact
def record_lines(text: Text, at: int, line: int, delimiter: int, record_indices: Int64Array) -> Int64Array:
    """Return the line numbers on which records begin.

    Args:
        delimiter: The byte between fields.
        record_indices: Ascending indices of records.
    """
    lines = np.full(len(record_indices), line)
    record, filled = 0, 0
    while at < text.size and filled < len(record_indices):
        stop, breaks, _ = record_stop(text, at, delimiter)
        if stop > at:
            while filled < len(record_indices) and record_indices[filled] == record:
                lines[filled] = line
                filled += 1
            record += 1
        line += breaks + 1
        at = after_break(text, stop)
    return lines


class DelimitedTable:
    """Rows of delimited text; see `Table`.

    Args:
        text: (n_bytes,) the bytes of the file.
        file: Name of the file for messages.
        may_lack_header: Whether a first record that begins with a number is a row, not the column names; the
            names are then label, f1, f2, …

    Raises:
        DatasetError: There is no row, a quote is never closed, a row is too long, or the text is not
            UTF-8.
    """

    format: str = "csv"

    def __init__(self, text: Bytes, file: str, delimiter: str, *, may_lack_header: bool = False) -> None:
        self.file = file
        self.size_bytes = text.size
        self._text = text
        self._delimiter = delimiter
        self._skipped: list[int] = []
        start, line = self._first_record()
        self.names: tuple[str, ...] = self._fields(start)
        has_header = not (may_lack_header and is_number(self.names[0]))
        self.header_line = line if has_header else None
        self._check_utf8(start)
        if has_header:
            stop, breaks, _ = record_stop(text, start, ord(delimiter))
            self._start, self._line = after_break(text, stop), line + breaks + 1
        else:
            self.names = ("label", *(f"f{number}" for number in range(1, len(self.names))))
            self._start, self._line = start, line
        self.n_rows, longest, longest_row, unclosed = measure_records(text, self._start, ord(delimiter))
        if unclosed >= 0:
            raise self._error("expected a closing quote, but the file ends before one", unclosed)
        if self.n_rows == 0:
            raise DatasetError.at("expected rows below the header, but found none", file=file, line=line)
        if longest > _MAX_RECORD_BYTES:
            limit = f"expected rows of at most {_MAX_RECORD_BYTES:,} bytes, but found {longest:,}"
            raise self._error(f"{limit}, perhaps after a stray quote", longest_row)

    def kinds(self) -> Sequence[Kind]:
        """Classify columns as numbers or texts by the first thousand rows that the first block holds."""
        problems = Problems()
        for columns in self.blocks(range(len(self.names)), problems, None):
            return [kind_of_texts(column[:_SAMPLE_ROWS]) for column in columns]
        return ["number"] * len(self.names)

    def widths(self) -> Sequence[int]:
        """Return 1 for each column: text holds no lists."""
        return [1] * len(self.names)

    def blocks(
        self, positions: Sequence[int], problems: Problems, on_progress: OnProgress | None
    ) -> Iterator[Sequence[Any]]:
        """Yield the texts of these columns; add a problem for each row with a wrong number of cells."""
        names = [str(position) for position in range(len(self.names))]
        self._skipped = []
        selected_names = [names[position] for position in positions]

        def skip(row: Any) -> Literal["skip", "error"]:
            # pyarrow counts records from 1, skipped records included.
            expected = f"expected {len(names)} cells as in the header, but found {row.actual_columns}"
            self._skipped.append(row.number - 1)
            text = shortened(row.text or "")
            problems.add("number_of_cells", row.number - 1, 0, None, expected, text)
            return "error" if problems.has_enough("number_of_cells") else "skip"

        source = pa.BufferReader(pa.py_buffer(cast("Any", self._text[self._start :])))
        try:
            reader = pa_csv.open_csv(
                cast("Any", source),
                pa_csv.ReadOptions(use_threads=False, block_size=_BLOCK_BYTES, column_names=names),
                pa_csv.ParseOptions(
                    delimiter=self._delimiter, newlines_in_values=True, invalid_row_handler=skip
                ),
                pa_csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()),
                    include_columns=selected_names,
                    strings_can_be_null=False,
                    check_utf8=False,
                ),
            )
            done = 0
            for batch in reader:
                yield batch.columns
                done += batch.num_rows
                if on_progress is not None:  # rows instead of bytes, as pyarrow reads far ahead
                    on_progress(min(done, self.n_rows), self.n_rows)
        except pa.ArrowInvalid as error:
            if not problems:
                raise self._refusal(str(error)) from error
            problems.mark_cut_off()

    def record(self, row: int) -> int:
        """Return the index of the record that a yielded row was read from."""
        record = row
        for skipped in self._skipped:
            if skipped > record:
                break
            record += 1
        return record

    def lines(self, records: Sequence[int]) -> list[int]:
        """Return the lines on which records begin."""
        distinct, inverse = np.unique(np.array(records, np.int64), return_inverse=True)
        of_distinct = record_lines(self._text, self._start, self._line, ord(self._delimiter), distinct)
        lines: list[int] = of_distinct[inverse].tolist()
        return lines

    def _first_record(self) -> tuple[int, int]:
        start, line = FileText(self._text, self.file).start, 1
        while start < self._text.size and self._text[start] in b"\r\n":
            start, line = after_break(self._text, start), line + 1
        return start, line

    def _fields(self, start: int) -> tuple[str, ...]:
        stop, _, _ = record_stop(self._text, start, ord(self._delimiter))
        if stop - start > _MAX_RECORD_BYTES:
            raise self._too_long("a first row", stop - start)
        header = self._text[start:stop].tobytes().decode(errors="backslashreplace")
        try:
            (fields,) = csv.reader([header], delimiter=self._delimiter)
        except csv.Error as error:  # a name of more than 128 KiB
            raise self._refusal(str(error)) from error
        return tuple(field.strip() for field in fields)

    def _too_long(self, rows: str, size_bytes: int) -> DatasetError:
        limit = f"expected {rows} of at most {_MAX_RECORD_BYTES:,} bytes, but found {size_bytes:,}"
        return DatasetError.at(f"{limit}, perhaps after a stray quote", file=self.file)

    def _error(self, detail: str, row: int) -> DatasetError:
        return DatasetError.at(detail, file=self.file, line=self.lines([row])[0])

    def _refusal(self, reason: str) -> DatasetError:
        return DatasetError.at(f"expected delimited text, but it cannot be parsed: {reason}", file=self.file)

    def _check_utf8(self, header: int) -> None:
        source = FileText(self._text, self.file)
        for start, stop in pairwise(source.cuts(_BLOCK_BYTES).tolist()):
            if stop - start > _BLOCK_BYTES + _MAX_RECORD_BYTES:
                raise self._too_long("rows", stop - start)
            try:
                self._text[start:stop].tobytes().decode()
            except UnicodeDecodeError as error:
                at, expected = start + error.start, "expected UTF-8 text (save the file as UTF-8)"
                (problem,) = source.errors([(expected, at, start + error.end)])
                if self.header_line is not None and problem.line != self.header_line:
                    line_start = at - int(problem.column or 1) + 1
                    problem = replace(problem, column=self._column_at(header, line_start, at))
                raise DatasetError(problem) from error

    def _column_at(self, header: int, line_start: int, at: int) -> str | None:
        """Return the name of the column that contains a byte, None after the last column."""
        before = _QUOTED.sub(b"", self._text[line_start:at].tobytes())
        names = self._fields(header)
        column = before.count(self._delimiter.encode())
        return names[column] if column < len(names) else None
