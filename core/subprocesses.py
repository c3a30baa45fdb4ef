"""Run modules of Rankery in child processes, and name the signals that end processes."""

import ctypes
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

_SOURCES = str(Path(__file__).parents[1])
_PR_SET_PDEATHSIG = 1
_ONE_THREAD = {"OMP_NUM_THREADS": "1"}
_HARMLESS = frozenset(
    {
        *("HOME", "LANG", "LD_LIBRARY_PATH", "LD_PRELOAD", "LOGNAME", "PATH", "TMPDIR", "TZ", "USER"),
        *("RANKERY_LOG_FORMAT", "RANKERY_RANK_PORTS", "SSL_CERT_DIR", "SSL_CERT_FILE", "XDG_CACHE_HOME"),
    }
)
_HARMLESS_PREFIXES = ("ARROW_", "KMP_", "LC_", "MALLOC_", "MKL_", "NUMBA_", "OMP_", "OPENBLAS_", "PYTHON")


def module_command(module: str, *arguments: object) -> list[str]:
    """Return the command that runs a module; modules of the working directory are not imported."""
    return [sys.executable, "-P", "-m", module, *map(str, arguments)]


def module_environment(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return an environment in which modules of Rankery can be imported and compute in one thread."""
    paths = [_SOURCES, *filter(None, [environment.get("PYTHONPATH")])]
    return {**environment, **_ONE_THREAD, "PYTHONPATH": os.pathsep.join(paths)}


def harmless_environment() -> dict[str, str]:
    """Return the variables of programs, packages, caches, memory and threads; none of them is a secret."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in _HARMLESS or name.startswith(_HARMLESS_PREFIXES)
    }


def signal_name(number: int) -> str:
    """Return the name of a signal; real-time signals have only numbers.

    Example:
        >>> signal_name(9), signal_name(40)
        ('SIGKILL', 'signal 40')
    """
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def die_with_parent(parent_pid: int) -> None:
    """Make Linux kill this process when its parent process dies, or the thread that started it.

    Celery does the same, but misses a parent that dies between the fork and that call.
    """
    if not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent_pid:
        os._exit(1)
