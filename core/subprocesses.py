"""Run a module of Rankery in a process of its own."""

import ctypes
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

_SOURCES = str(Path(__file__).parents[1])
_PR_SET_PDEATHSIG = 1
_ONE_THREAD = {"OMP_NUM_THREADS": "1"}


def module_command(module: str, *arguments: object) -> list[str]:
    """Return the command that runs a module; modules of the working directory are not imported."""
    return [sys.executable, "-P", "-m", module, *map(str, arguments)]


def module_environment(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return an environment in which the module is found and computes in one thread."""
    paths = [_SOURCES, *filter(None, [environment.get("PYTHONPATH")])]
    return {**environment, **_ONE_THREAD, "PYTHONPATH": os.pathsep.join(paths)}


def die_with_parent(parent_pid: int) -> None:
    """Have Linux kill this process when the process that started it dies, or the thread of it that did.

    Celery asks for the same, but leaves the moment between the fork and the request open.
    """
    if not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent_pid:
        os._exit(1)
