"""Extend numba's compiler to reduce the compilation time of kernels that only other kernels call.

numba compiles each function to a library: a wrapper that unboxes Python objects, optimised code and machine
code. numba repeats this work for each caller, into which it inlines the function. Most kernels, and numba's
own functions for arrays and tuples, are called only by kernels. Here, they get neither wrapper nor machine
code. Kernels without fastmath are optimised only within the kernels that Python calls, as parts of one
program.
"""

import threading
import weakref
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from numba import typeof
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.targetconfig import ConfigStack
from numba.core.types import Type, unliteral


def compile_for_kernels(kernel: Any, *arguments: Any) -> Any:
    """Compile a kernel for calls by kernels, with arguments or their types; return its result type."""
    types = tuple(each if isinstance(each, Type) else typeof(each) for each in arguments)  # type: ignore[no-untyped-call]
    kernel.compile(types)
    return kernel.overloads[types].signature.return_type


class _PartLibrary(JITCodeLibrary):
    """The code of a function that only kernels call, to be inlined into its callers."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)  # type: ignore[no-untyped-call]
        flags = ConfigStack.top_or_none()  # type: ignore[no-untyped-call]
        # If fastmath code were optimised in its callers, it could round differently and change models' bytes.
        self._is_optimised_alone = bool(flags.fastmath)

    @property
    def codegen(self) -> Any:
        """Return an object whose `set_env` does nothing, since the function needs no environment."""
        return _NO_ENVIRONMENT

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: there is no machine code."""
        return 0

    def serialize_using_object_code(self) -> Any:
        """Return the bitcode for the disk cache."""
        return self.serialize_using_bitcode()  # type: ignore[no-untyped-call]

    def _optimize_final_module(self) -> None:
        """Optimise fastmath code only; other code is optimised in its callers."""
        if self._is_optimised_alone:
            super()._optimize_final_module()  # type: ignore[no-untyped-call]

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._final_module.__library = weakref.proxy(self)
        self._finalized = True


class _NoEnvironment:
    def set_env(self, name: str, environment: Any) -> None:
        pass


_NO_ENVIRONMENT = _NoEnvironment()


class KernelCompiler(Compiler):
    """Numba's compiler, with `_PartLibrary` for functions that only kernels call."""

    def _compile_core(self) -> Any:
        codegen = self.state.targetctx.codegen()
        if not self.state.flags.no_cpython_wrapper:
            self.state.library = JITCodeLibrary(codegen, self.state.func_id.func_qualname)  # type: ignore[no-untyped-call]
            self.state.library.enable_object_caching()
        with _libraries_of_parts(codegen):
            return super()._compile_core()  # type: ignore[no-untyped-call]


@contextmanager
def _libraries_of_parts(codegen: Any) -> Iterator[None]:
    """Use `_PartLibrary` for the functions that numba compiles or loads from disk during the block."""
    previous, codegen._library_class = codegen._library_class, _PartLibrary
    try:
        yield
    finally:
        codegen._library_class = previous


class KernelDispatcher(CPUDispatcher):
    """Numba's dispatcher of a kernel, which compiles a wrapper only if Python calls the kernel.

    Most kernels are called by kernels only. A wrapper unboxes Python objects and takes as long to compile as
    the kernel. A literal number in a call is not a separate argument type.
    """

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return the type of a call by another kernel."""
        named = {name: _unliteral(kind) for name, kind in kws.items()}
        return super().get_call_template([_unliteral(kind) for kind in args], named)

    def compile(self, sig: Any) -> Any:
        """Compile for argument types, with a wrapper if Python is the caller."""
        with global_compiler_lock:
            by_python, _calls.kernel = _calls.kernel is self, None
            self.targetoptions["no_cpython_wrapper"] = not by_python
            self._cache.has_wrapper = by_python  # type: ignore[attr-defined]
            if not by_python:
                return super().compile(sig)
            parts, self.overloads = self.overloads, self.wrapped
            try:
                return super().compile(sig)
            finally:
                self.overloads = parts

    def add_overload(self, cres: Any) -> None:
        """Register compiled code, for calls by Python if it has a wrapper, else for calls by kernels."""
        if self.targetoptions["no_cpython_wrapper"]:
            self.overloads[tuple(cres.signature.args)] = cres
        else:
            super().add_overload(cres)

    @cached_property
    def wrapped(self) -> Any:
        """Return the code with wrappers, by argument types; `overloads` is the code that kernels call.

        A kernel never links code with wrappers, or the kernel's own code would depend on its first caller.
        """
        return OrderedDict()

    @property
    def signatures(self) -> list[Any]:
        """Return the argument types for which code is compiled, for calls by kernels and by Python."""
        return [*self.overloads, *self.wrapped]

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        _calls.kernel = self
        try:
            return super()._compile_for_args(*args, **kws)  # type: ignore[misc]
        finally:
            _calls.kernel = None


class _Calls(threading.local):
    """The kernel that Python calls and that is not yet compiled for the arguments, or None."""

    kernel: Any = None


_calls = _Calls()
_unliteral: Any = unliteral
