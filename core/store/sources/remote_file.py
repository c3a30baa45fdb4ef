"""What all files at addresses have in common."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from core.store.sources.addresses import Address


class DownloadInterrupted(Exception):
    """The server is busy, or the connection was lost; another request may go on from there."""


@dataclass(frozen=True)
class FileVersion:
    """A version of a file.

    Attributes:
        size_bytes: Its size, None where the server does not declare it.
        etag: The entity tag.
        last_modified: Time of the last change, as the server writes it.
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
        """Whether the same version means the same bytes, so that a download may go on where it ended."""
        strong = self.etag is not None and not self.etag.startswith("W/")
        return strong or any((self.last_modified, self.generation, self.revision))

    def as_json(self) -> dict[str, str | int]:
        """Return what is known."""
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass(frozen=True)
class ByteStream:
    """The bytes of a file from some position on.

    Attributes:
        version: That is read.
        start: Position of the first byte: the one asked for, or 0 where the file is read anew.
        blocks: The bytes.
    """

    version: FileVersion
    start: int
    blocks: Iterator[bytes]


class RemoteFile(Protocol):
    """A file at an address."""

    @property
    def address(self) -> Address:
        """Where it is."""
        ...

    def read(self, start: int, version: FileVersion | None) -> AbstractContextManager[ByteStream]:
        """Open the file to read it.

        Args:
            start: Where to go on, if the file is still of the version; otherwise it is read from its start.
            version: Of the bytes before.

        Raises:
            DownloadInterrupted: The server does not answer now; also while the bytes are read.
            DatasetError: There is no such file, or it may not be read.
            InvalidInput: The server redirects to an address that is not allowed.
            AddressRefused: The host is of a network that may not be connected to.
        """
        ...
