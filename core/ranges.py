"""Kernels over ranges of queries, documents or blocks, on several threads of this process.

The first arguments of a kernel are its range. It writes only the results of this range; nothing is summed
across ranges. Results are thus bit-identical for any number of threads.
"""

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from core.machine import available_cpus
from core.types import Float64Array, Int64Array

_MIN_PARALLEL_WORK = 8_192  # documents, for which a kernel takes about as long as waking a thread
_RANGES_PER_THREAD = 4  # above 1, so that other threads take over ranges of a delayed thread
_MAX_THREADS = 256

_Number = TypeVar("_Number", bound=np.generic)


def _default_threads() -> int:
    configured = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, int(configured)) if configured.isdecimal() else available_cpus()


class _Threads(threading.local):
    maximum = _default_threads()  # LightGBM has the same default
    count = maximum


_threads = _Threads()


class _Pool:
    """The threads of this process, started when they are first needed; a forked child starts its own."""

    def __init__(self) -> None:
        self.clear()
        os.register_at_fork(after_in_child=self.clear)

    def clear(self) -> None:
        self._lock = threading.Lock()
        self._executor: ThreadPoolExecutor | None = None

    @property
    def executor(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._executor is None:
                self._executor = ThreadPoolExecutor(_MAX_THREADS, "kernels")
            return self._executor


_pool = _Pool()


def use_threads(threads: int) -> None:
    """Set the number of threads for kernels called from this thread, at most that of OpenMP.

    The default is the number of threads of OpenMP.
    """
    _threads.count = min(threads, _threads.maximum)


def over_ranges(kernel: Callable[..., Any], n: int, *arguments: Any, work: int | None = None) -> None:
    """Call `kernel(start, stop, *arguments)` for ranges that partition 0..n.

    Args:
        kernel: A compiled kernel that releases the GIL.
        n: Number of items; the kernel is not called for 0.
        arguments: Arguments of the kernel, with the arrays that it fills.
        work: Work of all items, such as documents; n by default. Little work runs on the calling thread only.
    """
    is_small = (n if work is None else work) <= _MIN_PARALLEL_WORK
    if n < 2 or is_small or _threads.count == 1:
        if n:
            kernel(0, n, *arguments)
        return
    n_ranges = min(n, _threads.count * _RANGES_PER_THREAD)
    numbers = count()

    def take_ranges() -> None:
        while (number := next(numbers)) < n_ranges:
            kernel(n * number // n_ranges, n * (number + 1) // n_ranges, *arguments)

    others = [_pool.executor.submit(take_ranges) for _ in range(min(_threads.count, n_ranges) - 1)]
    try:
        take_ranges()
    finally:
        for other in others:
            other.result()


def read_only(array: npt.NDArray[_Number]) -> npt.NDArray[_Number]:
    """Return a view that cannot be written to.

    numba compiles a kernel again for read-only arrays, such as mapped files. Callers that have both kinds
    pass read-only views of all arrays.
    """
    view = array.view()
    view.flags.writeable = False
    return view


def for_kernels(values: npt.ArrayLike, dtype: type[_Number]) -> npt.NDArray[_Number]:
    """Return a contiguous, writable array, for which the kernels of the library are compiled.

    Read-only arrays, such as those of polars and Arrow, are copied: that takes less time than to compile a
    kernel again.
    """
    if type(values) is np.ndarray and values.dtype == dtype and values.flags.carray:
        return values
    array: npt.NDArray[_Number] = np.require(values, dtype, ["C", "W", "E"])
    return array


def per_query(kernel: Callable[..., Any], query_boundaries: Int64Array, *arguments: Any) -> Float64Array:
    """Return a number for each query, which a kernel writes into an array of zeros.

    The kernel is called as `kernel(start, stop, query_boundaries, *arguments, numbers)`.

    Args:
        kernel: See `over_ranges`.
        query_boundaries: (n_queries + 1,) offsets.
    """
    numbers = np.zeros(len(query_boundaries) - 1)
    documents = int(query_boundaries[-1])
    over_ranges(kernel, len(numbers), query_boundaries, *arguments, numbers, work=documents)
    return numbers
