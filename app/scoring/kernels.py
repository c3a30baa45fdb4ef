"""Load the scoring kernels at startup, and compile missing ones in the background."""

import threading

import structlog

from core.errors import KernelsNotReady
from core.warm_up import FORESTS, SCORING, compile_kernels, missing_parts, progress, warm_up

_log = structlog.stdlib.get_logger("rankery.kernels")


class ScoringKernels:
    """The scoring kernels, which are loaded once.

    Requests before the kernels are loaded are refused: they would compile the kernels in their threads, and
    block all other requests.

    Args:
        compile_ahead: Whether to load the kernels of networks, too, instead of at their first request.
    """

    def __init__(self, *, compile_ahead: bool) -> None:
        self._parts = SCORING if compile_ahead else FORESTS
        self._stopped = threading.Event()
        self._loaded = threading.Event()
        self._failure: str | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Load the kernels; compile missing ones in the background."""
        if not missing_parts(self._parts):
            self._load()
            return
        self._thread = threading.Thread(target=self._compile, name="kernels", daemon=True)
        self._thread.start()

    def fault(self) -> str | None:
        """Return the reason why requests cannot be scored yet, or None."""
        if self._loaded.is_set():
            return None
        return self._failure or f"are being compiled: {progress(self._parts)}"

    def require(self) -> None:
        """Refuse a request while the kernels are not loaded.

        Raises:
            KernelsNotReady: The kernels are not loaded.
        """
        if (fault := self.fault()) is not None:
            raise KernelsNotReady(f"the kernels {fault}")

    def close(self) -> None:
        """Stop compiling."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def _load(self) -> None:
        warm_up(self._parts)
        self._loaded.set()

    def _compile(self) -> None:
        _log.info("kernels.compiling", parts=len(self._parts))
        try:
            # A worker on the same machine compiles the same parts first, with all processors.
            compile_kernels(self._parts, processes=1, stopped=self._stopped.is_set)
            if not self._stopped.is_set():
                self._load()
                _log.info("kernels.compiled")
        except Exception as error:  # noqa: BLE001 - readiness reports it, and the rest of the API works
            self._failure = str(error)
            _log.exception("kernels.compilation_failed")
