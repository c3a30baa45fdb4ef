"""Read features, and leave the rest of the text to a general parser."""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from core.json_values import features_kernel as kernel
from core.json_values.features_kernel import UNSUPPORTED
from core.types import Float64Array, Int64Array, UInt8Array, UInt64Array

_WORD = 8
MAX_ARRAYS = 100
_NO_BLOCKS: Mapping[str, range] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class FeatureValues:
    """Parsed features, and the rest of the text.

    `rows` has one row for each member with the name, in the order of the text. The caller has to check that
    the parsed rest has as many members with the name as `rows` has rows. The rest has fewer if an object
    repeats the name.

    Attributes:
        rest: The text with null in place of each array or object.
        rows: (n_found, n_features) values in the order of the text, NaN where missing; correctly rounded.
    """

    rest: bytes
    rows: Float64Array


@dataclass(frozen=True, eq=False)
class ArrayValues:
    """Parsed arrays, and the rest of the text, as in `FeatureValues`.

    Attributes:
        arrays: Their values in the order of the text, NaN for null; correctly rounded.
    """

    rest: bytes
    arrays: list[Float64Array]


class FeatureReader:
    """Parser of the members with one name: arrays of all features in order, or objects by feature name.

    Args:
        blocks: The columns of each block of features; objects may have an array under the name of a block.
    """

    def __init__(
        self, member: str, feature_names: Sequence[str], blocks: Mapping[str, range] = _NO_BLOCKS
    ) -> None:
        self._member = np.frombuffer(member.encode(), np.uint8)
        self._min_bytes = len(f'"{member}":{{}}')
        # Names as most writers encode them; a general parser reads names that are encoded in another way.
        names = (*feature_names, *blocks)
        encoded = [json.dumps(name, ensure_ascii=False)[1:].encode() for name in names]
        longest = (max(map(len, encoded)) // _WORD + 1) * _WORD + _WORD
        filled = b"".join(name.ljust(longest, b"\0") for name in encoded)
        self._names = np.frombuffer(filled, "<u8").reshape(len(encoded), -1)
        self._name_sizes = np.array([len(name) for name in encoded])
        self._slots = np.empty(1 << (2 * len(encoded)).bit_length(), np.int64)
        # Secret, so that no request can cause collisions of its names.
        self._hash_key = np.frombuffer(secrets.token_bytes(2 * _WORD), "<u8")
        kernel.fill_name_slots(self._names, self._name_sizes, self._slots, self._hash_key)
        spans = [(columns.start, columns.stop) for columns in blocks.values()]
        self._blocks = np.array(spans, np.int64).reshape(-1, 2)
        self._n_features = len(feature_names)
        self._is_in_block = np.zeros(len(names), bool)
        for first, last in spans:
            self._is_in_block[first:last] = True

    def read(self, text: bytes, max_rows: int) -> FeatureValues | None:
        """Read all members with the name.

        Args:
            text: Text that may be JSON.

        Returns:
            The features and the rest of the text, which the caller still has to parse. None if only a general
            parser can read the text or explain its error, because:

            - a value is not a plain array or object of numbers and nulls, or has an unknown feature name;
            - a number is beyond float64 or has more than 19 digits;
            - an array or a block has a wrong number of values, or an object has both a block and a feature of
              a block;
            - the name of any member is escaped, a string is invalid, or there are more than `max_rows`
              members.
        """
        max_members = min(len(text) // self._min_bytes, max_rows)
        values, spans = np.empty((max_members, self._n_features)), np.empty((max_members, 2), np.int64)
        table = (self._names, self._name_sizes, self._slots, self._hash_key, self._blocks, self._is_in_block)
        n_members = kernel.read_features(*_padded(text), self._member, *table, values, spans)
        if n_members == UNSUPPORTED:
            return None
        return FeatureValues(_without(text, spans[:n_members]), values[:n_members])


def read_arrays(text: bytes, member: str) -> ArrayValues | None:
    """Read all members with one name, at most 100, whose values are arrays of numbers.

    Args:
        text: Text that may be JSON.

    Returns:
        The arrays and the rest of the text, or None, as `FeatureReader.read`.
    """
    values, counts = np.empty(len(text) // 2 + 1), np.empty(MAX_ARRAYS, np.int64)
    spans = np.empty((MAX_ARRAYS, 2), np.int64)
    n_members = kernel.read_arrays(
        _padded(text)[0], np.frombuffer(member.encode(), np.uint8), values, counts, spans
    )
    if n_members == UNSUPPORTED:
        return None
    ends = np.cumsum(counts[:n_members])
    arrays = np.split(values[: ends[-1] if n_members else 0], ends[:-1])
    return ArrayValues(_without(text, spans[:n_members]), arrays if n_members else [])


def _padded(text: bytes) -> tuple[UInt8Array, UInt64Array]:
    padded = np.frombuffer(text + bytes(2 * _WORD - len(text) % _WORD), np.uint8)
    return padded, padded.view("<u8")


def _without(text: bytes, spans: Int64Array) -> bytes:
    pieces, at = [], 0
    for begin, end in spans.tolist():
        pieces.append(text[at:begin])
        at = end
    return b"null".join((*pieces, text[at:]))
