"""How Rankery compiles: one place for numba's flags, threading layer and thread count."""

from collections.abc import Callable
from typing import Any

import numba
from numba import config as numba_config

# Never nnan or ninf: kernels rely on NaN and infinity keeping their meaning.
FASTMATH = {"reassoc", "contract", "arcp", "nsz"}

# One OpenMP pool serves LightGBM and numba; two pools would spin against each other.
numba_config.THREADING_LAYER_PRIORITY = ["omp", "tbb", "workqueue"]  # type: ignore[attr-defined]

Kernel = Callable[..., Any]


def compiled(function: Kernel) -> Kernel:
    """Compile a kernel of one query (or a part of one) for a single thread, cached on disk."""
    kernel: Kernel = numba.njit(cache=True, nogil=True, fastmath=FASTMATH, error_model="numpy")(function)
    return kernel


def exact(function: Kernel) -> Kernel:
    """Compile like `compiled`, but with every operation rounded as written (no fastmath)."""
    kernel: Kernel = numba.njit(cache=True, nogil=True, error_model="numpy")(function)
    return kernel


def parallel(function: Kernel) -> Kernel:
    """Compile a loop over queries that runs on several threads, cached on disk."""
    kernel: Kernel = numba.njit(
        cache=True, nogil=True, fastmath=FASTMATH, error_model="numpy", parallel=True
    )(function)
    return kernel


def use_threads(threads: int) -> None:
    """Let kernels called from this thread use up to `threads` threads.

    numba keeps the number per calling thread, and never above what it started with.
    """
    most: int = numba_config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    numba.set_num_threads(min(threads, most))
