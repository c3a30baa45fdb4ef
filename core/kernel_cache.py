"""Folder of compiled kernels: its path, its content and its sharing among processes.

numba keeps an index for each kernel and a file for each of its signatures. numba reads, changes and writes
the index without a lock: two concurrent processes may use one file for two signatures, and load wrong code.
"""

import fcntl
import functools
import hashlib
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

import llvmlite.binding
import numba
from numba import config as numba_config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, InTreeCacheLocator
from numba.core.dispatcher import Dispatcher

_CORE = Path(__file__).parent
_COMPILER = (_CORE / "jit.py", _CORE / "kernel_compiler.py")
_CORE_IMPORT = re.compile(rb"^from core\.([a-z0-9_.]+) import", re.MULTILINE)
_DIGEST_LETTERS = 16


@functools.cache
def kernel_cache() -> Path:
    """Return the folder of compiled kernels.

    The folder is NUMBA_CACHE_DIR or, without this variable, a folder next to these sources. The cache folder
    of the user replaces a folder that is not writable, unless the folder has all kernels of these sources for
    this processor.
    """
    configured = os.environ.get("NUMBA_CACHE_DIR")
    preferred = Path(configured) if configured else _CORE / "__pycache__" / "kernels"
    if is_writable(preferred) or warmed_parts(preferred).is_dir():
        return preferred
    user_cache = _user_cache()
    return user_cache if user_cache is not None and is_writable(user_cache) else preferred


def _user_cache() -> Path | None:
    """Return the user's folder of compiled kernels; None for a user without a home folder."""
    try:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError:  # HOME is unset, and the user id is unknown, as in some containers
        return None
    return cache / "rankery" / "kernels"


def is_writable(folder: Path) -> bool:
    """Create a folder where needed; return whether files can be written there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def warmed_parts(cache: Path) -> Path:
    """Return the folder of the marker files of `core.warm_up.parts`, one for each part that is compiled.

    The name of the folder depends on the sources of `core`, and on the versions of numba, llvmlite and
    Python. It also depends on the type of the processor.
    """
    return cache / f"warm-{_cache_digest()}"


@functools.cache
def _cache_digest() -> str:
    digest = hashlib.sha256()
    is_compiled = f"{not numba_config.DISABLE_JIT}"  # type: ignore[attr-defined]
    for version in (sys.version, numba.__version__, llvmlite.__version__, *processor(), is_compiled):
        digest.update(version.encode() + b"\0")
    for source in sorted(_CORE.rglob("*.py")):
        text = source.read_bytes()
        if source in _COMPILER or b"core.jit" in text or source.parent.name == "warm_up":
            digest.update(text)
    return digest.hexdigest()[:_DIGEST_LETTERS]


def processor() -> tuple[str, str]:
    """Return name and features of the processor that numba compiles for, by default this machine's."""
    name, features = numba_config.CPU_NAME, numba_config.CPU_FEATURES  # type: ignore[attr-defined]
    host = llvmlite.binding.get_host_cpu_name(), llvmlite.binding.get_host_cpu_features().flatten()
    return name or host[0], host[1] if features is None else features


@functools.cache
def package_folder(package: Path) -> Path:
    """Return the folder of a package's kernels, whose name has a digest of their sources.

    numba checks only the file of the function itself: a kernel whose callee changed in another file would be
    loaded stale, with the old callee inlined into it.
    """
    digest = hashlib.sha256()
    for source in _COMPILER:
        digest.update(source.read_bytes())
    for source in _kernel_sources(package):
        digest.update(source.read_bytes())
    return kernel_cache() / f"{package.name}-{digest.hexdigest()[:_DIGEST_LETTERS]}"


def _kernel_sources(package: Path) -> list[Path]:
    """List the package's files with kernels, and those of other packages of core that they call."""
    sources: set[Path] = set()
    waiting = list(package.glob("*.py"))
    while waiting:
        source = waiting.pop()
        text = source.read_bytes() if source.is_file() else b""
        if source not in sources and b"core.jit" in text:
            sources.add(source)
            waiting += [
                _CORE.joinpath(*name.decode().split(".")).with_suffix(".py")
                for name in _CORE_IMPORT.findall(text)
            ]
    return sorted(sources)


def keep_on_disk(kernel: Any) -> None:
    """Enable the disk cache of a kernel, as numba's `enable_caching`; skip uncompiled functions."""
    if isinstance(kernel, Dispatcher):
        kernel._cache = KernelCache(kernel.py_func)  # type: ignore[attr-defined, no-untyped-call]


class _Locator(InTreeCacheLocator):
    """Numba's locator of a kernel; the folder of the kernel need not be writable."""

    def __init__(self, function: Any, file: str) -> None:
        super().__init__(function, file)  # type: ignore[no-untyped-call]
        self._cache_path = str(package_folder(Path(file).parent))

    def ensure_cache_path(self) -> None:
        with suppress(OSError):
            Path(self._cache_path).mkdir(parents=True, exist_ok=True)


class _KernelFiles(CompileResultCacheImpl):
    _locator_classes = [_Locator]  # noqa: RUF012 - numba's extension point


class KernelCache(FunctionCache):
    """Numba's cache of one kernel, shared by processes that write at the same time, or read-only.

    Attributes:
        failures: Errors of storing kernels in this process, such as a full disk; kernels that are not stored
            still run.
        has_wrapper: Whether the next code to store or load has a wrapper for calls by Python. Set by
            `KernelDispatcher` before each compilation, and part of the key of the cache.
    """

    failures: ClassVar[list[OSError]] = []
    has_wrapper = True
    _impl_class = _KernelFiles

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return (*super()._index_key(sig, codegen), self.has_wrapper)  # type: ignore[no-untyped-call]

    def _save_overload(self, sig: Any, data: Any) -> None:
        try:
            with exclusive(Path(self._cache_path) / ".lock"):
                super()._save_overload(sig, data)  # type: ignore[no-untyped-call]
        except OSError as error:
            self.failures.append(error)


@contextmanager
def exclusive(lock: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold a lock file during the block; it is released even if this process is killed.

    Raises:
        BlockingIOError: Another process holds the lock, and `wait` is False.
        OSError: The file cannot be written.
    """
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
