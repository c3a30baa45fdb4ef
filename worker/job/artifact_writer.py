"""Write the artifacts of a job's result, and delete those that the job no longer needs."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import BinaryIO, cast

import structlog

from core.errors import RankeryError
from core.store import Transaction
from core.store.artifacts.artifacts import Artifacts
from core.store.artifacts.checksums import ChecksummedFile
from core.store.artifacts.keys import data_folder

_LOG = structlog.stdlib.get_logger(__name__)


class ArtifactWriter:
    """Artifacts that one job writes, and those to delete when it ends."""

    def __init__(self, artifacts: Artifacts, job_id: str) -> None:
        self._artifacts = artifacts
        self._job_id = job_id
        self._keys: list[str] = []
        self._checksums: dict[str, ChecksummedFile] = {}
        self._deleted_on_end: list[str] = []

    @contextmanager
    def writing(self, key: str) -> Iterator[BinaryIO]:
        """Open an artifact for writing; artifact and checksum are kept only if the job succeeds."""
        self._keys.append(key)
        with self._artifacts.writing(key) as file:
            checksummed = ChecksummedFile(file)
            yield cast("BinaryIO", checksummed)
        self._checksums[key] = checksummed

    def record_checksums(self, tx: Transaction) -> None:
        """Record the checksums of the written artifacts."""
        for key, written in self._checksums.items():
            tx.artifacts.record_checksum(key, written.sha256, written.size_bytes)

    def commit(self) -> None:
        """Keep the written artifacts of a job that has succeeded."""
        self._keys.clear()
        self.delete_registered()

    @property
    def uncommitted(self) -> tuple[str, ...]:
        """The keys of the written artifacts, until `commit`."""
        return tuple(self._keys)

    def discard(self, kept: Collection[str] = ()) -> None:
        """Remove the artifact folders of a job that has not succeeded, except folders with a kept key."""
        kept_folders = set(map(data_folder, kept))
        while self._keys:
            folder = data_folder(self._keys.pop())
            if folder not in kept_folders:
                self.remove(folder)

    def delete_on_end(self, key: str) -> None:
        """Register artifacts to delete when the job ends; a requeued job keeps them."""
        self._deleted_on_end.append(key)

    def retain(self, key: str) -> None:
        """Deregister artifacts that `delete_on_end` registered."""
        self._deleted_on_end.remove(key)

    def delete_registered(self) -> None:
        """Remove the artifacts that `delete_on_end` registered."""
        while self._deleted_on_end:
            self.remove(self._deleted_on_end.pop())

    def remove(self, key: str) -> None:
        """Remove artifacts; log those that cannot be removed."""
        try:
            self._artifacts.delete(key)
        except RankeryError:
            _LOG.warning("job.artifact_orphaned", job_id=self._job_id, path=key, exc_info=True)
