"""Compile the missing kernels in child processes, whose memory is freed when they exit.

Each child takes the next part that no other child compiles. A part is locked while it is compiled and marked
afterwards: processes that share a cache and start at the same time share the work.
"""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO

import structlog

from core.errors import KernelsNotReady
from core.kernel_cache import is_writable, kernel_cache
from core.machine import available_cpus, available_memory_bytes
from core.subprocesses import module_command, module_environment, signal_name
from core.warm_up.parts import PARTS, Part, missing_parts

_CHILD = "core.warm_up.child"
_BYTES_PER_PROCESS = 700 * 2**20
_POLL_SECONDS = 0.1
_LOG = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True)
class Progress:
    """Progress of a compilation."""

    compiled: int
    parts: int

    def __str__(self) -> str:
        return f"{self.compiled} of {self.parts} parts"


def progress(parts: Sequence[Part] = PARTS) -> Progress:
    """Return the number of parts that any process has compiled."""
    return Progress(len(parts) - len(missing_parts(parts)), len(parts))


def compile_kernels(
    parts: Sequence[Part] = PARTS,
    *,
    processes: int | None = None,
    report: Callable[[Progress], None] = lambda _: None,
    stopped: Callable[[], bool] = lambda: False,
) -> None:
    """Compile the parts that the cache lacks; do nothing for a read-only cache.

    If a child fails, for instance for lack of memory, a single child compiles the remaining parts.

    Args:
        processes: Number of children; by default as many as processors and memory allow.
        report: Called with the progress ten times a second.
        stopped: Polled; kills the children once it returns True.

    Raises:
        KernelsNotReady: A part cannot be compiled.
    """
    missing = missing_parts(parts)
    if not missing:
        return
    if not is_writable(kernel_cache()):
        _LOG.warning("kernels.not_kept", folder=str(kernel_cache()), hint=_READ_ONLY)
        return
    missing[0].mark.parent.mkdir(parents=True, exist_ok=True)
    failure = ""
    for count in (processes or _affordable_processes(), 1):
        failure = _run_children(parts, min(count, len(missing)), report, stopped)
        missing = missing_parts(parts)
        if stopped() or not missing:
            return
        _LOG.warning("kernels.compilation_failed", processes=count, ending=failure)
    raise KernelsNotReady(f"cannot be compiled ({missing[0].name}): {failure}")


_READ_ONLY = (
    "every process compiles the kernels again; run `rankery warm-up` as a user who can write to the folder,"
    " or set NUMBA_CACHE_DIR to a writable folder"
)


def _affordable_processes() -> int:
    memory_bytes = available_memory_bytes()
    affordable = available_cpus() if memory_bytes is None else memory_bytes // _BYTES_PER_PROCESS
    return max(1, min(available_cpus(), affordable))


def _run_children(
    parts: Sequence[Part], count: int, report: Callable[[Progress], None], stopped: Callable[[], bool]
) -> str:
    """Wait until all children have ended; return the reason of the first failure, or an empty text."""
    children = [_Child([part.name for part in parts]) for _ in range(count)]
    try:
        while True:
            are_running = any(child.is_running for child in children)
            report(progress(parts))
            if not are_running or stopped():
                return next((child.failure for child in children if child.failure), "")
            time.sleep(_POLL_SECONDS)
    finally:
        for child in children:
            child.kill()


class _Child:
    """A process that compiles parts until none is missing."""

    def __init__(self, names: Sequence[str]) -> None:
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `kill`
        self._process = subprocess.Popen(  # noqa: S603 - our own command
            module_command(_CHILD, os.getpid(), *names),
            env=module_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
        )

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    @property
    def failure(self) -> str:
        """Reason of its failure, empty without one."""
        code = self._process.returncode
        if not code:
            return ""
        if code < 0:
            memory = ", perhaps because of insufficient memory" if code == -signal.SIGKILL else ""
            return f"the compiling process was killed by {signal_name(-code)}{memory}"
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"the compiling process ended with exit code {code}"

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._errors.close()
