"""Store and load the checkpoints of a training."""

import hashlib
import time

import structlog

from core.errors import NotFound, StoreUnavailable
from core.jobs.folders import checkpoint_folder
from core.store.artifacts.keys import checkpoint_key
from core.training import Checkpoint, CheckpointError, Snapshot
from worker.job.run import JobRun

_LOG = structlog.stdlib.get_logger(__name__)


class Checkpoints:
    """The checkpoints of one training; at most one is kept, and none after the job.

    Args:
        run: The job.
        interval_seconds: Time from one to the next.
    """

    def __init__(self, run: JobRun, interval_seconds: float) -> None:
        self._run = run
        self._interval_seconds = interval_seconds
        self._kept_at = time.monotonic()
        self._key: str | None = run.checkpoint["key"] if run.checkpoint else None
        run.consumes(checkpoint_folder(run.id))

    def load(self) -> Checkpoint | None:
        """Return the checkpoint of an earlier attempt, or None."""
        kept = self._run.checkpoint
        if kept is None:
            return None
        try:
            content = self._run.store.artifacts.read_bytes(kept["key"])
            if hashlib.sha256(content).hexdigest() != kept["sha256"]:
                raise CheckpointError("the checkpoint is not what was written")
            return Checkpoint.from_bytes(content)
        except (NotFound, CheckpointError):
            _LOG.warning("checkpoint.unusable", key=kept["key"], exc_info=True)
        self._run.begin_anew()
        return None

    def is_due(self) -> bool:
        """Return whether the next checkpoint is due."""
        return time.monotonic() - self._kept_at >= self._interval_seconds

    def keep(self, snapshot: Snapshot) -> None:
        """Store a checkpoint and replace the previous one.

        A storage that is away costs no more than this checkpoint.

        Raises:
            LeaseLost: The job was given to another worker.
        """
        self._kept_at = time.monotonic()
        checkpoint = snapshot()
        content = checkpoint.to_bytes()
        key = checkpoint_key(self._run.id, self._run.token, checkpoint.iteration)
        try:
            self._run.store.artifacts.write_bytes(key, content)
            self._run.keep_checkpoint(
                {
                    "key": key,
                    "sha256": hashlib.sha256(content).hexdigest(),
                    "iteration": checkpoint.iteration,
                    "total": checkpoint.history[-1].total,
                }
            )
        except StoreUnavailable:
            _LOG.warning("checkpoint.not_kept", key=key, exc_info=True)
            return
        _LOG.info("checkpoint.kept", iteration=checkpoint.iteration, size_bytes=len(content))
        if self._key is not None and self._key != key:
            self._run.remove(self._key)
        self._key = key
