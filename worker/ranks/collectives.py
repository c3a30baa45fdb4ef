"""LightGBM's exchange between ranks, carried by the connections of a training.

LightGBM calls two functions: one sums blocks and leaves each rank its own (`reduce-scatter`), one gathers the
blocks of all ranks (`allgather`). See `LGBM_NetworkInitWithFunctions`. All sums here are of numbers on a
common grid, so that they are exact and their order does not matter.
"""

import ctypes
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from lightgbm import basic

from core.training.stopwatch import EXCHANGE, Stopwatch
from core.types import Float64Array

# By rank: what is sent to each of the others, and what came back from it.
Swap = Callable[[Mapping[int, bytes]], Mapping[int, bytes]]

_LIBRARY: Any = basic
_SIZE = ctypes.c_int32
_SIZES = ctypes.POINTER(_SIZE)
_BYTES = ctypes.c_void_p
_REDUCE = ctypes.CFUNCTYPE(None, _BYTES, _BYTES, ctypes.c_int, _SIZE)
_REDUCE_SCATTER = ctypes.CFUNCTYPE(
    None, _BYTES, _SIZE, ctypes.c_int, _SIZES, _SIZES, ctypes.c_int, _BYTES, _SIZE, ctypes.POINTER(_BYTES)
)
_ALLGATHER = ctypes.CFUNCTYPE(None, _BYTES, _SIZE, _SIZES, _SIZES, ctypes.c_int, _BYTES, _SIZE)


@dataclass
class Traffic:
    """What the exchange of a rank has cost so far.

    Attributes:
        sent_bytes: Bytes sent, those of connections themselves not counted.
        summed_bytes: Those of them that were blocks of histograms.
        rounds: Exchanges with all others.
        waiting_seconds: Time from the beginning of an exchange to its end.
    """

    sent_bytes: int = 0
    summed_bytes: int = 0
    rounds: int = 0
    waiting_seconds: float = field(default=0.0)


class Collectives:
    """The exchange of one rank with the others.

    LightGBM keeps the functions for the thread that `attach` was called in, so the booster lives there.

    Args:
        rank: Of this process.
        n_ranks: In all.
        swap: Sends bytes to every other rank and returns what they sent; it does not come back after a
            failure.

    Attributes:
        traffic: What it has cost.
        stopwatch: Counts its time; may be exchanged for one that counts other parts as well.
    """

    def __init__(self, rank: int, n_ranks: int, swap: Swap) -> None:
        self.rank = rank
        self.n_ranks = n_ranks
        self._swap = swap
        self._others = [other for other in range(n_ranks) if other != rank]
        self.traffic = Traffic()
        self.stopwatch = Stopwatch()
        # LightGBM holds the bare pointers.
        self._functions = _REDUCE_SCATTER(self._reduce_scatter), _ALLGATHER(self._allgather)

    def attach(self) -> None:
        """Make LightGBM exchange through this object in this thread."""
        functions = (ctypes.cast(function, _BYTES) for function in self._functions)
        code = _LIBRARY._LIB.LGBM_NetworkInitWithFunctions(
            ctypes.c_int(self.n_ranks), ctypes.c_int(self.rank), *functions
        )
        _LIBRARY._safe_call(code)

    def largest(self, values: Float64Array) -> Float64Array:
        """Return the largest of each value over all ranks."""
        own = values.tobytes()
        found = self._exchange(dict.fromkeys(self._others, own))
        parts = [np.frombuffer(part, np.float64) for part in found.values()]
        result: Float64Array = np.maximum.reduce([values, *parts])
        return result

    def _reduce_scatter(
        self,
        values: int,
        _values_size: int,
        type_size: int,
        starts: Sequence[int],
        sizes: Sequence[int],
        _n_blocks: int,
        result: int,
        _result_size: int,
        reducer: Any,
    ) -> None:
        reduce = _REDUCE(reducer[0])
        blocks = {other: ctypes.string_at(values + starts[other], sizes[other]) for other in self._others}
        own_size = sizes[self.rank]
        own = ctypes.string_at(values + starts[self.rank], own_size)  # both may be the same memory
        self.traffic.summed_bytes += sum(map(len, blocks.values()))
        found = self._exchange(blocks)
        ctypes.memmove(result, own, own_size)
        for part in found.values():
            source = np.frombuffer(part, np.uint8)
            reduce(source.ctypes.data, result, type_size, own_size)

    def _allgather(
        self,
        values: int,
        _values_size: int,
        starts: Sequence[int],
        sizes: Sequence[int],
        _n_blocks: int,
        result: int,
        _result_size: int,
    ) -> None:
        own = ctypes.string_at(values, sizes[self.rank])
        found = {self.rank: own, **self._exchange(dict.fromkeys(self._others, own))}
        for rank, part in found.items():
            ctypes.memmove(result + starts[rank], np.frombuffer(part, np.uint8).ctypes.data, sizes[rank])

    def _exchange(self, blocks: Mapping[int, bytes]) -> Mapping[int, bytes]:
        began = time.perf_counter()
        with self.stopwatch.timing(EXCHANGE):
            found = self._swap(blocks)
        traffic = self.traffic
        traffic.waiting_seconds += time.perf_counter() - began
        traffic.rounds += 1
        traffic.sent_bytes += sum(map(len, blocks.values()))
        return found
