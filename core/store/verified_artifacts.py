"""Artifacts verified against their stored checksums."""

import contextlib
import hashlib
import logging
import math
import threading
from collections import OrderedDict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from core.errors import ArtifactDamaged, DatasetError, ModelError, NotFound, StoreUnavailable
from core.store.artifacts.artifacts import Artifacts
from core.store.artifacts.checksums import file_sha256
from core.store.database import Database
from core.store.tables import ArtifactDigest

# Larger artifacts on a remote storage are read in ranges, without verifying the whole artifact.
MAX_REMOTE_BYTES = 64 * 2**20
_MAX_VERSIONS = 10_000
# Errors of the readers of our formats for invalid bytes.
_UNREADABLE = (ValueError, LookupError, OSError, DatasetError, ModelError)
_log = logging.getLogger("rankery.store")


@dataclass(frozen=True)
class _Unverified:
    """An artifact that was not compared with a stored checksum.

    Attributes:
        sha256: Computed checksum; None if the artifact was not read as a whole.
    """

    sha256: str | None
    size_bytes: int


class VerifiedArtifacts:
    """Artifacts, read with a check of their checksums. Thread-safe.

    An artifact that a release without checksums wrote gets a checksum after its first successful read. The
    mark as damaged is kept until the artifact matches its checksum again.
    """

    def __init__(self, artifacts: Artifacts, database: Database) -> None:
        self._database = database
        self._artifacts = artifacts
        self._lock = threading.Lock()
        self._seen: OrderedDict[str, tuple[str, _Unverified | None]] = OrderedDict()

    def read_bytes(self, key: str, sha256: str) -> bytes:
        """Return an artifact's bytes, verified by a given checksum.

        Raises:
            ArtifactDamaged: The artifact is missing or does not match the checksum.
        """
        with self._missing_is_damage(key, was_stored=True):
            content = self._artifacts.read_bytes(key)
        self._compare(key, self._record_of(key), sha256, hashlib.sha256(content).hexdigest(), len(content))
        return content

    @contextlib.contextmanager
    def local(self, key: str) -> Iterator[Path]:
        """Provide an artifact as a local file and verify it during the block.

        If the end of the block raises, the caller must discard the results of the block.

        Raises:
            NotFound: No such artifact was ever stored.
            ArtifactDamaged: The artifact is missing. Raised at the end of the block if the bytes do not match
                the checksum, or if there is no checksum and the block cannot parse the bytes.
        """
        row = self._record_of(key)
        with contextlib.ExitStack() as stack:
            with self._missing_is_damage(key):
                path = stack.enter_context(self._artifacts.local(key))
            checksum = stack.enter_context(ThreadPoolExecutor(1, "checksum")).submit(_sha256_of, path)
            try:
                yield path
            except _UNREADABLE:
                self._compare_or_store(key, row, checksum.result(), path.stat().st_size, is_readable=False)
                raise
            self._compare_or_store(key, row, checksum.result(), path.stat().st_size, is_readable=True)

    @contextlib.contextmanager
    def open(self, key: str) -> Iterator[BinaryIO]:
        """Open an artifact for random access, verified once per version and process; see `check`.

        Raises:
            NotFound: No such artifact was ever stored.
            ArtifactDamaged: The artifact is missing or does not match its checksum. Also if the bytes were
                not compared with a checksum, and the block cannot parse them.
        """
        unverified = self._compare_once(key)
        with self._artifacts.open(key) as file:
            try:
                yield file
            except _UNREADABLE as error:
                if unverified is None:
                    raise  # the bytes match their checksum
                raise self._damaged(key, None, "cannot be read") from error
        if unverified is not None and unverified.sha256 is not None:
            self._store_checksum(key, unverified.sha256, unverified.size_bytes)
            self._forget(key)

    def check(self, key: str, *, again: bool = False) -> bool:
        """Verify an artifact once per version and process.

        Args:
            again: Whether to verify it even if it was verified before.

        Returns:
            True if it matches its checksum. False if it was not compared: it has no stored checksum, or it is
            a large artifact of a remote storage and `again` is False.

        Raises:
            NotFound: No such artifact was ever stored.
            ArtifactDamaged: The artifact is missing or does not match its checksum.
        """
        if again:
            with self._missing_is_damage(key):
                version, unverified = self._artifacts.version(key), self._compare_now(key, math.inf)
            self._remember(key, version, unverified)
            return unverified is None
        return self._compare_once(key) is None

    def _compare_once(self, key: str) -> _Unverified | None:
        """Verify an artifact, once per version; return None if it matches its checksum.

        Large artifacts on a remote storage are not verified here: object stores verify their own bytes, and
        `local` verifies the whole artifact.
        """
        with self._missing_is_damage(key):
            version = self._artifacts.version(key)
        seen_version, unverified = self._seen.get(key, (None, None))
        if seen_version != version:
            unverified = self._compare_now(key, MAX_REMOTE_BYTES)
            self._remember(key, version, unverified)
        return unverified

    def _compare_now(self, key: str, max_remote_bytes: float) -> _Unverified | None:
        row, size_bytes = self._record_of(key), self._artifacts.size(key)
        if not self._artifacts.is_local and size_bytes > max_remote_bytes:
            return _Unverified(None, size_bytes)
        with self._artifacts.open(key) as file:
            sha256 = file_sha256(file)
        if row is None or row.sha256 is None:
            return _Unverified(sha256, size_bytes)
        self._compare(key, row, row.sha256, sha256, size_bytes)
        return None

    def _compare_or_store(
        self, key: str, row: ArtifactDigest | None, sha256: str, size_bytes: int, *, is_readable: bool
    ) -> None:
        """Compare a computed checksum with the stored one; store it if none is stored."""
        if row is not None and row.sha256 is not None:
            self._compare(key, row, row.sha256, sha256, size_bytes)
        elif is_readable:
            self._store_checksum(key, sha256, size_bytes)
        else:
            raise self._damaged(key, row, "cannot be read")

    def _compare(
        self, key: str, row: ArtifactDigest | None, expected: str, actual: str, size_bytes: int
    ) -> None:
        if actual != expected:
            detail = f"its SHA-256 is {actual[:12]}…, but {expected[:12]}… was written"
            raise self._damaged(key, row, detail)
        if row is None or row.damaged_at is not None:
            self._store_checksum(key, expected, size_bytes)

    def _record_of(self, key: str) -> ArtifactDigest | None:
        with self._database.read() as tx:
            return tx.artifacts.find(key)

    def _store_checksum(self, key: str, sha256: str, size_bytes: int) -> None:
        """Store the checksum of an intact artifact; ignore a failure of the database."""
        try:
            with self._database.begin() as tx:
                tx.artifacts.record_checksum(key, sha256, size_bytes)
        except StoreUnavailable:
            _log.warning("the checksum of %s could not be stored", key, exc_info=True)

    def _damaged(self, key: str, row: ArtifactDigest | None, detail: str) -> ArtifactDamaged:
        if row is None or row.damaged_at is None:
            _log.error("the stored artifact %s is damaged: %s", key, detail)
            try:
                with self._database.begin() as tx:
                    tx.artifacts.mark_damaged(key)
            except StoreUnavailable:
                _log.warning("the damage of %s could not be recorded", key, exc_info=True)
        return ArtifactDamaged(key, detail)

    @contextlib.contextmanager
    def _missing_is_damage(self, key: str, *, was_stored: bool = False) -> Iterator[None]:
        try:
            yield
        except NotFound as error:
            row = self._record_of(key)
            if row is None and not was_stored:
                raise  # never stored, or deleted meanwhile
            raise self._damaged(key, row, "it is missing") from error

    def _forget(self, key: str) -> None:
        with self._lock:
            self._seen.pop(key, None)

    def _remember(self, key: str, version: str, unverified: _Unverified | None) -> None:
        with self._lock:
            self._seen[key] = version, unverified
            if len(self._seen) > _MAX_VERSIONS:
                self._seen.popitem(last=False)


def _sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return file_sha256(file)
