"""Kernels that find and read arrays and objects of numbers in a JSON text."""

import numpy as np
import numpy.typing as npt

from core.jit import exact, exact_inlined, exact_nonallocating
from core.json_values.name_hash import eight_bytes, name_hash
from core.text.decimal_kernel import ROUNDED, read_decimal
from core.types import Float64Array, Int64Array, UInt8Array, UInt64Array

UNSUPPORTED = -1  # returned instead of a position: only a general parser can read the text

_NULL = b"null"
_QUOTE, _BACKSLASH, _COLON, _COMMA = (ord(character) for character in '"\\:,')
_OPEN_ARRAY, _CLOSE_ARRAY, _OPEN_OBJECT, _CLOSE_OBJECT = (ord(character) for character in "[]{}")
_BLANK_BITS = np.uint64(sum(1 << ord(character) for character in " \t\n\r"))  # bit c is 1 if c is blank
_LAST_CONTROL = 0x1F
_END = 0


@exact_inlined
def read_value(text: UInt8Array, at: int) -> tuple[int, float]:
    """Read a number or `null` at a position.

    Args:
        text: JSON, padded with at least eight zero bytes.

    Returns:
        The position after the value, and the float64 value, NaN for `null`. The position is `UNSUPPORTED` if
        the value is neither a number nor `null`, is beyond float64 or has more than 19 digits.
    """
    if text[at] == _NULL[0]:
        return _null_end(text, at), np.nan
    kind, stop, value = read_decimal(text, np.uint64(at), np.uint64(len(text)), True)
    if kind != ROUNDED or np.isinf(value):
        return UNSUPPORTED, np.nan
    return int(np.int64(stop)), value


@exact_inlined
def _null_end(text: UInt8Array, at: int) -> int:
    for offset in range(1, len(_NULL)):
        if text[at + offset] != _NULL[offset]:
            return UNSUPPORTED
    return at + len(_NULL)


@exact
def read_features(
    text: UInt8Array,
    words: UInt64Array,
    member_name: UInt8Array,
    names: UInt64Array,
    name_sizes: Int64Array,
    slots: Int64Array,
    key: UInt64Array,
    blocks: Int64Array,
    is_in_block: npt.NDArray[np.bool_],
    values: Float64Array,
    spans: Int64Array,
) -> int:
    """Read the value of each member `member_name`: an array of all features, or an object by feature name.

    In an object, the value under the name of a block is an array of the block's features.

    Args:
        text: JSON, padded with at least eight zero bytes.
        words: The same memory as little-endian words.
        names: (n_names, n_words) name and closing quote of each feature, then of each block, padded with
            zeros: at least one word more than the longest name.
        name_sizes: (n_names,) bytes of each name and quote.
        slots: Hash table of indices into `names`, -1 in an empty slot; its size is a power of two.
        key: (2,) secret key of the hash.
        blocks: (n_blocks, 2) first feature of each block, and the feature after its last.
        is_in_block: (n_names,) whether the name is that of a feature in a block.
        values: (n_values, n_features) output, one row for each member, NaN where missing.
        spans: (n_values, 2) output, byte offsets of the start and the end of each value.

    Returns:
        The number of members, or `UNSUPPORTED` if a general parser has to read the text.
    """
    # The name expected after each name; the last element, before the first name of an object.
    follower = np.arange(1, len(name_sizes) + 2) % len(name_sizes)
    n_members = 0
    at = _next_member(text, 0, member_name)
    while at != UNSUPPORTED and text[at] != _END:
        if n_members == len(values):
            return UNSUPPORTED
        spans[n_members, 0] = at
        if text[at] == _OPEN_ARRAY:
            at, count = _read_array(text, at + 1, values[n_members])
            at = at if count == values.shape[1] else UNSUPPORTED
        elif text[at] == _OPEN_OBJECT:
            at = _read_object(
                text,
                words,
                at + 1,
                names,
                name_sizes,
                slots,
                key,
                blocks,
                is_in_block,
                follower,
                values[n_members],
            )
        else:
            return UNSUPPORTED
        if at == UNSUPPORTED:
            return UNSUPPORTED
        spans[n_members, 1] = at
        n_members += 1
        at = _next_member(text, at, member_name)
    return UNSUPPORTED if at == UNSUPPORTED else n_members


@exact
def read_arrays(
    text: UInt8Array,
    member_name: UInt8Array,
    values: Float64Array,
    counts: Int64Array,
    spans: Int64Array,
) -> int:
    """Read the value of each member named `member_name`: an array of any number of numbers.

    Args:
        text: JSON, padded with at least eight zero bytes.
        values: Output, the numbers of all arrays one after the other.
        counts: (n_values,) output, the length of each array.
        spans: (n_values, 2) output, byte offsets of the start and the end of each array.

    Returns:
        As `read_features`.
    """
    n_members, n_read = 0, 0
    at = _next_member(text, 0, member_name)
    while at != UNSUPPORTED and text[at] != _END:
        if n_members == len(counts) or text[at] != _OPEN_ARRAY:
            return UNSUPPORTED
        spans[n_members, 0] = at
        at, counts[n_members] = _read_array(text, at + 1, values[n_read:])
        if at == UNSUPPORTED:
            return UNSUPPORTED
        spans[n_members, 1] = at
        n_read += counts[n_members]
        n_members += 1
        at = _next_member(text, at, member_name)
    return UNSUPPORTED if at == UNSUPPORTED else n_members


@exact_nonallocating
def _next_member(text: UInt8Array, at: int, member_name: UInt8Array) -> int:
    """Return the position of the value of the next member with a name, or of the end of the text.

    Return `UNSUPPORTED` at a member whose name is escaped, since it may be the same name.
    """
    while text[at] != _END:
        if text[at] != _QUOTE:
            at += 1
            continue
        begin = at + 1
        end = _string_end(text, begin)
        if end == UNSUPPORTED:
            return UNSUPPORTED
        at = _skip_blanks(text, end)
        if text[at] != _COLON:
            continue
        if _equals(text, begin, end - 1, member_name):
            return int(_skip_blanks(text, at + 1))
        if _has_escape(text, begin, end):
            return UNSUPPORTED
    return at


@exact_nonallocating
def _read_array(text: UInt8Array, at: int, values: Float64Array) -> tuple[int, int]:
    """Read numbers up to the closing bracket; return the position after it, and the number of values.

    The position is `UNSUPPORTED` if there are more numbers than places in `values`, or other values.
    """
    at = _skip_blanks(text, at)
    if text[at] == _CLOSE_ARRAY:
        return at + 1, 0
    for i in range(len(values)):
        at, values[i] = read_value(text, at)
        if at == UNSUPPORTED:
            return UNSUPPORTED, 0
        at = _skip_blanks(text, at)
        if text[at] == _CLOSE_ARRAY:
            return at + 1, i + 1
        if text[at] != _COMMA:
            return UNSUPPORTED, 0
        at = _skip_blanks(text, at + 1)
    return UNSUPPORTED, 0


@exact_nonallocating
def _read_object(
    text: UInt8Array,
    words: UInt64Array,
    at: int,
    names: UInt64Array,
    name_sizes: Int64Array,
    slots: Int64Array,
    key: UInt64Array,
    blocks: Int64Array,
    is_in_block: npt.NDArray[np.bool_],
    follower: Int64Array,
    values: Float64Array,
) -> int:
    """Read an object of features and blocks; return the position after it, or `UNSUPPORTED`.

    Arguments as `read_features`; `follower` has the name expected after each name and is updated.
    """
    values[:] = np.nan
    at = _skip_blanks(text, at)
    if text[at] == _CLOSE_OBJECT:
        return at + 1
    last = len(name_sizes)
    has_block, has_feature_of_block = False, False
    while True:
        if text[at] != _QUOTE:
            return UNSUPPORTED
        begin, name = at + 1, follower[last]
        if _after_name(words, begin, names[name], name_sizes[name]) == UNSUPPORTED:
            name = _look_up(text, words, begin, names, name_sizes, slots, key)
            if name == UNSUPPORTED:
                return UNSUPPORTED
            # Most documents have their features in the same order as the previous document.
            follower[last] = name
        last = name
        at = _skip_blanks(text, begin + name_sizes[name])
        if text[at] != _COLON:
            return UNSUPPORTED
        at = _skip_blanks(text, at + 1)
        at = _read_member(text, at, name, blocks, values)
        has_block |= name >= len(values)
        has_feature_of_block |= is_in_block[name]
        # A block and a feature of a block may set the same value twice.
        if at == UNSUPPORTED or (has_block and has_feature_of_block):
            return UNSUPPORTED
        at = _skip_blanks(text, at)
        if text[at] == _CLOSE_OBJECT:
            return at + 1
        if text[at] != _COMMA:
            return UNSUPPORTED
        at = _skip_blanks(text, at + 1)


@exact_inlined
def _read_member(text: UInt8Array, at: int, name: int, blocks: Int64Array, values: Float64Array) -> int:
    """Read the value of a feature or a block; return the position after it, or `UNSUPPORTED`."""
    if name < len(values):
        at, values[name] = read_value(text, at)
        return at
    return int(_read_block(text, at, blocks[name - len(values)], values))


@exact_nonallocating
def _read_block(text: UInt8Array, at: int, block: Int64Array, values: Float64Array) -> int:
    """Read an array of all features of a block; return the position after it, or `UNSUPPORTED`."""
    if text[at] != _OPEN_ARRAY:
        return UNSUPPORTED
    at, count = _read_array(text, at + 1, values[block[0] : block[1]])
    return at if count == block[1] - block[0] else UNSUPPORTED


@exact_nonallocating
def _string_end(text: UInt8Array, at: int) -> int:
    """Return the position after a string's closing quote, `UNSUPPORTED` for a control character."""
    while text[at] != _QUOTE:
        if text[at] <= _LAST_CONTROL:
            return UNSUPPORTED
        at += 2 if text[at] == _BACKSLASH else 1
    return at + 1


@exact_inlined
def _skip_blanks(text: UInt8Array, at: int) -> int:
    while text[at] <= 32 and (_BLANK_BITS >> np.uint64(text[at])) & np.uint64(1):
        at += 1
    return at


@exact_nonallocating
def _equals(text: UInt8Array, begin: int, end: int, other: UInt8Array) -> bool:
    if end - begin != len(other):
        return False
    for offset in range(end - begin):  # noqa: SIM110 - numba compiles no generator expressions
        if text[begin + offset] != other[offset]:
            return False
    return True


@exact_nonallocating
def _has_escape(text: UInt8Array, begin: int, end: int) -> bool:
    for at in range(begin, end):  # noqa: SIM110 - numba compiles no generator expressions
        if text[at] == _BACKSLASH:
            return True
    return False


@exact_inlined
def _after_name(words: UInt64Array, at: int, name: UInt64Array, size: int) -> int:
    """Return the position after a name and its quote, or `UNSUPPORTED` if another name is at the position."""
    for word in range((size - 1) >> 3):
        if eight_bytes(words, at + 8 * word) != name[word]:
            return UNSUPPORTED
    last = (size - 1) >> 3
    beyond = np.uint64(8 * (8 * last + 8 - size))
    if (eight_bytes(words, at + 8 * last) ^ name[last]) << beyond:
        return UNSUPPORTED
    return at + size


@exact_nonallocating
def _look_up(
    text: UInt8Array,
    words: UInt64Array,
    at: int,
    names: UInt64Array,
    name_sizes: Int64Array,
    slots: Int64Array,
    key: UInt64Array,
) -> int:
    """Return the index of the feature or block whose name is at a position, or `UNSUPPORTED`."""
    end = _string_end(text, at)
    if end == UNSUPPORTED:
        return UNSUPPORTED
    slot = name_hash(words, at, end, key) & np.uint64(len(slots) - 1)
    while slots[slot] >= 0:
        if _after_name(words, at, names[slots[slot]], name_sizes[slots[slot]]) == end:
            return int(slots[slot])
        slot = (slot + np.uint64(1)) & np.uint64(len(slots) - 1)
    return UNSUPPORTED


@exact
def fill_name_slots(names: UInt64Array, name_sizes: Int64Array, slots: Int64Array, key: UInt64Array) -> None:
    """Fill the hash table `slots` with features and blocks by name; arguments as `read_features`."""
    slots[:] = -1
    for name in range(len(name_sizes)):
        slot = name_hash(names[name], 0, name_sizes[name], key) & np.uint64(len(slots) - 1)
        while slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & np.uint64(len(slots) - 1)
        slots[slot] = name
