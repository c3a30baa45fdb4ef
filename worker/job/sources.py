"""Sources of datasets: uploads and synthetic data."""

import contextlib
from collections.abc import Callable
from typing import Any, Protocol

from core.data import synthetic_dataset
from core.data.options import Limits, ReadingOptions, reading_options
from core.data.reading import JudgedFile, read_file
from core.data.result import Reading
from core.store import Dataset
from core.store.artifacts.artifacts import Artifacts
from core.store.artifacts.checksums import file_sha256
from core.store.artifacts.keys import query_sizes_key, upload_key
from worker.job.digests import synthetic_digest, upload_digest


class DatasetSource(Protocol):
    """A source from which a dataset is read."""

    def digest(self) -> str:
        """Return the digest that determines the content."""
        ...

    def read(self, limits: Limits, threads: int, on_progress: Callable[[int, int], None]) -> Reading:
        """Read or generate the dataset.

        Args:
            limits: How large it may become.
            threads: Threads to use.
            on_progress: Told the bytes read and those in all; what it raises ends the reading.

        Raises:
            DatasetError: With the line and column of what cannot be understood.
        """
        ...


def source_of(row: Dataset, artifacts: Artifacts) -> DatasetSource:
    """Return the source of a stored dataset."""
    return Synthetic(row.source) if row.source["kind"] == "synthetic" else Upload(row, artifacts)


class Synthetic:
    """A synthetic dataset."""

    def __init__(self, source: dict[str, Any]) -> None:
        self._source = source

    def digest(self) -> str:
        """Return the digest that determines the content."""
        return synthetic_digest(self._source)

    def read(self, limits: Limits, threads: int, on_progress: Callable[[int, int], None]) -> Reading:
        """Generate the dataset."""
        source = self._source
        return Reading(
            synthetic_dataset(source["queries"], source["seed"], source["polynomial_seed"]), "synthetic"
        )


class Upload:
    """An uploaded file, with an optional file of query sizes."""

    def __init__(self, row: Dataset, artifacts: Artifacts) -> None:
        self._key = upload_key(row.id)
        self._name: str = row.source.get("filename") or "the file"
        self._sizes_key = query_sizes_key(row.id)
        self._sizes_name: str | None = row.source.get("query_sizes_filename")
        self._sha256 = row.sha256
        self._options = _options(row.source)
        self._artifacts = artifacts

    def digest(self) -> str:
        """Return the digest that determines the content."""
        sizes_sha256 = None if self._sizes_name is None else self._checksum(self._sizes_key)
        return upload_digest(self._sha256 or self._checksum(self._key), sizes_sha256, self._options)

    def read(self, limits: Limits, threads: int, on_progress: Callable[[int, int], None]) -> Reading:
        """Read the dataset."""
        with contextlib.ExitStack() as stack:
            path = stack.enter_context(self._artifacts.local(self._key))
            sizes = None
            if self._sizes_name is not None:
                sizes = stack.enter_context(self._artifacts.local(self._sizes_key))
            file = JudgedFile(path, self._name, sizes, self._sizes_name)
            return read_file(file, self._options, limits, threads=threads, on_progress=on_progress)

    def _checksum(self, key: str) -> str:
        with self._artifacts.open(key) as file:
            return file_sha256(file)


def _options(source: dict[str, Any]) -> ReadingOptions:
    return reading_options({**(source.get("options") or {}), "format": source.get("format") or "auto"})
