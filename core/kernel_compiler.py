"""Extensions of numba: kernels that only kernels call cost less to compile.

numba makes of each function a library with a wrapper that takes Python's objects apart, optimises it, makes
machine code of it, and then does so again for each caller, into which the function is merged. Most kernels
are called by kernels only, and so are numba's own functions for arrays and tuples. They get neither wrapper
nor machine code. Those without fastmath are optimised within those that Python calls, as parts of one
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
    """Compile a kernel as kernels call it, for arguments or their types; return the type of its result."""
    types = tuple(each if isinstance(each, Type) else typeof(each) for each in arguments)  # type: ignore[no-untyped-call]
    kernel.compile(types)
    return kernel.overloads[types].signature.return_type


class _PartLibrary(JITCodeLibrary):
    """The code of a function that only kernels call: what is merged into them."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)  # type: ignore[no-untyped-call]
        flags = ConfigStack.top_or_none()  # type: ignore[no-untyped-call]
        # What may be rounded otherwise keeps the code that it had by itself, and with it the bytes of models.
        self._is_optimised_alone = bool(flags.fastmath)

    @property
    def codegen(self) -> Any:
        """Return what a function's environment is set by, which this one needs none of."""
        return _NO_ENVIRONMENT

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0: there is no machine code."""
        return 0

    def serialize_using_object_code(self) -> Any:
        """Return what is kept on disk."""
        return self.serialize_using_bitcode()  # type: ignore[no-untyped-call]

    def _optimize_final_module(self) -> None:
        """Leave that to the callers, where it makes no difference."""
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
    """Numba's compiler, except for the libraries of what only kernels call."""

    def _compile_core(self) -> Any:
        codegen = self.state.targetctx.codegen()
        if not self.state.flags.no_cpython_wrapper:
            self.state.library = JITCodeLibrary(codegen, self.state.func_id.func_qualname)  # type: ignore[no-untyped-call]
            self.state.library.enable_object_caching()
        with _libraries_of_parts(codegen):
            return super()._compile_core()  # type: ignore[no-untyped-call]


@contextmanager
def _libraries_of_parts(codegen: Any) -> Iterator[None]:
    """Make a part of what numba compiles, or loads from disk, meanwhile for the kernel that Python calls."""
    before, codegen._library_class = codegen._library_class, _PartLibrary
    try:
        yield
    finally:
        codegen._library_class = before


class KernelDispatcher(CPUDispatcher):
    """A function that numba compiles once for a type of its arguments, and for less than numba alone would.

    Most kernels are called by kernels only: a wrapper that takes Python's objects apart, which costs as much
    to compile as the kernel, is compiled for those that Python calls. A literal number in a call is no
    separate type.
    """

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return the type of a call by another kernel."""
        named = {name: _unliteral(kind) for name, kind in kws.items()}
        return super().get_call_template([_unliteral(kind) for kind in args], named)

    def compile(self, sig: Any) -> Any:
        """Compile for types of arguments, with a wrapper where Python is calling."""
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
        """Let Python find what has a wrapper."""
        if self.targetoptions["no_cpython_wrapper"]:
            self.overloads[tuple(cres.signature.args)] = cres
        else:
            super().add_overload(cres)

    @cached_property
    def wrapped(self) -> Any:
        """Return the entry points of Python by types of arguments; `overloads` are those of kernels.

        A kernel never links these: its code would depend on the first caller.
        """
        return OrderedDict()

    @property
    def signatures(self) -> list[Any]:
        """Return the types of arguments it is compiled for, by kernels and by Python."""
        return [*self.overloads, *self.wrapped]

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        _calls.kernel = self
        try:
            return super()._compile_for_args(*args, **kws)  # type: ignore[misc]
        finally:
            _calls.kernel = None


class _Calls(threading.local):
    """Which kernel Python is calling that is not compiled for these arguments."""

    kernel: Any = None


_calls = _Calls()
_unliteral: Any = unliteral
