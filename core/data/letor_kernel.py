"""The byte-level parser of LETOR text: one pass for the shape of the file, one to fill the arrays.

Both passes work on chunks of whole lines and count the same rows, even in malformed text. A row is a line
whose first non-blank character is not a #.
"""

import numpy as np

from core.data.number_kernel import DECIDED, INFINITE, MALFORMED, TOO_LARGE, UNDECIDED, read_number
from core.data.text_kernel import (
    COLON,
    EQUALS,
    HASH,
    LINE_FEED,
    line_stop,
    same_bytes,
    skip_blanks,
    starts_with,
    token_stop,
    word_stop,
)
from core.jit import exact_inlined, exact_nonallocating
from core.text.bytes_kernel import Text
from core.types import Float32Array, Int32Array, Int64Array

MAX_FEATURE_ID = 1_000_000

# Error codes of a token; 0 is no error.
(
    FINE,
    LABEL_MALFORMED,
    LABEL_INFINITE,
    QUERY_MISSING,
    QUERY_EMPTY,
    FEATURE_MALFORMED,
    FEATURE_ZERO,
    FEATURE_REPEATED,
    VALUE_MALFORMED,
    VALUE_TOO_LARGE,
) = range(10)

_ONE = np.uint64(1)


@exact_nonallocating
def measure(
    first: int, last: int, text: Text, cuts: Int64Array, has_queries: bool, shape: Int64Array
) -> None:
    """Find the shape of each chunk of a range, without validation.

    Args:
        last: Chunk after the last chunk of the range.
        text: The whole file.
        cuts: (n_chunks + 1,) boundaries of the chunks, at line starts.
        has_queries: Whether a query token follows the label.
        shape: (n_chunks, 4) filled with the number of rows, the largest feature id, the position of its
            token, and the smallest feature id. The largest is at most `MAX_FEATURE_ID` + 1.
    """
    for chunk in range(first, last):
        _measure_chunk(text, cuts[chunk], cuts[chunk + 1], has_queries, shape[chunk])


@exact_nonallocating
def _measure_chunk(text: Text, start: int, stop: int, has_queries: bool, shape: Int64Array) -> None:
    at, size = np.uint64(start), np.uint64(stop)
    rows, largest_at = 0, np.uint64(0)
    largest, smallest = np.uint64(0), np.uint64(MAX_FEATURE_ID + 1)
    while at < size:
        at = skip_blanks(text, at, size)
        if at < size and text[at] != HASH and text[at] != LINE_FEED:
            rows += 1
            at = skip_blanks(text, token_stop(text, at, size), size)
            if has_queries and starts_with(text, at, size, b"qid:"):
                at = skip_blanks(text, word_stop(text, at, size), size)
            while at < size and text[at] != HASH and text[at] != LINE_FEED:
                token = at
                feature, at = _feature_id(text, at, size)
                if at < size and text[at] == COLON and at > token:
                    if feature > largest:
                        largest, largest_at = feature, token
                    smallest = min(smallest, feature)
                at = skip_blanks(text, token_stop(text, at, size), size)
        at = line_stop(text, at, size) + _ONE
    shape[0], shape[1], shape[2], shape[3] = rows, largest, largest_at, smallest


@exact_nonallocating
def fill(
    first: int,
    last: int,
    text: Text,
    cuts: Int64Array,
    first_rows: Int64Array,
    has_queries: bool,
    first_id: int,
    features: Float32Array,
    labels: Float32Array,
    query_starts: Int64Array,
    query_lengths: Int32Array,
    document_starts: Int64Array,
    document_lengths: Int32Array,
    last_rows: Int64Array,
    problems: Int64Array,
    undecided: Int64Array,
    counts: Int64Array,
) -> None:
    """Parse the rows of a range of chunks into the arrays.

    Args:
        last: Chunk after the last chunk of the range.
        text: The whole file.
        cuts: (n_chunks + 1,) boundaries of the chunks.
        first_rows: (n_chunks,) the first row of each chunk.
        has_queries: Whether a query token follows the label.
        first_id: The feature id of the first column, 0 or 1.
        features: (rows, n_features) zeros.
        query_starts: (rows,) zeros; filled with the position of the query id at rows that begin a run of a
            query.
        query_lengths: (rows,) length of the query id at these rows.
        document_starts: (rows,) position of the document id, or where an absent one would be.
        document_lengths: (rows,) length of the document id, 0 where a row has none.
        last_rows: (n_chunks, n_features) -1; the last row with each feature, to detect repeated features.
            With no columns, features may repeat.
        problems: (n_chunks, MAX_PROBLEMS, 3) filled with error code, start and stop of the invalid token.
        undecided: (n_chunks, capacity, 3) filled with (row, line start, line start) of each row that has a
            number left to Python's `float`.
        counts: (n_chunks, 3) numbers of problems and of undecided rows, which may exceed the capacity, and of
            comments that continue after the document id.
    """
    for chunk in range(first, last):
        _fill_chunk(
            text,
            cuts[chunk],
            cuts[chunk + 1],
            first_rows[chunk],
            has_queries,
            first_id,
            features,
            labels,
            query_starts,
            query_lengths,
            document_starts,
            document_lengths,
            last_rows[chunk],
            problems[chunk],
            undecided[chunk],
            counts[chunk],
        )


@exact_nonallocating
def _fill_chunk(
    text: Text,
    start: int,
    stop: int,
    first_row: int,
    has_queries: bool,
    first_id: int,
    features: Float32Array,
    labels: Float32Array,
    query_starts: Int64Array,
    query_lengths: Int32Array,
    document_starts: Int64Array,
    document_lengths: Int32Array,
    last_rows: Int64Array,
    problems: Int64Array,
    undecided: Int64Array,
    counts: Int64Array,
) -> None:
    at, size, row = np.uint64(start), np.uint64(stop), np.uint64(first_row)
    n_features, lowest = np.uint64(features.shape[1]), np.uint64(first_id)
    query, query_stop = np.uint64(0), np.uint64(0)
    n_problems, n_undecided, n_longer = 0, 0, 0
    while at < size:
        line = at
        at = skip_blanks(text, at, size)
        if at < size and text[at] != HASH and text[at] != LINE_FEED:
            error, token, at, is_undecided = _label(text, at, size, row, labels)
            if error == FINE and has_queries:
                error, token, at = _query(text, at, size)
                if error == FINE and not same_bytes(text, token, at, query, query_stop):
                    query, query_stop = token, at
                    query_starts[row], query_lengths[row] = query, query_stop - query
            if error == FINE:
                error, token, at, features_undecided = _features(
                    text, at, size, row, features, n_features, lowest, last_rows
                )
                is_undecided |= features_undecided
            if error == FINE:
                token, at = _document_id(text, at, size)
                document_starts[row], document_lengths[row] = token, at - token
                at = skip_blanks(text, at, size)
                n_longer += at < size and text[at] != LINE_FEED
            else:
                _record(problems, n_problems, error, token, at)
                n_problems += 1
            if is_undecided and error == FINE:
                _record(undecided, n_undecided, row, line, line)
                n_undecided += 1
            row += _ONE
        at = line_stop(text, at, size) + _ONE
    counts[0], counts[1], counts[2] = n_problems, n_undecided, n_longer


@exact_inlined
def _record(records: Int64Array, n: int, value: int, start: np.uint64, stop: np.uint64) -> None:
    if n < len(records):
        records[n, 0], records[n, 1], records[n, 2] = value, start, stop


@exact_inlined
def _label(
    text: Text, at: np.uint64, size: np.uint64, row: np.uint64, labels: Float32Array
) -> tuple[int, np.uint64, np.uint64, bool]:
    kind, stop, value = read_number(text, at, size)
    if kind == MALFORMED:
        return LABEL_MALFORMED, at, stop, False
    if kind in (INFINITE, TOO_LARGE):
        return LABEL_INFINITE, at, stop, False
    labels[row] = np.float32(value)
    return FINE, at, stop, kind == UNDECIDED


@exact_inlined
def _query(text: Text, at: np.uint64, size: np.uint64) -> tuple[int, np.uint64, np.uint64]:
    at = skip_blanks(text, at, size)
    if not starts_with(text, at, size, b"qid:"):
        return QUERY_MISSING, at, token_stop(text, at, size)
    start = at + np.uint64(4)
    stop = word_stop(text, start, size)  # a query id may hold #
    if stop == start:
        return QUERY_EMPTY, at, stop
    return FINE, start, stop


@exact_inlined
def _features(
    text: Text,
    at: np.uint64,
    size: np.uint64,
    row: np.uint64,
    features: Float32Array,
    n_features: np.uint64,
    lowest: np.uint64,
    last_rows: Int64Array,
) -> tuple[int, np.uint64, np.uint64, bool]:
    is_undecided = False
    at = skip_blanks(text, at, size)
    while at < size and text[at] != HASH and text[at] != LINE_FEED:
        token = at
        feature, at = _feature_id(text, at, size)
        if at == token or at >= size or text[at] != COLON:
            return FEATURE_MALFORMED, token, token_stop(text, token, size), is_undecided
        column = feature - lowest
        if column >= n_features:  # an id below `lowest` wraps around to a large column
            return FEATURE_ZERO, token, token_stop(text, token, size), is_undecided
        at += _ONE
        kind, stop, value = read_number(text, at, size)
        if kind != DECIDED:
            if kind == MALFORMED:
                return VALUE_MALFORMED, token, stop, is_undecided
            if kind == TOO_LARGE:
                return VALUE_TOO_LARGE, token, stop, is_undecided
            is_undecided |= kind == UNDECIDED
        if len(last_rows) > 0:
            if last_rows[column] == np.int64(row):
                return FEATURE_REPEATED, token, stop, is_undecided
            last_rows[column] = row
        features[row, column] = np.float32(value)
        at = skip_blanks(text, stop, size)
    return FINE, at, at, is_undecided


@exact_inlined
def _feature_id(text: Text, at: np.uint64, size: np.uint64) -> tuple[np.uint64, np.uint64]:
    feature = np.uint64(0)
    while at < size and np.uint64(text[at]) - np.uint64(48) < np.uint64(10):
        feature = feature * np.uint64(10) + (np.uint64(text[at]) - np.uint64(48))
        feature = min(feature, np.uint64(MAX_FEATURE_ID + 1))
        at += _ONE
    return feature, at


@exact_inlined
def _document_id(text: Text, at: np.uint64, size: np.uint64) -> tuple[np.uint64, np.uint64]:
    if at >= size or text[at] != HASH:
        return at, at
    start = skip_blanks(text, at + _ONE, size)
    if starts_with(text, start, size, b"docid"):
        equals = skip_blanks(text, start + np.uint64(5), size)
        if equals < size and text[equals] == EQUALS:
            start = skip_blanks(text, equals + _ONE, size)
            return start, word_stop(text, start, size)
    stop = word_stop(text, start, size)
    equals = skip_blanks(text, stop, size)
    if equals < size and text[equals] == EQUALS:  # `# inc = 1` names a column, not the document
        return start, start
    return start, stop
