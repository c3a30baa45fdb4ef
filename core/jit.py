"""How Rankery compiles: one place for numba's flags, disk cache, threading layer and thread count."""

import functools
import hashlib
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba import config as numba_config

# Never nnan or ninf: kernels rely on NaN and infinity keeping their meaning.
FASTMATH = {"reassoc", "contract", "arcp", "nsz"}

# One OpenMP pool serves LightGBM and numba; two pools would spin against each other.
numba_config.THREADING_LAYER_PRIORITY = ["omp", "tbb", "workqueue"]  # type: ignore[attr-defined]

Kernel = Callable[..., Any]
_CORE_IMPORT = re.compile(rb"^from core\.([a-z0-9_.]+) import", re.MULTILINE)


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


def parallel(function: Kernel) -> Kernel:
    """Compile a loop over queries that runs on several threads, cached on disk."""
    return _compile(function, fastmath=FASTMATH, parallel=True)


def _compile(function: Kernel, **options: Any) -> Kernel:
    # numba reads the folder when it decorates, and has no other way to say it.
    numba_config.CACHE_DIR = _cache_folder(Path(function.__code__.co_filename).parent)  # type: ignore[attr-defined]
    kernel: Kernel = numba.njit(cache=True, nogil=True, error_model="numpy", **options)(function)
    return kernel


@functools.cache
def _cache_folder(package: Path) -> str:
    """Return the cache of a package's kernels, a new one for each state of its sources.

    numba looks only at the file of the function itself: a kernel whose callee changed in another file would
    be loaded stale, with the old callee merged into it.
    """
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for source in _kernel_sources(package):
        digest.update(source.read_bytes())
    return str(kernel_cache() / f"{package.name}-{digest.hexdigest()[:16]}")


def _kernel_sources(package: Path) -> list[Path]:
    """List the package's files with kernels, and those of other packages of core that they call."""
    root = Path(__file__).parent
    found: set[Path] = set()
    waiting = list(package.glob("*.py"))
    while waiting:
        source = waiting.pop()
        text = source.read_bytes() if source.is_file() else b""
        if source not in found and b"core.jit" in text:
            found.add(source)
            waiting += [
                root.joinpath(*name.decode().split(".")).with_suffix(".py")
                for name in _CORE_IMPORT.findall(text)
            ]
    return sorted(found)


@functools.cache
def kernel_cache() -> Path:
    """Return where kernels are kept: NUMBA_CACHE_DIR, else beside these sources, else with the user."""
    if configured := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(configured)
    beside = Path(__file__).parent / "__pycache__" / "kernels"
    try:
        beside.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=beside):
            return beside
    except OSError:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rankery" / "kernels"


def use_threads(threads: int) -> None:
    """Let kernels called from this thread use up to `threads` threads.

    numba keeps the number per calling thread, and never above what it started with.
    """
    most: int = numba_config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    numba.set_num_threads(min(threads, most))
