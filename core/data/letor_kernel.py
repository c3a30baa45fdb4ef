"""The byte-level parser of LETOR text: one pass to measure the file, one to fill the arrays."""

import numpy as np
import numpy.typing as npt

from core.data.decimal_kernel import (
    DECIDED,
    INFINITE,
    MALFORMED,
    NOT_A_NUMBER,
    TOO_LARGE,
    Text,
    parse_decimal,
)
from core.jit import exact
from core.types import Float32Array, Int64Array

MAX_FEATURE_ID = 1_000_000
LABEL_COLUMN = -1

# What can be wrong with a token; 0 is nothing.
(
    FINE,
    LABEL_MALFORMED,
    LABEL_OUT_OF_RANGE,
    QUERY_MISSING,
    QUERY_EMPTY,
    FEATURE_MALFORMED,
    FEATURE_ZERO,
    FEATURE_REPEATED,
    VALUE_MALFORMED,
    VALUE_INFINITE,
    VALUE_TOO_LARGE,
) = range(11)

_LINE_FEED = 10
_HASH = 35
_COLON = 58
_EQUALS = 61


@exact
def measure(text: Text, at: int) -> tuple[int, int, int, int]:
    """Count what the arrays need, without judging anything.

    Returns:
        The number of documents, the largest feature id (at most `MAX_FEATURE_ID` + 1), where its token
        starts, and the largest number of tokens in a row.
    """
    rows, largest, largest_at, most_tokens = 0, 0, 0, 0
    while at < text.size:
        stop = _line_stop(text, at)
        at = _skip_blanks(text, at, stop)
        if at < stop and text[at] != _HASH:
            rows += 1
            tokens = 0
            while at < stop and text[at] != _HASH:
                feature, colon = _feature_id(text, at, stop)
                if feature > largest and colon < stop and text[colon] == _COLON:
                    largest, largest_at = feature, at
                tokens += 1
                at = _skip_blanks(text, _token_stop(text, at, stop), stop)
            most_tokens = max(most_tokens, tokens)
        at = stop + 1
    return rows, largest, largest_at, most_tokens


@exact
def fill(
    text: Text,
    at: int,
    row: int,
    most_tokens: int,
    reject_repeated: bool,
    features: Float32Array,
    labels: Float32Array,
    query_spans: Int64Array,
    run_flags: npt.NDArray[np.bool_],
    document_spans: Int64Array,
    last_rows: Int64Array,
    pending: Int64Array,
) -> tuple[int, int, int, int, int, int]:
    """Parse documents into the arrays until the end, an error, or `pending` might overflow.

    Args:
        text: The whole file.
        at: The start of a line.
        row: The row that the next document fills.
        most_tokens: From `measure`.
        reject_repeated: Whether a feature may not come twice in a row; else its last value counts.
        features: (rows, largest feature id) zeros.
        labels: (rows,).
        query_spans: (rows, 2) start and stop of the query id.
        run_flags: (rows,) whether the query differs from the row before.
        document_spans: (rows, 2) start and stop of the document id, equal where there is none.
        last_rows: (largest feature id,) the last row that held the feature, -1 at first.
        pending: (n, 4) row, column, start and stop of numbers left to Python, to be stored in this order.

    Returns:
        Where to go on, the row to go on with, the number of pending entries, and the error with the start and
        stop of its token.
    """
    waiting = 0
    while at < text.size:
        stop = _line_stop(text, at)
        at = _skip_blanks(text, at, stop)
        if at < stop and text[at] != _HASH:
            if waiting + most_tokens > len(pending):
                return at, row, waiting, FINE, at, at
            error, start, end, waiting = _label(text, at, stop, row, labels, pending, waiting)
            if error == FINE:
                error, start, end = _query(text, end, stop, row, query_spans, run_flags)
            if error == FINE:
                error, start, end, waiting = _features(
                    text, end, stop, row, reject_repeated, features, last_rows, pending, waiting
                )
            if error != FINE:
                return at, row, waiting, error, start, end
            document_spans[row, 0], document_spans[row, 1] = _document_id(text, start, stop)
            row += 1
        at = stop + 1
    return at, row, waiting, FINE, at, at


@exact
def _label(
    text: Text, at: int, stop: int, row: int, labels: Float32Array, pending: Int64Array, waiting: int
) -> tuple[int, int, int, int]:
    end = _token_stop(text, at, stop)
    kind, value = parse_decimal(text, at, end)
    if kind == MALFORMED:
        return LABEL_MALFORMED, at, end, waiting
    if kind in (NOT_A_NUMBER, INFINITE, TOO_LARGE) or value < 0:
        return LABEL_OUT_OF_RANGE, at, end, waiting
    labels[row] = np.float32(abs(value))
    if kind != DECIDED:
        waiting = _leave(pending, waiting, row, LABEL_COLUMN, at, end)
    return FINE, at, end, waiting


@exact
def _query(
    text: Text, at: int, stop: int, row: int, spans: Int64Array, run_flags: npt.NDArray[np.bool_]
) -> tuple[int, int, int]:
    at = _skip_blanks(text, at, stop)
    if not _starts_with(text, at, stop, b"qid:"):
        return QUERY_MISSING, at, _token_stop(text, at, stop)
    start = at + 4
    end = start
    while end < stop and not _is_blank(text[end]):  # a query id may hold #
        end += 1
    if end == start:
        return QUERY_EMPTY, at, end
    spans[row, 0], spans[row, 1] = start, end
    run_flags[row] = row == 0 or not _same(text, start, end, spans[row - 1, 0], spans[row - 1, 1])
    return FINE, at, end


@exact
def _features(
    text: Text,
    at: int,
    stop: int,
    row: int,
    reject_repeated: bool,
    features: Float32Array,
    last_rows: Int64Array,
    pending: Int64Array,
    waiting: int,
) -> tuple[int, int, int, int]:
    at = _skip_blanks(text, at, stop)
    while at < stop and text[at] != _HASH:
        end = _token_stop(text, at, stop)
        feature, colon = _feature_id(text, at, end)
        repeated = 0 < feature <= len(last_rows) and last_rows[feature - 1] == row
        error = _feature_error(text, at, colon, end, feature, repeated and reject_repeated)
        if error != FINE:
            return error, at, end, waiting
        kind, value = parse_decimal(text, colon + 1, end)
        if kind in (MALFORMED, INFINITE, TOO_LARGE):
            return _value_error(kind), at, end, waiting
        features[row, feature - 1] = np.float32(value)
        last_rows[feature - 1] = row
        # A repeated feature waits too: its earlier value may be waiting, and the last must win.
        if repeated or kind not in (DECIDED, NOT_A_NUMBER):
            waiting = _leave(pending, waiting, row, feature - 1, colon + 1, end)
        at = _skip_blanks(text, end, stop)
    return FINE, at, at, waiting


@exact
def _feature_error(text: Text, at: int, colon: int, end: int, feature: int, forbidden: bool) -> int:
    if colon in (at, end) or text[colon] != _COLON:
        return FEATURE_MALFORMED
    if feature == 0:
        return FEATURE_ZERO
    return FEATURE_REPEATED if forbidden else FINE


@exact
def _value_error(kind: int) -> int:
    if kind == INFINITE:
        return VALUE_INFINITE
    return VALUE_TOO_LARGE if kind == TOO_LARGE else VALUE_MALFORMED


@exact
def _document_id(text: Text, at: int, stop: int) -> tuple[int, int]:
    start = _skip_blanks(text, at + 1, stop) if at < stop else stop
    if _starts_with(text, start, stop, b"docid"):
        equals = _skip_blanks(text, start + 5, stop)
        if equals < stop and text[equals] == _EQUALS:
            start = _skip_blanks(text, equals + 1, stop)
    end = start
    while end < stop and not _is_blank(text[end]):
        end += 1
    return start, end


@exact
def _leave(pending: Int64Array, waiting: int, row: int, column: int, start: int, stop: int) -> int:
    pending[waiting, 0], pending[waiting, 1] = row, column
    pending[waiting, 2], pending[waiting, 3] = start, stop
    return waiting + 1


@exact
def _feature_id(text: Text, at: int, stop: int) -> tuple[int, int]:
    feature = 0
    while at < stop and 48 <= text[at] <= 57:
        feature = min(feature * 10 + (int(text[at]) - 48), MAX_FEATURE_ID + 1)
        at += 1
    return feature, at


@exact
def _is_blank(byte: int) -> bool:
    return byte == 32 or byte == 9 or byte == 13  # space, tab, and the carriage return of CRLF


@exact
def _skip_blanks(text: Text, at: int, stop: int) -> int:
    while at < stop and _is_blank(text[at]):
        at += 1
    return at


@exact
def _token_stop(text: Text, at: int, stop: int) -> int:
    # Nothing above # ends a token, which spares most bytes the other comparisons.
    while at < stop and (text[at] > _HASH or not (text[at] == _HASH or _is_blank(text[at]))):
        at += 1
    return at


@exact
def _line_stop(text: Text, at: int) -> int:
    while at < text.size and text[at] != _LINE_FEED:
        at += 1
    return at


@exact
def _starts_with(text: Text, at: int, stop: int, word: bytes) -> bool:
    if stop - at < len(word):
        return False
    for offset in range(len(word)):  # noqa: SIM110 - numba compiles no generator expressions
        if text[at + offset] != word[offset]:
            return False
    return True


@exact
def _same(text: Text, start: int, stop: int, other_start: int, other_stop: int) -> bool:
    if stop - start != other_stop - other_start:
        return False
    for offset in range(stop - start):  # noqa: SIM110 - numba compiles no generator expressions
        if text[start + offset] != text[other_start + offset]:
            return False
    return True
