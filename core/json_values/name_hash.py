"""Keyed hash of names, for hash tables whose keys come from untrusted clients.

SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012), which Python's own dictionaries
use: without the key, a client cannot construct colliding names (hash flooding).
"""

import numpy as np

from core.jit import exact_inlined, exact_nonallocating
from core.types import UInt64Array

_BYTE_BITS, _WORD_BITS = 8, 64
_START = tuple(
    np.uint64(int.from_bytes(part, "big")) for part in (b"somepseu", b"dorandom", b"lygenera", b"tedbytes")
)
_END = np.uint64(0xFF)
_ONE = np.uint64(1)

_State = tuple[np.uint64, np.uint64, np.uint64, np.uint64]


@exact_nonallocating
def name_hash(words: UInt64Array, begin: int, end: int, key: UInt64Array) -> np.uint64:
    """Hash a part of a text.

    Args:
        words: The text as little-endian words, padded by one word.
        begin: Position of its first byte.
        end: Position after its last one.
        key: (2,) secret key.
    """
    state = (key[0] ^ _START[0], key[1] ^ _START[1], key[0] ^ _START[2], key[1] ^ _START[3])
    size = end - begin
    for word in range(size >> 3):
        state = _add(state, eight_bytes(words, begin + 8 * word))
    bits = np.uint64(_BYTE_BITS * (size & 7))
    last = eight_bytes(words, begin + (size & ~7)) & ((_ONE << bits) - _ONE)
    state = _add(state, last | np.uint64(size) << np.uint64(_WORD_BITS - _BYTE_BITS))
    state = _mixed(_mixed(_mixed((state[0], state[1], state[2] ^ _END, state[3]))))
    return np.uint64(state[0] ^ state[1] ^ state[2] ^ state[3])


@exact_inlined
def eight_bytes(words: UInt64Array, at: int) -> np.uint64:
    """Return the eight bytes from a position on, as a little-endian word."""
    word, bits = np.uint64(at) >> np.uint64(3), (np.uint64(at) & np.uint64(7)) << np.uint64(3)
    # Shifted twice, since one shift by all 64 bits is undefined.
    return np.uint64(words[word] >> bits | (words[word + _ONE] << _ONE) << (np.uint64(63) - bits))


@exact_inlined
def _add(state: _State, word: np.uint64) -> _State:
    state = _mixed((state[0], state[1], state[2], state[3] ^ word))
    return state[0] ^ word, state[1], state[2], state[3]


@exact_inlined
def _mixed(state: _State) -> _State:
    v0, v1, v2, v3 = state
    v0 += v1
    v1 = _rotated(v1, 13) ^ v0
    v0 = _rotated(v0, 32)
    v2 += v3
    v3 = _rotated(v3, 16) ^ v2
    v0 += v3
    v3 = _rotated(v3, 21) ^ v0
    v2 += v1
    v1 = _rotated(v1, 17) ^ v2
    v2 = _rotated(v2, 32)
    return v0, v1, v2, v3


@exact_inlined
def _rotated(word: np.uint64, bits: int) -> np.uint64:
    return np.uint64(word << np.uint64(bits) | word >> np.uint64(_WORD_BITS - bits))
