"""Store and load the checkpoints of a training."""

import hashlib
import time
from collections.abc import Callable
from typing import TypeVar

import structlog

from core.errors import NotFound, StoreUnavailable
from core.jobs.folders import checkpoint_folder
from core.store.artifacts.keys import checkpoint_key
from core.training import CheckpointError, Snapshot
from worker.job.lineage import processors_of
from worker.job.run import JobRun

Read = TypeVar("Read")
_LOG = structlog.stdlib.get_logger(__name__)


class Checkpoints:
    """Checkpoints of one training; only the latest is kept, and is deleted when the job ends.

    Methods raise `LeaseLost` if the job was given to another worker.
    """

    def __init__(self, run: JobRun, interval_seconds: float) -> None:
        self._run = run
        self._interval_seconds = interval_seconds
        self._stored_at = time.monotonic()
        self._written = 0
        self._key: str | None = run.reporter.checkpoint["key"] if run.reporter.checkpoint else None
        run.artifacts.delete_on_end(checkpoint_folder(run.id))

    def read(self, parse: Callable[[bytes], Read]) -> Read | None:
        """Return the checkpoint of an earlier attempt, or None.

        Args:
            parse: Parses the bytes; raises `CheckpointError` if they are unusable.
        """
        checkpoint = self._run.reporter.checkpoint
        if checkpoint is None:
            return None
        try:
            content = self._run.store.artifacts.read_bytes(checkpoint["key"])
            if hashlib.sha256(content).hexdigest() != checkpoint["sha256"]:
                raise CheckpointError("the checksum of the checkpoint does not match")
            parsed = parse(content)
        except (NotFound, CheckpointError):
            _LOG.warning("checkpoint.unusable", key=checkpoint["key"], exc_info=True)
            self._run.reporter.discard_checkpoint()
            return None
        if len(processors := processors_of(self._run)) > 1:
            _LOG.warning("checkpoint.other_processor", processors=processors)
        return parsed

    def is_due(self) -> bool:
        """Return whether the next checkpoint is due."""
        return time.monotonic() - self._stored_at >= self._interval_seconds

    def keep(self, snapshot: Snapshot) -> None:
        """Store the checkpoint of a training and replace the previous one."""
        checkpoint = snapshot()
        self.write(checkpoint.to_bytes(), checkpoint.iteration, checkpoint.history[-1].total)

    def write(self, content: bytes, iteration: int, total: int) -> None:
        """Store a checkpoint and replace the previous one.

        If the storage is unavailable, log a warning and skip this checkpoint.

        Args:
            content: Bytes that `read` will parse.
        """
        self._stored_at = time.monotonic()
        # Use a new key: the previous checkpoint is valid until the database refers to this one.
        self._written += 1
        key = checkpoint_key(self._run.id, self._run.lease.token, self._written)
        try:
            self._run.store.artifacts.write_bytes(key, content)
            self._run.reporter.keep_checkpoint(
                {
                    "key": key,
                    "sha256": hashlib.sha256(content).hexdigest(),
                    "iteration": iteration,
                    "total": total,
                    "processors": processors_of(self._run),
                }
            )
        except StoreUnavailable:
            _LOG.warning("checkpoint.not_kept", key=key, exc_info=True)
            return
        _LOG.info("checkpoint.kept", iteration=iteration, size_bytes=len(content))
        if self._key is not None:
            self._run.artifacts.remove(self._key)
        self._key = key
