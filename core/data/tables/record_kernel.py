"""Find the records of delimited text, by the rules of pyarrow's parser.

A field is quoted if its first byte is a quote. In a quoted field, delimiters and line breaks are text, and a
doubled quote is one quote. A record ends at a line feed, a carriage return or both; empty lines are skipped.
"""

import numpy as np

from core.jit import exact
from core.text.bytes_kernel import Text
from core.types import Int64Array

_LINE_FEED = 10
_RETURN = 13
_QUOTE = 34


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
