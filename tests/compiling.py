"""Kernels that a program compiles after its warm-up."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

# The program calls `warm_up_ends()` in between; the last line of what it prints is ours.
_BEFORE = """
import gc, json
from numba.core.dispatcher import Dispatcher

def compiled():
    kernels = (thing for thing in gc.get_objects() if isinstance(thing, Dispatcher))
    return {f"{kernel.__module__}.{kernel.__name__}{kernel.signatures}" for kernel in kernels}

def warm_up_ends():
    global warm
    warm = compiled()
"""
_AFTER = """
print(json.dumps(sorted(compiled() - warm)))
"""


def left_to_compile(program: str, folder: Path) -> list[str]:
    """Run a program, of which this process may long have compiled everything, in one of its own.

    Args:
        program: Python that calls `warm_up_ends()`, and works on; `sys.argv[1]` is its folder.
        folder: Empty.

    Returns:
        Kernels that got new signatures once warming up had ended.
    """
    found: list[str] = json.loads(run_program(_BEFORE + program + _AFTER, folder).splitlines()[-1])
    return found


def run_program(program: str, folder: Path) -> str:
    """Run a program in a process of its own, which must succeed; return what it printed."""
    command = [sys.executable, "-c", program, str(folder)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    return ran.stdout
