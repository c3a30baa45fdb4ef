"""How Rankery compiles: one place for numba's flags."""

import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any

from numba import config as numba_config
from numba import typeof
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature
from numba.core.types import Type, unliteral

from core.kernel_cache import keep_on_disk

# Never nnan or ninf: kernels rely on NaN and infinity keeping their meaning.
FASTMATH = {"reassoc", "contract", "arcp", "nsz"}

Kernel = Callable[..., Any]


def compiled(function: Kernel) -> Kernel:
    """Compile a kernel of one query (or a part of one) for a single thread, cached on disk."""
    return _compile(function, fastmath=FASTMATH)


def bare(function: Kernel) -> Kernel:
    """Compile a kernel that allocates nothing, without reference counts on the arrays it touches.

    Counting is atomic, and in kernels of a microsecond it costs more than the work.
    """
    return _compile(function, fastmath=FASTMATH, _nrt=False)


def inlined(function: Kernel) -> Kernel:
    """Compile like `bare`, merged into the callers, where a call would cost more than its loop."""
    return _compile(function, fastmath=FASTMATH, _nrt=False, forceinline=True)


def exact(function: Kernel) -> Kernel:
    """Compile like `compiled`, but with every operation rounded as written (no fastmath)."""
    # Said aloud: without it numba compiles a callee with the flags of whichever caller comes first.
    return _compile(function, fastmath=False)


def exact_bare(function: Kernel) -> Kernel:
    """Compile like `exact`, for a kernel that allocates nothing, without reference counts."""
    return _compile(function, fastmath=False, _nrt=False)


def exact_inlined(function: Kernel) -> Kernel:
    """Compile like `exact_bare`, merged into the callers."""
    return _compile(function, fastmath=False, _nrt=False, forceinline=True)


def fused_bare(function: Kernel) -> Kernel:
    """Compile like `exact_bare`, but a product may be fused with the sum that follows it."""
    return _compile(function, fastmath={"contract"}, _nrt=False)


def compile_for_kernels(kernel: Any, *arguments: Any) -> Any:
    """Compile a kernel for arguments, or for their types, as kernels call it; return the type of its result."""
    types = tuple(each if isinstance(each, Type) else typeof(each) for each in arguments)
    kernel.compile(types)
    return kernel.overloads[types].signature.return_type


def _compile(function: Kernel, **options: Any) -> Kernel:
    if numba_config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function
    common = {"nopython": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
    kernel: Kernel = _Kernel(function, targetoptions=common | options)
    keep_on_disk(kernel)
    return kernel


class _Kernel(CPUDispatcher):
    """A function that numba compiles once for a type of its arguments, and for less than numba alone would.

    Most kernels are called by kernels only: a wrapper that takes Python's objects apart, which costs as much
    to compile as the kernel, is compiled for those that Python calls. A number written into a call is no type
    of its own.
    """

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return the type of a call by another kernel."""
        named = {name: unliteral(kind) for name, kind in kws.items()}
        return super().get_call_template([unliteral(kind) for kind in args], named)  # type: ignore[no-untyped-call]

    def compile(self, sig: Any) -> Any:
        """Compile for types of arguments, with a wrapper where Python is calling."""
        with global_compiler_lock:
            by_python, _calls.kernel = _calls.kernel is self, None
            types = tuple(normalize_signature(sig)[0])  # type: ignore[no-untyped-call]
            if by_python and types not in self._wrapped:
                self.overloads.pop(types, None)
            self.targetoptions["no_cpython_wrapper"] = not by_python
            self._cache.has_wrapper = by_python
            return super().compile(sig)  # type: ignore[no-untyped-call]

    def add_overload(self, cres: Any) -> None:
        """Let Python find what has a wrapper."""
        types = tuple(cres.signature.args)
        if self.targetoptions["no_cpython_wrapper"]:
            self.overloads[types] = cres
        else:
            super().add_overload(cres)  # type: ignore[no-untyped-call]
            self._wrapped.add(types)

    @cached_property
    def _wrapped(self) -> set[Any]:
        return set()

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        _calls.kernel = self
        try:
            return super()._compile_for_args(*args, **kws)  # type: ignore[misc]
        finally:
            _calls.kernel = None


class _Calls(threading.local):
    """Which kernel Python is calling that is not compiled for these arguments."""

    kernel: _Kernel | None = None


_calls = _Calls()
