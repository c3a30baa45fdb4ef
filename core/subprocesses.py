"""Run a module of Rankery in a process of its own."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

_SOURCES = str(Path(__file__).parents[1])
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}


def module_command(module: str, *arguments: object) -> list[str]:
    """Return the command that runs a module; modules of the working directory are not imported."""
    return [sys.executable, "-P", "-m", module, *map(str, arguments)]


def module_environment(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return an environment in which the module is found and computes in one thread."""
    paths = [_SOURCES, *filter(None, [environment.get("PYTHONPATH")])]
    return {**environment, **_ONE_THREAD, "PYTHONPATH": os.pathsep.join(paths)}
