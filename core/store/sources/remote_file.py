"""The interface of files at URLs."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from core.store.sources.source_urls import SourceUrl


class DownloadInterrupted(Exception):
    """The server is busy, or the connection was lost; another request may resume the download."""


@dataclass(frozen=True)
class FileVersion:
    """A version of a file.

    Attributes:
        size_bytes: Its size, None where the server does not declare it.
        last_modified: Time of the last change, as text.
        generation: The generation of an object of Google Cloud Storage.
        revision: The hash of the content in a repository of the Hugging Face Hub.
    """

    size_bytes: int | None
    etag: str | None = None
    last_modified: str | None = None
    generation: str | None = None
    revision: str | None = None

    @property
    def is_certain(self) -> bool:
        """Whether equal versions have equal bytes, so that a download may resume."""
        strong = self.etag is not None and not self.etag.startswith("W/")
        return strong or any((self.last_modified, self.generation, self.revision))

    def to_json(self) -> dict[str, str | int]:
        """Return the known fields."""
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class ByteStream:
    """The bytes of a file from a position on.

    Attributes:
        start: Position of the first byte: the requested one, or 0 where the file is read from its start.
    """

    version: FileVersion
    start: int
    blocks: Iterator[bytes]


class RemoteFile(Protocol):
    """A file at a URL."""

    @property
    def url(self) -> SourceUrl:
        """The URL of the file."""
        ...

    def read(self, start: int, version: FileVersion | None) -> AbstractContextManager[ByteStream]:
        """Open the file to read it.

        Args:
            start: Position to resume at if the version is unchanged; otherwise the file is read from 0.
            version: Version of the bytes before `start`.

        Raises:
            DownloadInterrupted: The server does not answer now; also while the bytes are read.
            DatasetError: There is no such file, or it is not readable.
            InvalidInput: The server redirects to a URL that is not allowed.
            AddressRefused: The host is in a network that is not allowed.
        """
        ...
