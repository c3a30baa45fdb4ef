"""Store sampled requests as artifacts, which drift jobs of any worker read."""

import contextlib
import gzip
import hashlib
import logging
import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime

import structlog

from core.errors import RankeryError
from core.store import Store, new_id
from core.store.artifacts.keys import samples_folder, samples_key
from core.store.repositories.ids import SCORE_SAMPLES

# Uncompressed size at which a chunk is written. While the store is unavailable, twice as much is kept.
CHUNK_BYTES = 8 * 2**20
_LOG = structlog.stdlib.get_logger("rankery.samples")


@dataclass
class _Chunk:
    lines: list[bytes] = field(default_factory=list)
    models: set[str] = field(default_factory=set)
    first_at: float = 0.0
    last_at: float = 0.0
    size_bytes: int = 0
    due_at: float = 0.0
    is_retried: bool = False  # waits until it is due, however full it is


class SampleWriter(logging.Handler):
    """Write log records of sampled requests into artifacts, one for each interval.

    The message of a record is the JSON line of a sample; the record also has `model_name`. The unwritten
    records of a killed process, and most of those during a long store outage, are lost here; the file of
    `SampleLog` has them.

    Args:
        max_bytes: Limit of all sample artifacts together; the oldest are removed.
        seconds: Length of an interval.
    """

    def __init__(self, store: Store, max_bytes: int, seconds: float) -> None:
        super().__init__()
        self._store = store
        self._max_bytes = max_bytes
        self._seconds = seconds
        self._chunk = _Chunk()
        self._changed = threading.Condition()
        self._is_closing = False
        self._thread = threading.Thread(target=self._run, name="sample writer", daemon=True)

    def start(self) -> None:
        """Start the writer thread."""
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Queue a record."""
        line = record.getMessage().encode() + b"\n"
        with self._changed:
            chunk = self._chunk
            if chunk.size_bytes + len(line) > 2 * CHUNK_BYTES:
                return
            chunk.models.add(getattr(record, "model_name", ""))
            if not chunk.lines:
                chunk.first_at, chunk.due_at = record.created, record.created + self._seconds
            chunk.last_at = max(record.created, chunk.last_at)
            chunk.size_bytes += len(line)
            chunk.lines.append(line)
            if len(chunk.lines) == 1 or chunk.size_bytes >= CHUNK_BYTES:
                self._changed.notify()

    def close(self) -> None:
        """Write the queued records, and stop."""
        if self._thread.is_alive():
            with self._changed:
                self._is_closing = True
                self._changed.notify()
            self._thread.join()
        super().close()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(self._must_write, self._remaining_seconds())
                is_last = self._is_closing
                chunk = _Chunk()
                if self._must_write() or self._remaining_seconds() == 0.0:
                    chunk, self._chunk = self._chunk, chunk
            if chunk.lines and not self._write(chunk) and not is_last:
                self._requeue(chunk)
            if is_last:
                return

    def _must_write(self) -> bool:
        chunk = self._chunk
        return self._is_closing or (chunk.size_bytes >= CHUNK_BYTES and not chunk.is_retried)

    def _remaining_seconds(self) -> float | None:
        """Return the seconds until the next write; without queued records, the length of an interval."""
        if not self._chunk.lines:
            return self._seconds
        return max(0.0, self._chunk.due_at - time.time())

    def _write(self, chunk: _Chunk) -> bool:
        """Write a chunk and return whether that succeeded."""
        samples_id = new_id(SCORE_SAMPLES)
        content = gzip.compress(b"".join(chunk.lines), compresslevel=1)
        try:
            self._store.artifacts.write_bytes(samples_key(samples_id), content)
            with self._store.begin() as tx:
                tx.drift.add_samples(
                    samples_id,
                    models=sorted(chunk.models),
                    requests=len(chunk.lines),
                    sha256=hashlib.sha256(content).hexdigest(),
                    size_bytes=len(content),
                    first_at=datetime.fromtimestamp(chunk.first_at, UTC),
                    last_at=datetime.fromtimestamp(chunk.last_at, UTC),
                )
                dropped = tx.drift.expire_samples(self._max_bytes)
        except (RankeryError, OSError):
            _LOG.warning("samples.not_stored", requests=len(chunk.lines), exc_info=True)
            with contextlib.suppress(RankeryError, OSError):  # no row refers to the artifact
                self._store.artifacts.delete(samples_folder(samples_id))
            return False
        with contextlib.suppress(RankeryError, OSError):  # upkeep deletes folders that remain
            for folder in dropped:
                self._store.artifacts.delete(folder)
        return True

    def _requeue(self, chunk: _Chunk) -> None:
        """Queue an unwritten chunk again, before newer records; drop it if both together are too large."""
        with self._changed:
            newer = self._chunk
            if chunk.size_bytes + newer.size_bytes > 2 * CHUNK_BYTES:
                return
            chunk.lines += newer.lines
            chunk.models |= newer.models
            chunk.last_at = max(chunk.last_at, newer.last_at)
            chunk.size_bytes += newer.size_bytes
            chunk.due_at, chunk.is_retried = time.time() + self._seconds, True
            self._chunk = chunk
