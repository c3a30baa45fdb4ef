"""Kernels that a program compiles after its warm-up."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]

# Code before and after the program, which calls `warm_up_ends()`. The last line of output is `_AFTER`'s.
_BEFORE = """
import json
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
    """Run a program in a separate process, since this one may have compiled all kernels already.

    Args:
        program: Python code that calls `warm_up_ends()` and continues; `sys.argv[1]` is its folder.
        folder: An empty folder.

    Returns:
        Kernels with new signatures after the end of the warm-up.
    """
    kernels: list[str] = json.loads(run_program(_BEFORE + program + _AFTER, folder).splitlines()[-1])
    return kernels


def without_collections(program: str) -> str:
    """Disable garbage collection in a program, which takes a third of the processor time of short ones."""
    return f"import gc; gc.disable()\n{program}\ngc.freeze()\n"


def run_program(program: str, folder: Path) -> str:
    """Run a program in a separate process, require its success, and return its output."""
    command = [sys.executable, "-c", without_collections(program), str(folder)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    return ran.stdout
