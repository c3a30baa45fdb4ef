"""Shorten the start of a process: skip unused packages, and pause garbage collection.

`python -m core.process_start <module> <argument…>` runs the function `main` of a module.
"""

import gc
import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# LightGBM imports them, and so does pyarrow for the first array: 2 s of CPU time and 65 MB per process.
_UNUSED = frozenset({"pandas", "sklearn"})


class _MissingPackages:
    """Import hook that reports unused packages as missing.

    A None in `sys.modules` would be shorter, but pyarrow takes it for the module.
    """

    def find_spec(self, name: str, *_: object) -> None:
        if name in _UNUSED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def leave_out_unused() -> None:
    """Make unused packages appear missing in this process; call it before pyarrow or LightGBM is imported.

    Only for processes of the service: users of core as a library may pass data frames.
    """
    if not any(isinstance(finder, _MissingPackages) for finder in sys.meta_path):
        sys.meta_path.insert(0, _MissingPackages())


@contextmanager
def garbage_collection_paused() -> Iterator[None]:
    """Disable garbage collection during imports, and freeze the imported objects.

    Imports create many objects and little garbage: collections took a fifth of their processor time, and
    those at the end of the process as much again.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def run_main(module: str, *arguments: str) -> None:
    """Import a module for a process of the service, and call its function `main`."""
    leave_out_unused()
    with garbage_collection_paused():
        main = importlib.import_module(module).main
    main(*arguments)


if __name__ == "__main__":
    run_main(*sys.argv[1:])
