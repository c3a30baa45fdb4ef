"""Decorators of kernels with numba's flags."""

from collections.abc import Callable
from typing import Any

from numba import config as numba_config

from core.kernel_cache import keep_on_disk
from core.kernel_compiler import KernelCompiler, KernelDispatcher

# Without nnan and ninf, since kernels compute with NaN and infinity.
FASTMATH = {"reassoc", "contract", "arcp", "nsz"}

# All options are set, since numba copies missing ones from the first caller: the code of a kernel, and the
# rounding of its sums, would depend on what the process compiled before.
_OPTIONS = {
    "nopython": True,
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "_nrt": True,
    "forceinline": False,
}

Kernel = Callable[..., Any]


def compiled(function: Kernel) -> Kernel:
    """Compile a kernel that computes in one thread, cached on disk; see `core.ranges` for several threads."""
    return _compile(function, fastmath=FASTMATH)


def nonallocating(function: Kernel) -> Kernel:
    """Compile a kernel that allocates nothing, without reference counts on the arrays it touches.

    Reference counts change by atomic operations, which take longer than the work of a one-microsecond
    kernel.
    """
    return _compile(function, fastmath=FASTMATH, _nrt=False)


def inlined(function: Kernel) -> Kernel:
    """Compile like `nonallocating`, but inlined: for a kernel whose call costs more than its loop."""
    return _compile(function, fastmath=FASTMATH, _nrt=False, forceinline=True)


def exact(function: Kernel) -> Kernel:
    """Compile like `compiled`, but with every operation rounded as written (no fastmath)."""
    return _compile(function, fastmath=False)


def exact_nonallocating(function: Kernel) -> Kernel:
    """Compile like `exact`, for a kernel that allocates nothing, without reference counts."""
    return _compile(function, fastmath=False, _nrt=False)


def exact_inlined(function: Kernel) -> Kernel:
    """Compile like `exact_nonallocating`, inlined into the callers."""
    return _compile(function, fastmath=False, _nrt=False, forceinline=True)


def fused_nonallocating(function: Kernel) -> Kernel:
    """Compile like `exact_nonallocating`, but a product may be fused with the sum that follows it."""
    return _compile(function, fastmath={"contract"}, _nrt=False)


def _compile(function: Kernel, **options: Any) -> Kernel:
    if numba_config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function
    kernel: Kernel = KernelDispatcher(
        function, targetoptions=_OPTIONS | options, pipeline_class=KernelCompiler
    )
    keep_on_disk(kernel)
    return kernel
