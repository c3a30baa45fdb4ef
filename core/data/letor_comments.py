"""Parse the key-value pairs in comments of LETOR text: `#docid = GX1 inc = 1 prob = 0.02`."""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from core.data.file_text import FileText, span_texts
from core.data.text_kernel import EQUALS, LINE_FEED, is_blank, same_bytes, skip_blanks, word_stop
from core.data.texts import Texts
from core.jit import exact_inlined, exact_nonallocating
from core.ranges import over_ranges
from core.text.bytes_kernel import Text
from core.types import Int32Array, Int64Array

MAX_COLUMNS = 32  # limit of columns, as free text may contain = anywhere
_SAMPLE_ROWS = 1_000

_ONE = np.uint64(1)


def document_columns(source: FileText, starts: Int64Array) -> Mapping[str, Texts]:
    """Gather the pairs `key = value` of the comments, with or without blanks around =, by key.

    A key begins with a letter. If a comment repeats a key, the last value counts. A document whose comment
    lacks a key has an empty text in that column. The first 32 keys of the file become columns.

    Args:
        starts: (n_documents,) position after the document id in each comment.
    """
    keys: Int64Array = np.zeros((MAX_COLUMNS, 2), np.int64)
    n_keys = _find_keys(source.text, starts[:_SAMPLE_ROWS], keys)
    values, lengths, complete = _spans(source, starts, keys[:n_keys])
    if not complete and n_keys < MAX_COLUMNS:  # the first rows do not have all keys
        n_keys = _find_keys(source.text, starts, keys)
        values, lengths, _ = _spans(source, starts, keys[:n_keys])
    names = [source.slice(start, stop) for start, stop in keys[:n_keys].tolist()]
    return MappingProxyType(
        {name: span_texts(source, values[key], lengths[key]) for key, name in enumerate(names)}
    )


def _spans(source: FileText, starts: Int64Array, keys: Int64Array) -> tuple[Int64Array, Int32Array, bool]:
    """Return the positions and lengths of each key's values, and whether no comment has other keys."""
    values: Int64Array = np.zeros((len(keys), len(starts)), np.int64)
    lengths: Int32Array = np.zeros((len(keys), len(starts)), np.int32)
    others: npt.NDArray[np.bool_] = np.zeros(len(starts), np.bool_)
    over_ranges(_find_values, len(starts), source.text, starts, keys, values, lengths, others)
    return values, lengths, not others.any()


@exact_nonallocating
def _find_keys(text: Text, starts: Int64Array, keys: Int64Array) -> int:
    """Store start and stop of each key's first occurrence in `keys`, (n, 2); return the number of keys."""
    size, n_keys = np.uint64(len(text)), 0
    for start in starts:
        at = np.uint64(start)
        while True:
            key, key_stop, value, at = _next_pair(text, at, size)
            if value == at:
                break
            if n_keys < len(keys) and _key_index(text, key, key_stop, keys, n_keys, 0) < 0:
                keys[n_keys, 0], keys[n_keys, 1] = key, key_stop
                n_keys += 1
    return n_keys


@exact_nonallocating
def _find_values(
    first: int,
    last: int,
    text: Text,
    starts: Int64Array,
    keys: Int64Array,
    values: Int64Array,
    lengths: Int32Array,
    others: npt.NDArray[np.bool_],
) -> None:
    """Store the position of each key's value in each comment, and which comments have other keys."""
    size = np.uint64(len(text))
    for row in range(first, last):
        others[row] = _store_values(text, np.uint64(starts[row]), size, row, keys, values, lengths)


@exact_nonallocating
def _store_values(
    text: Text,
    at: np.uint64,
    size: np.uint64,
    row: int,
    keys: Int64Array,
    values: Int64Array,
    lengths: Int32Array,
) -> int:
    """Store the position of each key's value in one comment; return 1 if it has other keys, else 0."""
    expected, other = 0, 0
    while True:
        key, key_stop, value, at = _next_pair(text, at, size)
        if value == at:
            return other
        index = _key_index(text, key, key_stop, keys, len(keys), expected)
        if index < 0:
            other = 1
        else:
            values[index, row], lengths[index, row] = value, at - value
            expected = index + 1


@exact_inlined
def _key_index(
    text: Text, key: np.uint64, stop: np.uint64, keys: Int64Array, n_keys: int, expected: int
) -> int:
    """Return the index of a key in `keys`, -1 for an unknown key."""
    if expected < n_keys and same_bytes(
        text, key, stop, np.uint64(keys[expected, 0]), np.uint64(keys[expected, 1])
    ):
        return expected
    for index in range(n_keys):
        if same_bytes(text, key, stop, np.uint64(keys[index, 0]), np.uint64(keys[index, 1])):
            return index
    return -1


@exact_inlined
def _next_pair(
    text: Text, at: np.uint64, size: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """Return start and stop of the next key and of its value, which is empty where no pair is left."""
    while True:
        at = skip_blanks(text, at, size)
        key = at
        while at < size and text[at] != LINE_FEED and text[at] != EQUALS and not is_blank(text[at]):
            at += _ONE
        key_stop = at
        at = skip_blanks(text, at, size)
        if at >= size or text[at] == LINE_FEED:
            return at, at, at, at
        if text[at] == EQUALS:
            value = skip_blanks(text, at + _ONE, size)
            at = word_stop(text, value, size)
            if at > value and key_stop > key and _is_letter(text[key]):
                return key, key_stop, value, at


@exact_inlined
def _is_letter(byte: int) -> bool:
    return 97 <= (byte | 32) <= 122
