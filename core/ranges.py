"""Kernels over ranges of queries, documents or blocks, on several threads of this process.

A kernel takes its range first and writes what belongs to it; nothing is added up across ranges. So results
are the same on any number of threads, to the bit.
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

_LEAST_WORK = 8_192  # documents: a thread takes as long to wake up as a kernel for as many
_RANGES_A_THREAD = 4  # so that a thread that was held up leaves its share to the others
_MOST_THREADS = 256

_Number = TypeVar("_Number", bound=np.generic)


def _default_threads() -> int:
    configured = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, int(configured)) if configured.isdecimal() else available_cpus()


class _Threads(threading.local):
    most = _default_threads()  # what LightGBM starts with, too
    count = most


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
                self._executor = ThreadPoolExecutor(_MOST_THREADS, "kernels")
            return self._executor


_pool = _Pool()


def use_threads(threads: int) -> None:
    """Let kernels called from this thread use up to `threads` threads, and never more than OpenMP would.

    By default there are as many as OpenMP has.
    """
    _threads.count = min(threads, _threads.most)


def over_ranges(kernel: Callable[..., Any], n: int, *arguments: Any, work: int | None = None) -> None:
    """Call `kernel(start, stop, *arguments)` for ranges that make up 0..n.

    Args:
        kernel: Compiled to release the GIL.
        n: Number of items; nothing is called for none.
        arguments: Arguments of the kernel, with the arrays that it fills.
        work: Documents or the like of all items, n where left out. Little work is left to the calling thread.
    """
    least = _LEAST_WORK if _threads.count > 1 else n
    if n < 2 or (n if work is None else work) <= least:
        if n:
            kernel(0, n, *arguments)
        return
    n_ranges = min(n, _threads.count * _RANGES_A_THREAD)
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

    numba compiles a kernel once more for read-only arrays, such as mapped files. Where both kinds are
    passed, callers pass views of all.
    """
    view = array.view()
    view.flags.writeable = False
    return view


def for_kernels(values: npt.ArrayLike, dtype: type[_Number]) -> npt.NDArray[_Number]:
    """Return a contiguous array that may be written to, as kernels of the library are compiled for.

    Read-only arrays, such as polars' and Arrow's, are copied: that takes less time than to compile a kernel
    once more.
    """
    found: npt.NDArray[_Number] = np.require(values, dtype, ["C", "W", "E"])
    return found


def per_query(kernel: Callable[..., Any], query_boundaries: Int64Array, *arguments: Any) -> Float64Array:
    """Return a number for each query, which a kernel writes: it is 0 before.

    The kernel is called as `kernel(start, stop, query_boundaries, *arguments, numbers)`.

    Args:
        kernel: See `over_ranges`.
        query_boundaries: (n_queries + 1,) offsets.
        arguments: Other arguments of the kernel.
    """
    numbers = np.zeros(len(query_boundaries) - 1)
    documents = int(query_boundaries[-1])
    over_ranges(kernel, len(numbers), query_boundaries, *arguments, numbers, work=documents)
    return numbers
