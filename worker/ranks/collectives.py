"""Implement LightGBM's collective operations between ranks, over the connections of a training.

LightGBM calls two functions: `reduce-scatter` sums blocks and gives each rank its block, and `allgather`
gathers the blocks of all ranks. See `LGBM_NetworkInitWithFunctions`. The summed numbers are multiples of a
common quantum, so that sums are exact and their order does not matter.
"""

import ctypes
import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from lightgbm import basic

from core.training.history import EXCHANGE, Stopwatch
from core.types import Float64Array

# Takes the bytes for each other rank, and returns the bytes from each of them.
Swap = Callable[[Mapping[int, bytes]], Mapping[int, bytes]]

FAILED = 1  # exit code after an error in a collective operation
_log = logging.getLogger("rankery.ranks")
_BASIC: Any = basic
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
    """Traffic of a rank so far.

    Attributes:
        sent_bytes: Bytes sent, without the overhead of the connections.
        summed_bytes: Part of `sent_bytes` that is histograms to sum.
        waiting_seconds: Time within exchanges.
    """

    sent_bytes: int = 0
    summed_bytes: int = 0
    rounds: int = 0
    waiting_seconds: float = 0.0


def _ending_on_error(operation: Callable[..., None]) -> Callable[..., None]:
    """Return an operation that ends the process on an error: ctypes would ignore it, and sums be wrong."""

    def run(*arguments: Any) -> None:
        try:
            operation(*arguments)
        except BaseException:  # noqa: BLE001 - no error may return to LightGBM
            _log.exception("a collective operation failed")
            os._exit(FAILED)

    return run


class Collectives:
    """Collective operations of one rank.

    LightGBM registers the functions for the thread that calls `attach`, so the booster must run in it.

    Args:
        swap: Sends bytes to every other rank and returns theirs; does not return after a failure.

    Attributes:
        stopwatch: Times the exchanges; may be replaced by a stopwatch that times other parts as well.
    """

    def __init__(self, rank: int, n_ranks: int, swap: Swap) -> None:
        self.rank = rank
        self.n_ranks = n_ranks
        self._swap = swap
        self._others = [other for other in range(n_ranks) if other != rank]
        self.traffic = Traffic()
        self.stopwatch = Stopwatch()
        # Kept alive here, since LightGBM holds bare pointers.
        self._functions = (
            _REDUCE_SCATTER(_ending_on_error(self._reduce_scatter)),
            _ALLGATHER(_ending_on_error(self._allgather)),
        )

    def attach(self) -> None:
        """Register this object's functions as LightGBM's network in this thread."""
        functions = (ctypes.cast(function, _BYTES) for function in self._functions)
        code = _BASIC._LIB.LGBM_NetworkInitWithFunctions(
            ctypes.c_int(self.n_ranks), ctypes.c_int(self.rank), *functions
        )
        _BASIC._safe_call(code)

    def largest(self, values: Float64Array) -> Float64Array:
        """Return the elementwise maximum of arrays over all ranks."""
        own_block = values.tobytes()
        received = self._exchange(dict.fromkeys(self._others, own_block))
        parts = [np.frombuffer(part, np.float64) for part in received.values()]
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
        # `values` and `result` may overlap.
        own_block = ctypes.string_at(values + starts[self.rank], own_size)
        self.traffic.summed_bytes += sum(map(len, blocks.values()))
        received = self._exchange(blocks)
        ctypes.memmove(result, own_block, own_size)
        for part in received.values():
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
        own_block = ctypes.string_at(values, sizes[self.rank])
        received = {self.rank: own_block, **self._exchange(dict.fromkeys(self._others, own_block))}
        for rank, part in received.items():
            ctypes.memmove(result + starts[rank], np.frombuffer(part, np.uint8).ctypes.data, sizes[rank])

    def _exchange(self, blocks: Mapping[int, bytes]) -> Mapping[int, bytes]:
        started_at = time.perf_counter()
        with self.stopwatch.timing(EXCHANGE):
            received = self._swap(blocks)
        traffic = self.traffic
        traffic.waiting_seconds += time.perf_counter() - started_at
        traffic.rounds += 1
        traffic.sent_bytes += sum(map(len, blocks.values()))
        return received
