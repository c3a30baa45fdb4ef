"""64-bit hashes of documents, to find duplicates without comparing all pairs."""

import numpy as np
import numpy.typing as npt

from core.data.features import Features, row_blocks
from core.data.texts import Texts
from core.jit import inlined, nonallocating
from core.ranges import over_ranges
from core.types import Int64Array

Hashes = npt.NDArray[np.uint64]
Flags = npt.NDArray[np.bool_]

_KEY_SEED = 0x5EED


def column_keys(n_columns: int) -> Hashes:
    """Return a fixed random key for each column, so that hashes depend on the position of a value."""
    return np.random.default_rng(_KEY_SEED).integers(0, 2**64, n_columns, np.uint64)


@inlined
def hash_row(
    bits: npt.NDArray[np.uint32],
    row: int,
    columns: Int64Array,
    keys: Hashes,
    hashes: Hashes,
    filled: Flags,
) -> None:
    """Store the hash of one document, and whether any of its values is neither 0 nor missing.

    The hash is the sum of the values, each mixed with its column's key by a part of MurmurHash3's finaliser.
    """
    total = np.uint64(0)
    any_value = False
    for j in range(np.uint64(len(columns))):
        value = bits[row, columns[j]]
        magnitude = value & np.uint32(0x7FFFFFFF)
        missing = magnitude > np.uint32(0x7F800000)
        any_value |= (magnitude != np.uint32(0)) & (not missing)
        value = np.uint32(0x7FC00000) if missing else value
        value = np.uint32(0) if magnitude == np.uint32(0) else value
        mixed = (np.uint64(value) ^ keys[j]) * np.uint64(0xFF51AFD7ED558CCD)
        mixed ^= mixed >> np.uint64(33)
        total += mixed * np.uint64(0xC4CEB9FE1A85EC53)
    hashes[row] = total
    filled[row] = any_value


@nonallocating
def _hash_rows(
    first: int,
    last: int,
    bits: npt.NDArray[np.uint32],
    columns: Int64Array,
    keys: Hashes,
    hashes: Hashes,
    filled: Flags,
) -> None:
    for row in range(first, last):
        hash_row(bits, row, columns, keys, hashes, filled)


@nonallocating
def _hash_texts(
    first: int, last: int, offsets: Int64Array, content: npt.NDArray[np.uint8], hashes: Hashes
) -> None:
    for i in range(first, last):
        value = np.uint64(0xCBF29CE484222325)
        for position in range(np.uint64(offsets[i]), np.uint64(offsets[i + 1])):
            value = (value ^ np.uint64(content[position])) * np.uint64(0x100000001B3)  # FNV-1a
        hashes[i] = value


def hash_rows(features: Features, columns: Int64Array) -> tuple[Hashes, Flags]:
    """Hash the documents of a matrix by some of its columns, in the order of `columns`.

    -0 and 0 count as equal, and so do any two missing values.

    Returns:
        (n_documents,) hashes, and the mask of documents with any value that is neither 0 nor missing; other
        documents carry no information.
    """
    hashes, filled = np.empty(len(features), np.uint64), np.empty(len(features), np.bool_)
    keys = column_keys(len(columns))
    for rows, block in row_blocks(features):
        bits, n = block.view(np.uint32), len(block)
        over_ranges(_hash_rows, n, bits, columns, keys, hashes[rows], filled[rows], work=n * len(columns))
    return hashes, filled


def hash_texts(texts: Texts) -> Hashes:
    """Hash each text (FNV-1a, 64 bits)."""
    offsets, content = texts.buffers()
    content.flags.writeable = False  # one array type for all sources: compiles once
    hashes = np.empty(len(texts), np.uint64)
    over_ranges(_hash_texts, len(hashes), offsets, content, hashes)
    return hashes
